#include "runtime/daemon/cluster_addresses.h"

#include <boost/asio/ip/udp.hpp>
#include <memory>
#include <optional>
#include <thread>

#include "runtime/daemon/settings_loader.h"

namespace fibocast {
namespace {

using boost::asio::ip::udp;

// Prefers IPv4, which every container network has.
std::optional<NodeAddress> choose(const udp::resolver::results_type& found, std::uint16_t port) {
  for (const auto& entry : found)
    if (entry.endpoint().address().is_v4()) return NodeAddress{entry.endpoint().address(), port};
  if (found.empty()) return {};
  return NodeAddress{found.begin()->endpoint().address(), port};
}

std::optional<NodeAddress> resolve(boost::asio::io_context& io, const HostPort& name, std::string& why) {
  boost::system::error_code error;
  udp::resolver resolver(io);
  const auto found = resolver.resolve(name.host, std::to_string(name.port), udp::resolver::numeric_service, error);
  why = error ? error.message() : "it has no address";
  return error ? std::nullopt : choose(found, name.port);
}

}  // namespace

void look_up_node(boost::asio::io_context& io, const std::string& node,
                  std::function<void(std::optional<NodeAddress>)> found) {
  const HostPort name = *parse_host_port(node);
  const auto resolver = std::make_shared<udp::resolver>(io);
  resolver->async_resolve(name.host, std::to_string(name.port), udp::resolver::numeric_service,
                          [resolver, port = name.port, found = std::move(found)](
                              const boost::system::error_code& error, const udp::resolver::results_type& results) {
                            found(error ? std::nullopt : choose(results, port));
                          });
}

NodeAddress resolve_address(boost::asio::io_context& io, const std::string& key, const std::string& text) {
  std::string why;
  if (const auto address = resolve(io, *parse_host_port(text), why)) return *address;
  throw SettingsError(key + ": '" + text + "' cannot be found (" + why + "); give a host that resolves");
}

std::vector<NodeAddress> resolve_nodes(boost::asio::io_context& io, const std::vector<std::string>& nodes,
                                       std::chrono::seconds patience,
                                       const std::function<void(const std::string&)>& on_wait) {
  const auto until = std::chrono::steady_clock::now() + patience;
  std::vector<NodeAddress> addresses;
  for (const std::string& node : nodes) {
    std::string why;
    auto address = resolve(io, *parse_host_port(node), why);
    if (!address) on_wait("waiting for the name '" + node + "' of cluster.nodes (" + why + ")");
    while (!address && std::chrono::steady_clock::now() < until) {
      std::this_thread::sleep_for(std::chrono::milliseconds(250));
      address = resolve(io, *parse_host_port(node), why);
    }
    if (!address)
      throw SettingsError("cluster.nodes: '" + node + "' cannot be found (" + why + "); start it or correct the name");
    addresses.push_back(*address);
  }
  return addresses;
}

}  // namespace fibocast
