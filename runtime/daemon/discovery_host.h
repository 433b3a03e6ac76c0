// Gives Discovery its socket, its name and its folder; and the first phase of a daemon, which ends with a rank.
#pragma once

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/udp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "runtime/daemon/discovery.h"
#include "runtime/daemon/discovery_seal.h"
#include "runtime/daemon/discovery_store.h"
#include "runtime/daemon/log.h"
#include "runtime/daemon/settings.h"

namespace fibocast {

class DiscoveryHost {
 public:
  struct Handlers {
    std::function<bool(NodeId)> is_connected;
    std::function<void(NodeId, const NodeAddress&)> on_moved;
    std::function<void()> on_replaced;  // this daemon must end
    std::function<void()> on_tick;
    std::function<void(const std::string& sentence)> on_complaint;  // about a datagram; at most one a minute
  };
  // Takes the discovery port on the address of node.listen. Throws SettingsError. `io` and `store` outlive this; one
  // thread, that of `io`. Without `was_member` it looks for a rank.
  DiscoveryHost(boost::asio::io_context& io, const Settings& settings, DiscoveryStore& store, bool was_member,
                Handlers handlers);
  void start();
  void stop();
  // Other keys from now on. Precondition: it has some.
  void set_keys(KeyRing keys) { seal_->set_keys(std::move(keys)); }
  const Discovery& discovery() const { return discovery_; }

 private:
  void receive();
  void take(std::string_view datagram);
  void tick();
  void wait();
  void look_up();
  void send(const Discovery::Address& to, const DiscoveryMessage& message);

  std::string cluster_;  // its name
  std::string name_;
  std::uint16_t port_;
  DiscoveryStore& store_;
  Handlers handlers_;
  boost::asio::ip::udp::socket socket_;
  boost::asio::ip::udp::resolver resolver_;
  boost::asio::steady_timer timer_;
  std::optional<DiscoverySeal> seal_;  // none: without a key all is plain
  std::chrono::steady_clock::time_point complained_at_{};
  bool looking_up_ = false, stopped_ = false;
  Discovery discovery_;
  boost::asio::ip::udp::endpoint from_;
  std::array<char, 65536> datagram_{};
};

// Blocks until this daemon has its rank; says on the log what it waits for. Then `settings` have rank and list,
// complete. Throws SettingsError.
void discover(Settings& settings, DiscoveryStore& store);

}  // namespace fibocast
