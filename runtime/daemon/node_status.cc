#include "runtime/daemon/node_status.h"

#include <unistd.h>

#include <algorithm>

#include "runtime/daemon/group_messages.h"
#include "runtime/node/failure_detector.h"

namespace fibocast {
namespace {

const char* state_name(ChannelState state) {
  switch (state) {
    case ChannelState::kConnected: return "connected";
    case ChannelState::kConnecting: return "connecting";
    case ChannelState::kRefused: return "refused";
    case ChannelState::kClosed: break;
  }
  return "closed";
}

void fill_peer(const Node& node, NodeId peer, const std::string& address, client::PeerStatus& out) {
  out.set_rank(peer);
  out.set_address(address);
  out.set_state(node.peer_belief(peer) == Belief::kLost ? "lost" : state_name(node.peer_state(peer)));
  out.set_round_trip_ns(node.peer_round_trip(peer));
  const ChannelCounters* counters = node.peer_counters(peer);
  if (!counters) return;
  out.set_frames_sent(counters->frames_sent);
  out.set_frames_received(counters->frames_received);
  out.set_resends(counters->resends);
  out.set_bare_acks(counters->bare_acks);
  out.set_duplicates(counters->duplicates);
  out.set_restarts(counters->restarts);
}

void add_channel_counters(const Node& node, std::uint32_t nodes, client::NodeStatus& status) {
  auto& out = *status.mutable_counters();
  for (NodeId peer = 0; peer < nodes; ++peer) {
    const ChannelCounters* counters = node.peer_counters(peer);
    if (!counters) continue;
    out["channel_frames_sent"] += counters->frames_sent;
    out["channel_frames_received"] += counters->frames_received;
    out["channel_resends"] += counters->resends;
    out["channel_bare_acks"] += counters->bare_acks;
    out["channel_duplicates"] += counters->duplicates;
    out["channel_reordered_dropped"] += counters->reordered_dropped;
    out["channel_stale_session"] += counters->stale_session;
    out["channel_malformed"] += counters->malformed;
    out["channel_restarts"] += counters->restarts;
  }
}

void add_node_counters(const NodeCounters& counters, client::NodeStatus& status) {
  auto& out = *status.mutable_counters();
  out["node_malformed"] = counters.malformed;
  out["node_not_understood"] = counters.not_understood;
  out["node_unknown_group"] = counters.unknown_group;
  out["node_stale"] = counters.stale;
  out["node_early"] = counters.early;
  out["node_duplicate"] = counters.duplicate;
  out["node_future"] = counters.future;
  out["node_mismatch"] = counters.mismatch;
  out["node_bad_trees"] = counters.bad_trees;
  out["node_channels_full"] = counters.channels_full;
  out["node_frozen"] = counters.frozen;
  out["node_epochs"] = counters.epochs;
  out["node_callers_lost"] = counters.callers_lost;
  out["node_groups_set_aside"] = counters.groups_set_aside;
  out["node_callers_back"] = counters.callers_back;
  out["node_operations_ok"] = counters.operations_ok;
  out["node_operations_failed"] = counters.operations_failed;
  out["node_stragglers"] = counters.stragglers;
  out["node_messages_sent"] = counters.messages_sent;
  out["node_messages_unread"] = counters.messages_unread;
  out["node_messages_received"] = counters.messages_received;
}

void add_detector_counters(const DetectorCounters& counters, client::NodeStatus& status) {
  auto& out = *status.mutable_counters();
  out["detector_probes"] = counters.probes;
  out["detector_suspicions"] = counters.suspicions;
  out["detector_false_suspicions"] = counters.false_suspicions;
  out["detector_lost"] = counters.lost;
  out["detector_late"] = counters.late;
}

void fill_model(const Settings& settings, client::SetModel& out) {
  const Settings::ModelSection& model = settings.model;
  const ByteCosts bytes = byte_costs(settings);
  out.set_s_ns(model.s_ns);
  out.set_l_ns(model.r() - std::min(model.o_ns, model.r()));
  out.set_o_ns(std::min(model.o_ns, model.r()));
  out.set_send_per_byte_ns(bytes.send);
  out.set_receive_per_byte_ns(bytes.receive);
  out.set_processors(model.processors);
  out.set_wake_ns(model.wake_ns);
  out.set_measured(model.measured);
}

void add_tables(const NodeTables& tables, client::NodeStatus& status) {
  auto& out = *status.mutable_counters();
  out["now_requests"] = tables.requests;
  out["now_operations"] = tables.operations;
  out["now_buffers"] = tables.buffers;
}

}  // namespace

void fill_node_status(const Node& node, const Settings& settings, client::NodeStatus& status) {
  const auto nodes = static_cast<std::uint32_t>(settings.cluster.nodes.size());
  status.set_rank(settings.node.rank);
  status.set_size(nodes);
  status.set_cluster(settings.cluster.name);
  status.set_transport(settings.cluster.transport == TransportKind::kTcp ? "tcp" : "udp");
  status.set_connected(node.connected_peers());
  for (NodeId peer = 0; peer < nodes; ++peer)
    if (peer != settings.node.rank) fill_peer(node, peer, settings.cluster.nodes[peer], *status.add_peers());
  // One that peers have begun by its number alone nobody here can name, nor remove.
  for (std::uint32_t i = 0; i < node.group_count(); ++i)
    if (const auto group = node.group_info(i); !group.name.empty()) fill_group(group, *status.add_groups());
  add_node_counters(node.counters(), status);
  if (const DetectorCounters* detector = node.detector_counters()) add_detector_counters(*detector, status);
  add_tables(node.tables(), status);
  add_channel_counters(node, nodes, status);
  status.set_pid(getpid());
  status.set_version(FIBOCAST_VERSION);
  status.set_payload_bytes_used(node.payload_bytes_used());
  status.set_address(settings.cluster.nodes[settings.node.rank]);
  fill_model(settings, *status.mutable_model());
}

}  // namespace fibocast
