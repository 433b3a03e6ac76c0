// While one lives, this process can open and accept nothing: as a process that has as much open as it may.
#pragma once

#include <sys/resource.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

namespace fibocast {

class NoDescriptors {
 public:
  NoDescriptors() {
    rehearse();
    getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit none{0, before_.rlim_max};
    setrlimit(RLIMIT_NOFILE, &none);
  }
  ~NoDescriptors() { setrlimit(RLIMIT_NOFILE, &before_); }
  NoDescriptors(const NoDescriptors&) = delete;
  NoDescriptors& operator=(const NoDescriptors&) = delete;

 private:
  // The sanitizers need a pipe when they see an object of a type for the first time.
  static void rehearse() {
    boost::asio::io_context io;
    boost::asio::steady_timer timer(io, std::chrono::seconds(0));
    timer.async_wait([](const boost::system::error_code&) {});
    io.run();
  }

  rlimit before_{};
};

// Whether nothing is ready any more after some handlers: who tries the same again and again never rests.
inline bool comes_to_rest(boost::asio::io_context& io) {
  for (int handlers = 0; handlers < 100; ++handlers)
    if (io.poll_one() == 0) return true;
  return false;
}

}  // namespace fibocast
