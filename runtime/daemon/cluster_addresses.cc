#include "runtime/daemon/cluster_addresses.h"

#include <boost/asio/ip/udp.hpp>
#include <optional>
#include <thread>

#include "runtime/daemon/settings_loader.h"

namespace fibocast {
namespace {

using boost::asio::ip::udp;

// Prefers IPv4, which every container network has.
std::optional<NodeAddress> resolve(boost::asio::io_context& io, const HostPort& name, std::string& why) {
  boost::system::error_code error;
  udp::resolver resolver(io);
  const auto found = resolver.resolve(name.host, std::to_string(name.port), udp::resolver::numeric_service, error);
  why = error ? error.message() : "it has no address";
  if (error || found.empty()) return {};
  for (const auto& entry : found)
    if (entry.endpoint().address().is_v4()) return NodeAddress{entry.endpoint().address(), name.port};
  return NodeAddress{found.begin()->endpoint().address(), name.port};
}

}  // namespace

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
