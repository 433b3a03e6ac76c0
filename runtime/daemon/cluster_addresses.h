// From the texts of cluster.nodes to addresses: at the start, and again (address_watch.h). In a cluster of containers
// the names of the others may not exist yet: a name that cannot be found is tried again for a while.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/address.hpp>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace fibocast {

struct NodeAddress {
  boost::asio::ip::address address;
  std::uint16_t port = 0;
};

// Blocks. `on_wait` hears once about each name that has to be waited for. Throws SettingsError when one still cannot
// be found after `patience`. Precondition: every text is a host and a port (complete_settings() has looked).
std::vector<NodeAddress> resolve_nodes(boost::asio::io_context& io, const std::vector<std::string>& nodes,
                                       std::chrono::seconds patience,
                                       const std::function<void(const std::string&)>& on_wait);
// Does not block: `found` is called later, in the thread of `io`, with nothing if the name is not known just now.
void look_up_node(boost::asio::io_context& io, const std::string& node,
                  std::function<void(std::optional<NodeAddress>)> found);
// One address to listen on: at once or not at all. `key` for the sentence.
NodeAddress resolve_address(boost::asio::io_context& io, const std::string& key, const std::string& text);

}  // namespace fibocast
