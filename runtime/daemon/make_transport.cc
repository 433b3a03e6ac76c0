#include "runtime/daemon/make_transport.h"

#include <sodium.h>
#include <sys/random.h>

#include <system_error>
#include <utility>

#include "runtime/daemon/local_path.h"
#include "runtime/daemon/settings_loader.h"
#include "transport/faulty_transport.h"
#include "transport/tcp_transport.h"
#include "transport/udp_transport.h"

namespace fibocast {
namespace {

// UdpTransport and TcpTransport are made alike.
template <class Sockets, class SocketSettings>
ClusterTransport make_sockets(boost::asio::io_context& io, NodeId self, const SocketSettings& settings,
                              const std::vector<NodeAddress>& nodes) {
  auto sockets = std::make_unique<Sockets>(io, settings);
  for (NodeId peer = 0; peer < nodes.size(); ++peer)
    if (peer != self) sockets->set_peer(peer, {nodes[peer].address, nodes[peer].port});
  ClusterTransport transport;
  transport.counters = [raw = sockets.get()]() -> const TransportCounters& { return raw->counters(); };
  transport.move_peer = [raw = sockets.get()](NodeId peer, const NodeAddress& to) {
    raw->set_peer(peer, {to.address, to.port});
  };
  transport.sockets = std::move(sockets);
  return transport;
}

// A cluster's own, so that clusters of one host do not wake each other. Ports above those that the system gives to who
// asks for any.
std::optional<FanOut::Settings> fan_out_settings(const Settings& settings, const std::vector<NodeAddress>& nodes) {
  const NodeAddress& first = nodes.front();
  if (!fans_out(settings) || !first.address.is_v4()) return std::nullopt;
  const std::string text = settings.cluster.name + '\0' + std::to_string(first.port);
  unsigned char hash[crypto_generichash_BYTES_MIN];
  crypto_generichash(hash, sizeof hash, reinterpret_cast<const unsigned char*>(text.data()), text.size(), nullptr, 0);
  static_assert(kMostFanOutGroups <= 64);
  const boost::asio::ip::address_v4 group({239, 255, hash[0], static_cast<unsigned char>(hash[1] & 0xc0)});
  const auto port = static_cast<unsigned short>(61'000 + (hash[2] << 8 | hash[3]) % 4'000);
  return FanOut::Settings{.group = {group, port}, .self = settings.node.rank};
}

FaultSettings fault_settings(const Settings::FaultsSection& faults) {
  FaultSettings out;
  out.loss = faults.loss_percent / 100;
  out.duplicates = faults.duplicate_percent / 100;
  out.reordered = faults.reorder_percent / 100;
  return out;
}

std::uint64_t random_incarnation() {
  std::uint64_t bytes = 0;
  if (getrandom(&bytes, sizeof bytes, 0) != sizeof bytes) bytes = static_cast<std::uint64_t>(monotonic_now());
  return bytes | 1;  // never 0, in its low half neither
}

std::unique_ptr<SealingTransport> make_sealing(Transport& inner, const Settings& settings, KeyRing keys,
                                               std::uint64_t incarnation, RefusalLog::Say warn) {
  SealSettings seal;
  seal.self = settings.node.rank;
  seal.nodes = static_cast<std::uint32_t>(settings.cluster.nodes.size());
  seal.incarnation = incarnation;
  seal.cluster = settings.cluster.name;
  seal.mode = settings.security.mode == SecurityMode::kIntegrity ? SealMode::kIntegrity : SealMode::kSealed;
  const auto log = std::make_shared<RefusalLog>(settings.security.mode, std::move(warn));
  return std::make_unique<SealingTransport>(inner, seal, std::move(keys),
                                            [log](Sealer::Refusal why, NodeId claimed, KeyId key, const KeyRing& ring) {
                                              log->on_refused(why, claimed, key, ring);
                                            });
}

void add_local_path(boost::asio::io_context& io, const Settings& settings, const std::vector<NodeAddress>& nodes,
                    const RefusalLog::Say& warn, ClusterTransport& transport) {
  const KeyRing* keys = transport.sealing ? &transport.sealing->sealer().keys() : nullptr;
  LocalPath path = make_local_path(io, transport.top(), settings, nodes, keys, transport.incarnation, warn);
  if (!path.transport) return;
  transport.local = std::move(path.transport);
  transport.move_peer = [sockets = std::move(transport.move_peer), memory = std::move(path.move_peer)](
                            NodeId peer, const NodeAddress& to) { sockets(peer, to), memory(peer, to); };
}

}  // namespace

ClusterTransport make_transport(boost::asio::io_context& io, const Settings& settings,
                                const std::vector<NodeAddress>& nodes, std::optional<KeyRing> keys,
                                RefusalLog::Say warn, int bound_socket) try {
  const auto [address, port] = resolve_address(io, "node.listen", settings.node.listen);
  TcpSettings tcp;
  tcp.listen = {address, port};
  UdpSettings udp;
  udp.listen = {address, port};
  udp.socket = bound_socket;
  udp.fan_out = fan_out_settings(settings, nodes);
  ClusterTransport transport = settings.cluster.transport == TransportKind::kTcp
                                   ? make_sockets<TcpTransport>(io, settings.node.rank, tcp, nodes)
                                   : make_sockets<UdpTransport>(io, settings.node.rank, udp, nodes);
  if (settings.faults.any())
    transport.faulty = std::make_unique<FaultyTransport>(io, *transport.sockets, fault_settings(settings.faults),
                                                         static_cast<std::uint32_t>(settings.faults.seed));
  transport.incarnation = random_incarnation();
  if (keys) transport.sealing = make_sealing(transport.top(), settings, std::move(*keys), transport.incarnation, warn);
  add_local_path(io, settings, nodes, warn, transport);
  return transport;
} catch (const std::system_error& error) {
  throw SettingsError(std::string("node.listen: ") + error.what() +
                      "; stop what uses it or give another address, as --listen");
}

void add_transport_counters(const TransportCounters& counters, client::NodeStatus& status) {
  auto& out = *status.mutable_counters();
  out["transport_frames_sent"] = counters.frames_sent;
  out["transport_bytes_sent"] = counters.bytes_sent;
  out["transport_frames_received"] = counters.frames_received;
  out["transport_bytes_received"] = counters.bytes_received;
  out["transport_fan_outs"] = counters.fan_outs;
  out["transport_pairs"] = counters.pairs;
  out["transport_send_errors"] = counters.send_errors;
  out["transport_queue_drops"] = counters.queue_drops;
  out["transport_kernel_drops"] = counters.kernel_drops;
  out["transport_refused"] = counters.refused;
  out["transport_malformed"] = counters.malformed;
  out["transport_resets"] = counters.resets;
  out["transport_accepted"] = counters.accepted;
  out["transport_turned_away"] = counters.turned_away;
}

void add_local_counters(const LocalTransport& local, client::NodeStatus& status) {
  const TransportCounters& counters = local.counters();
  auto& out = *status.mutable_counters();
  out["local_peers"] = local.peers_sharing();
  out["local_frames_sent"] = counters.frames_sent;
  out["local_bytes_sent"] = counters.bytes_sent;
  out["local_frames_received"] = counters.frames_received;
  out["local_bytes_received"] = counters.bytes_received;
  out["local_queue_drops"] = counters.queue_drops;
  out["local_malformed"] = counters.malformed;
  out["local_resets"] = counters.resets;
  out["local_bells"] = local.bells();
}

}  // namespace fibocast
