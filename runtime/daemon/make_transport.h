// Chooses and builds the transport that the settings ask for.
#pragma once

#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>
#include <vector>

#include "runtime/daemon/cluster_addresses.h"
#include "runtime/daemon/settings.h"
#include "runtime/wire/client.pb.h"
#include "transport/transport.h"
#include "transport/transport_counters.h"

namespace fibocast {

// The sockets, and before them, in tests, a transport that loses frames on purpose.
struct ClusterTransport {
  std::unique_ptr<Transport> sockets;
  std::unique_ptr<Transport> faulty;  // null without [faults]
  std::function<const TransportCounters&()> counters;
  std::function<void(NodeId peer, const NodeAddress&)> move_peer;  // it has another address from now on
  Transport& top() { return faulty ? *faulty : *sockets; }
};

// Takes the port. Throws SettingsError with one sentence when it is in use. `io` outlives the transport.
ClusterTransport make_transport(boost::asio::io_context& io, const Settings& settings,
                                const std::vector<NodeAddress>& nodes);
// "transport_...": what a transport counts.
void add_transport_counters(const TransportCounters& counters, client::NodeStatus& status);

}  // namespace fibocast
