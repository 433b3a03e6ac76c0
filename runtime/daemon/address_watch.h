// Looks up the names of cluster.nodes again while their daemons are not connected: a container that comes back may have
// another address. One name at a time, in turn.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "collectives/types.h"
#include "runtime/daemon/cluster_addresses.h"

namespace fibocast {

class AddressWatch {
 public:
  using Found = std::function<void(std::optional<NodeAddress>)>;
  struct Handlers {
    // Answers later, in the thread of `io`; nothing: the name is not known just now.
    std::function<void(const std::string& node, Found found)> look_up;
    std::function<bool(NodeId)> is_connected;
    std::function<void(NodeId, const NodeAddress&)> on_moved;
  };
  static constexpr std::chrono::milliseconds kInterval{1000};  // between two names

  // `nodes`: the texts of cluster.nodes, and what they stood for at the start. Addresses in numbers are not looked up.
  AddressWatch(boost::asio::io_context& io, NodeId self, const std::vector<std::string>& nodes,
               const std::vector<NodeAddress>& addresses, Handlers handlers,
               std::chrono::milliseconds interval = kInterval);
  // Until stop(); no timer if there are only numbers. One thread: that of `io`.
  void start();
  // A node was added to the list: it has no address yet. on_moved() tells it, at once if it is in numbers.
  void add(NodeId node, const std::string& text);
  void stop();

 private:
  struct Watched {
    NodeId node = 0;
    std::string text;
    NodeAddress address;
  };
  void wait();
  void look_at_next();
  void on_found(std::size_t index, const std::optional<NodeAddress>& address);

  std::vector<Watched> watched_;
  std::size_t next_ = 0;
  Handlers handlers_;
  std::chrono::milliseconds interval_;
  boost::asio::steady_timer timer_;
  bool started_ = false, stopped_ = false;
};

}  // namespace fibocast
