// Chooses and builds the transport that the settings ask for.
#pragma once

#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>
#include <vector>

#include "runtime/daemon/cluster_addresses.h"
#include "runtime/daemon/security.h"
#include "runtime/daemon/settings.h"
#include "runtime/wire/client.pb.h"
#include "transport/local_transport.h"
#include "transport/transport.h"
#include "transport/transport_counters.h"

namespace fibocast {

// The sockets; before them, in tests, a transport that loses datagrams on purpose; before that sealing; before all,
// memory that nodes of one host share.
struct ClusterTransport {
  std::unique_ptr<Transport> sockets;
  std::unique_ptr<Transport> faulty;          // null without [faults]
  std::unique_ptr<SealingTransport> sealing;  // null without a key
  std::unique_ptr<LocalTransport> local;      // null unless nodes share memory
  std::uint64_t incarnation = 0;              // of the node that is to use it
  std::function<const TransportCounters&()> counters;
  std::function<void(NodeId peer, const NodeAddress&)> move_peer;  // it has another address from now on
  Transport& top() {
    if (local) return *local;
    if (sealing) return *sealing;
    return faulty ? *faulty : *sockets;
  }
};

// Takes the port, or a copy of the UDP socket that has it already. Throws SettingsError with one sentence when the port
// is in use. `io` outlives the transport. Without keys nothing is sealed. `warn` hears why datagrams are refused.
ClusterTransport make_transport(boost::asio::io_context& io, const Settings& settings,
                                const std::vector<NodeAddress>& nodes, std::optional<KeyRing> keys,
                                RefusalLog::Say warn, int bound_socket = -1);
// "transport_...": what a transport counts.
void add_transport_counters(const TransportCounters& counters, client::NodeStatus& status);
// "local_...": what went through shared memory.
void add_local_counters(const LocalTransport& local, client::NodeStatus& status);

}  // namespace fibocast
