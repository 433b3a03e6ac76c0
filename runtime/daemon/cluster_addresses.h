// From the texts of cluster.nodes to addresses, once, at the start. In a cluster of containers the names of the
// others may not exist yet: a name that cannot be found is tried again for a while.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/address.hpp>
#include <chrono>
#include <functional>
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
// One address to listen on: at once or not at all. `key` for the sentence.
NodeAddress resolve_address(boost::asio::io_context& io, const std::string& key, const std::string& text);

}  // namespace fibocast
