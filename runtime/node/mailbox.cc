#include "runtime/node/mailbox.h"

#include <algorithm>

#include "collectives/check.h"
#include "runtime/node/peers.h"

namespace fibocast::mailbox {

namespace {

// Applications leave the last entries to the host.
std::uint32_t free_outgoing(const NodeState& state, bool hosts) {
  const auto entries = hosts ? static_cast<std::uint32_t>(state.outgoing.size()) : state.limits.requests;
  for (std::uint32_t i = entries; i > 0; --i)
    if (state.outgoing[i - 1].state == OutgoingMessage::State::kFree) return i - 1;
  return kNoIndex;
}

MessageLane& lane_of(Peer& p, bool hosts) { return hosts ? p.hosts : p.applications; }

bool has_credit(const NodeState& state, const Peer& p, bool hosts) {
  const MessageLane &a = p.applications, &h = p.hosts;
  if (p.one_credit) return a.sent + h.sent - a.credited - h.credited < state.limits.message_credit;
  return hosts ? h.sent - h.credited < state.limits.host_credit : a.sent - a.credited < state.limits.message_credit;
}

bool tag_is_streaming(const NodeState& state, NodeId peer, std::uint64_t tag) {
  for (const OutgoingMessage& o : state.outgoing)
    if (o.state == OutgoingMessage::State::kStreaming && o.peer == peer && o.tag == tag) return true;
  return false;
}

void take_from_queue(NodeState& state, MessageLane& lane) {
  lane.first_outgoing = state.outgoing[lane.first_outgoing].next;
  if (lane.first_outgoing == kNoIndex) lane.last_outgoing = kNoIndex;
  ++lane.sent;
  ++state.counters.messages_sent;
}

void release_payload(NodeState& state, PayloadRange& payload) {
  if (payload.buffer != kNoBuffer) state.buffers->release(payload.buffer);
  payload = {};
}

bool send_eager(NodeState& state, NodeId to, OutgoingMessage& o, Nanoseconds now) {
  PeerMessage m;
  m.type = PeerMessageType::kMessage;
  m.tag = o.tag, m.total_bytes = o.payload.length;
  if (!peers::send(state, to, m, true, now, o.payload)) return false;
  take_from_queue(state, lane_of(peers::of(state, to), is_hosts(state, o.tag)));
  release_payload(state, o.payload);
  o.state = OutgoingMessage::State::kFree;
  return true;
}

// Messages wait for applications: they leave half of the streams to operations. Those of hosts do not, and are few.
bool may_stream(const NodeState& state, NodeId to, bool hosts) {
  if (hosts) return true;
  const auto streaming = std::ranges::count_if(state.outgoing, [&](const OutgoingMessage& o) {
    return o.state == OutgoingMessage::State::kStreaming && o.peer == to && !is_hosts(state, o.tag);
  });
  return streaming < std::max<std::int64_t>(state.limits.bulk_streams / 2, 1);
}

bool announce(NodeState& state, NodeId to, OutgoingMessage& o, Nanoseconds now) {
  const bool hosts = is_hosts(state, o.tag);
  if (peers::channel(state, to, now).small_free() == 0 || !may_stream(state, to, hosts)) return false;
  const auto index = static_cast<std::uint32_t>(&o - state.outgoing.data());
  const StreamOwner owner{StreamOwner::Kind::kMessage, 0, index, 0, o.payload.buffer};
  o.stream = peers::open_stream(state, to, o.payload.length, true, owner, now);
  if (o.stream == kNoIndex) return false;
  state.buffers->add_reference(o.payload.buffer);
  PeerMessage m;
  m.type = PeerMessageType::kMessageAnnounce;
  m.tag = o.tag, m.total_bytes = o.payload.length, m.stream = o.stream;
  check(peers::send(state, to, m, true, now));
  take_from_queue(state, lane_of(peers::of(state, to), hosts));
  o.state = OutgoingMessage::State::kStreaming;
  return true;
}

void pump_lane(NodeState& state, NodeId to, bool hosts, Nanoseconds now) {
  Peer& p = peers::of(state, to);
  const MessageLane& lane = lane_of(p, hosts);
  while (lane.first_outgoing != kNoIndex && has_credit(state, p, hosts)) {
    OutgoingMessage& o = state.outgoing[lane.first_outgoing];
    const bool streaming = tag_is_streaming(state, to, o.tag);
    if (streaming && o.payload.length == 0) return;  // an empty one cannot be a stream: it waits for its turn
    const bool eager = o.payload.length <= state.limits.eager_bytes && !streaming;
    if (eager ? !send_eager(state, to, o, now) : !announce(state, to, o, now)) {
      state.again = true;
      return;
    }
  }
}

void pump_outgoing(NodeState& state, NodeId to, Nanoseconds now) {
  pump_lane(state, to, true, now);
  pump_lane(state, to, false, now);
}

void take_credit(MessageLane& lane, std::uint32_t sent, std::uint32_t count) {
  if (count - lane.credited <= sent - lane.credited) lane.credited = count;
}

void drop_queue(NodeState& state, NodeId peer, bool hosts) {
  for (OutgoingMessage& o : state.outgoing) {
    if (o.state != OutgoingMessage::State::kQueued || o.peer != peer || is_hosts(state, o.tag) != hosts) continue;
    release_payload(state, o.payload);
    o = OutgoingMessage{};
    ++state.counters.messages_dropped;
  }
  MessageLane& lane = lane_of(peers::of(state, peer), hosts);
  lane.first_outgoing = lane.last_outgoing = kNoIndex;
}

}  // namespace

std::optional<BufferId> reserve(NodeState& state, std::uint64_t bytes, BufferUse use, bool hosts) {
  const auto buffer = state.buffers->reserve(bytes, use);
  return buffer || !hosts ? buffer : state.buffers->reserve(bytes, BufferUse::kHosts);
}

std::optional<BufferId> reserve_outgoing(NodeState& state, std::uint64_t bytes, BufferFor use) {
  const bool of_application = use == BufferFor::kMessage;
  return reserve(state, bytes, of_application ? BufferUse::kSent : BufferUse::kOutgoing,
                 use == BufferFor::kHostsMessage);
}

Admission send(NodeState& state, NodeId to, std::uint64_t tag, PayloadRange payload, Nanoseconds now) {
  if (to >= state.settings.nodes) return Admission::kBadRank;
  if (!state.buffers->can_ever_fit(payload.length)) return Admission::kTooLarge;
  if (to == state.settings.self) return send_to_self(state, tag, payload);
  const bool hosts = is_hosts(state, tag);
  const std::uint32_t i = free_outgoing(state, hosts);
  if (i == kNoIndex || peers::reach(state, to, now) == nullptr) return Admission::kWouldBlock;
  OutgoingMessage& o = state.outgoing[i];
  o = OutgoingMessage{OutgoingMessage::State::kQueued, to, tag, payload, 0, kNoIndex};
  MessageLane& lane = lane_of(peers::of(state, to), hosts);
  (lane.last_outgoing == kNoIndex ? lane.first_outgoing : state.outgoing[lane.last_outgoing].next) = i;
  lane.last_outgoing = i;
  pump_outgoing(state, to, now);
  return Admission::kTaken;
}

void on_grant(NodeState& state, NodeId from, const PeerMessage& m, Nanoseconds now) {
  const StreamOwner* owner = peers::outgoing_owner(state, from, m.stream);
  if (owner == nullptr || owner->kind != StreamOwner::Kind::kMessage) return;
  const OutgoingMessage& o = state.outgoing[owner->index];
  peers::channel(state, from, now).bulk_extend(m.stream, o.payload, o.payload.length, now);
}

void on_credit(NodeState& state, NodeId from, const PeerMessage& m, Nanoseconds now) {
  Peer& p = peers::of(state, from);
  MessageLane &a = p.applications, &h = p.hosts;
  p.one_credit = !m.host_count;
  take_credit(a, p.one_credit ? a.sent + h.sent : a.sent, m.count - m.host_count.value_or(0));
  if (m.host_count) take_credit(h, h.sent, *m.host_count);
  pump_outgoing(state, from, now);
}

void on_stream_sent(NodeState& state, std::uint32_t entry, Nanoseconds now) {
  OutgoingMessage& o = state.outgoing[entry];
  const NodeId to = o.peer;
  release_payload(state, o.payload);
  o.state = OutgoingMessage::State::kFree;
  pump_outgoing(state, to, now);
}

void forget_peer(NodeState& state, NodeId peer) {
  Peer& p = peers::of(state, peer);
  for (MessageLane* lane : {&p.applications, &p.hosts}) lane->sent = lane->credited = lane->consumed = 0;
  p.consumed_told = 0;
  p.credit_owed = p.one_credit = false;
  drop_queue(state, peer, true);  // what hosts say to each other means nothing to another life of one of them
  drop_incoming(state, peer);
}

void drop_outgoing(NodeState& state, NodeId peer) {
  drop_queue(state, peer, true);
  drop_queue(state, peer, false);
}

void pump(NodeState& state, Nanoseconds now) {
  for (std::uint32_t i = 0; i < state.peers_used; ++i) {
    if (state.peers[i].channel == nullptr) continue;
    tell_credit(state, state.peers[i].node, now);
    pump_outgoing(state, state.peers[i].node, now);
  }
  grant_in_order(state, now);
}

}  // namespace fibocast::mailbox
