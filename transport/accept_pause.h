// The pause of who accepts connections after one could not be accepted: out of descriptors, say, trying again at once
// would fail again at once, for ever.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <utility>

namespace fibocast {

class AcceptPause {
 public:
  static constexpr std::chrono::milliseconds kTime{100};

  explicit AcceptPause(boost::asio::io_context& io) : timer_(io) {}
  // `accept` looks whether anybody accepts still.
  template <class Accept>
  void begin(Accept accept) {
    timer_.expires_after(kTime);
    timer_.async_wait([accept = std::move(accept)](const boost::system::error_code& cancelled) {
      if (!cancelled) accept();
    });
  }
  void cancel() { timer_.cancel(); }

 private:
  boost::asio::steady_timer timer_;
};

}  // namespace fibocast
