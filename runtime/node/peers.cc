#include "runtime/node/peers.h"

#include <algorithm>
#include <memory>
#include <new>

#include "collectives/check.h"
#include "transport/memory_carver.h"

namespace fibocast::peers {

namespace {

std::uint32_t entry_of(const NodeState& state, const Peer& p) {
  return static_cast<std::uint32_t>(&p - state.peers.data());
}

std::span<StreamOwner> owners_of(const NodeState& state, std::span<StreamOwner> all, const Peer& p) {
  return all.subspan(std::size_t{entry_of(state, p)} * state.limits.bulk_streams, state.limits.bulk_streams);
}

StreamOwner* find_owner(std::span<StreamOwner> owners, std::uint32_t stream) {
  for (StreamOwner& o : owners)
    if (o.kind != StreamOwner::Kind::kNone && o.stream == stream) return &o;
  return nullptr;
}

StreamOwner* free_owner(std::span<StreamOwner> owners) {
  for (StreamOwner& o : owners)
    if (o.kind == StreamOwner::Kind::kNone) return &o;
  return nullptr;
}

ChannelSettings channel_settings(const NodeSettings& s, NodeId peer) {
  ChannelSettings c;
  c.self = s.self;
  c.peer = peer;
  c.incarnation = s.incarnation;
  c.cluster_digest = s.cluster_digest;
  c.resend_floor = s.resend_floor;
  c.first_resend = s.first_resend;
  c.fragment_bytes = s.fragment_bytes;
  c.bulk_window_bytes = bulk_window(s.receive_buffer_bytes);
  return c;
}

BufferId& small_buffer(NodeState& state, const Peer& p, std::uint64_t message) {
  const std::uint32_t window = state.limits.small_window;
  return state.small_buffers[std::size_t{entry_of(state, p)} * window + message % window];
}

Peer& take_entry(NodeState& state, NodeId peer) {
  state.peer_map.add(peer, state.peers_used);
  Peer& p = state.peers[state.peers_used++];
  p.node = peer;
  p.by_reference = state.settings.by_reference;
  return p;
}

ReliableChannel* make_channel(NodeState& state, Peer& p, Nanoseconds now) {
  const ChannelLimits limits = channel_limits(state.limits);
  const std::size_t object_bytes = carved_bytes<ReliableChannel>(1);
  const std::size_t bytes = object_bytes + carved_bytes<std::byte>(ReliableChannel::bytes_needed(limits));
  const std::span<std::byte> memory = state.channel_memory.subspan(entry_of(state, p) * bytes, bytes);
  p.channel = new (memory.data()) ReliableChannel(limits, channel_settings(state.settings, p.node),
                                                  memory.subspan(object_bytes), state.ready.flag(entry_of(state, p)));
  std::ranges::uninitialized_value_construct(owners_of(state, state.outgoing_streams, p));
  std::ranges::uninitialized_value_construct(owners_of(state, state.incoming_streams, p));
  p.channel->connect(now);
  p.trying_since = now;
  return p.channel;
}

}  // namespace

ChannelLimits channel_limits(const Limits& l) { return {l.small_window, l.small_body, l.bulk_window, l.bulk_streams}; }

void take_first(NodeState& state) {
  if (!cover_all(state.limits)) return void(take_entry(state, state.settings.self));
  for (NodeId node = 0; node < state.settings.nodes; ++node) take_entry(state, node);
}

void adopt_cluster(NodeState& state, NodeId first_new, Nanoseconds now) {
  for (Peer& p : state.peers.first(state.peers_used))
    if (p.channel != nullptr) p.channel->set_cluster_digest(state.settings.cluster_digest, now);
  if (!cover_all(state.limits)) return;  // channels are made at first use
  for (NodeId node = first_new; node < state.settings.nodes; ++node) make_channel(state, take_entry(state, node), now);
}

void set_path(NodeState& state, NodeId peer, const PeerPath& path) {
  ReliableChannel* channel = reach(state, peer, 0);
  if (channel == nullptr) return;
  channel->set_fragment_bytes(path.fragment_bytes);
  channel->set_bulk_window(path.bulk_window_bytes);
  of(state, peer).by_reference = path.by_reference;
}

ReliableChannel* reach(NodeState& state, NodeId peer, Nanoseconds now) {
  check(peer < state.settings.nodes && peer != state.settings.self);
  Peer* p = find_peer(state, peer);
  if (p != nullptr && p->channel != nullptr) return p->channel;
  if (p == nullptr && state.peers_used == state.peers.size()) {
    ++state.counters.channels_full;
    return nullptr;
  }
  return make_channel(state, p == nullptr ? take_entry(state, peer) : *p, now);
}

Peer& of(NodeState& state, NodeId peer) {
  Peer* p = find_peer(state, peer);
  check(p != nullptr);
  return *p;
}

ReliableChannel& channel(NodeState& state, NodeId peer, Nanoseconds now) {
  ReliableChannel* c = reach(state, peer, now);
  check(c != nullptr);
  return *c;
}

bool connected(const NodeState& state, NodeId peer) {
  const ReliableChannel* c = find(state, peer);
  return c != nullptr && c->state() == ChannelState::kConnected;
}

bool may_come(NodeState& state, NodeId peer, Nanoseconds now) {
  const ReliableChannel* c = reach(state, peer, now);
  return c != nullptr && c->state() != ChannelState::kConnected &&
         now - of(state, peer).trying_since < state.settings.suspicion;
}

bool has_room(NodeState& state, NodeId to, Nanoseconds now) {
  const ReliableChannel* c = reach(state, to, now);
  if (c == nullptr || c->state() != ChannelState::kConnected) return false;
  if (c->small_free() == 0) state.again = true;
  return c->small_free() > 0;
}

bool send(NodeState& state, NodeId to, const PeerMessage& message, bool urgent, Nanoseconds now, PayloadRange payload) {
  ReliableChannel* c = reach(state, to, now);
  if (c == nullptr || c->small_free() == 0) {
    state.again = true;
    return false;
  }
  std::array<std::byte, kMaxPeerMessage> body;
  const std::size_t bytes = encode_peer_message(message, body);
  if (payload.length > 0) state.buffers->add_reference(payload.buffer);
  Peer& p = of(state, to);
  small_buffer(state, p, p.small_sent++) = payload.length > 0 ? payload.buffer : kNoBuffer;
  c->send_small(std::span<const std::byte>(body).first(bytes), payload, urgent, now);
  return true;
}

void release_acknowledged(NodeState& state, NodeId peer) {
  Peer& p = of(state, peer);
  for (; p.small_released < p.channel->small_released(); ++p.small_released) {
    const BufferId buffer = small_buffer(state, p, p.small_released);
    if (buffer != kNoBuffer) state.buffers->release(buffer);
  }
}

std::span<StreamOwner> outgoing_owners(NodeState& state, NodeId peer) {
  return owners_of(state, state.outgoing_streams, of(state, peer));
}

std::span<StreamOwner> incoming_owners(NodeState& state, NodeId peer) {
  return owners_of(state, state.incoming_streams, of(state, peer));
}

std::uint32_t free_streams(NodeState& state, NodeId to) {
  if (find(state, to) == nullptr) return state.limits.bulk_streams;
  const auto owners = outgoing_owners(state, to);
  const auto places = std::ranges::count(owners, StreamOwner::Kind::kNone, &StreamOwner::kind);
  return std::min(static_cast<std::uint32_t>(places), find(state, to)->bulk_send_free());
}

std::uint32_t open_stream(NodeState& state, NodeId to, std::uint64_t total, bool awaited, StreamOwner owner,
                          Nanoseconds now) {
  ReliableChannel* c = reach(state, to, now);
  const bool may_open = c != nullptr && !of(state, to).forgets_streams;
  StreamOwner* place = may_open ? free_owner(outgoing_owners(state, to)) : nullptr;
  if (place == nullptr || c->bulk_send_free() == 0) {
    state.again = true;
    return kNoIndex;
  }
  *place = owner;
  place->stream = c->bulk_open(total, awaited);
  return place->stream;
}

std::uint32_t restart_stream(NodeState& state, NodeId to, std::uint32_t stream, Nanoseconds now) {
  StreamOwner* owner = outgoing_owner(state, to, stream);
  check(owner != nullptr);
  return owner->stream = channel(state, to, now).bulk_restart(stream);
}

bool is_free_stream(NodeState& state, NodeId from, std::uint32_t stream) {
  return stream != 0 && incoming_owner(state, from, stream) == nullptr;
}

bool accept_stream(NodeState& state, NodeId from, std::uint32_t stream, PayloadRange target, StreamOwner owner,
                   Nanoseconds now) {
  ReliableChannel& c = channel(state, from, now);
  StreamOwner* place = free_owner(incoming_owners(state, from));
  if (c.bulk_receive_free() == 0 || place == nullptr) {
    state.again = true;
    return false;
  }
  *place = owner;
  place->stream = stream;
  c.bulk_accept(stream, target);
  return true;
}

StreamOwner* outgoing_owner(NodeState& state, NodeId peer, std::uint32_t stream) {
  return find_owner(outgoing_owners(state, peer), stream);
}

StreamOwner* incoming_owner(NodeState& state, NodeId peer, std::uint32_t stream) {
  return find_owner(incoming_owners(state, peer), stream);
}

void copy(NodeState& state, std::span<const std::byte> bytes, PayloadRange range) {
  check(!state.copy_pending);
  state.copy_pending = true;
  state.copy_bytes = bytes;
  state.copy_range = range;
}

namespace {

bool has_event(const Peer& p) {
  return p.lost_event || p.restarted_event || p.up_event || p.refused_event || p.newer_event;
}

Peer* next_event_peer(NodeState& s) {
  for (std::uint32_t i = 0; s.peer_events && i < s.peers_used; ++i)
    if (has_event(s.peers[i])) return &s.peers[i];
  s.peer_events = false;
  return nullptr;
}

}  // namespace

bool poll_event(NodeState& s, Event& out) {
  Peer* found = next_event_peer(s);
  if (found == nullptr) return false;
  Peer& p = *found;
  std::construct_at(&out);
  out.peer = p.node;
  out.peer_digest = p.refused_digest;
  if (p.lost_event)
    out.kind = Event::Kind::kPeerLost, out.reason = p.lost_reason, p.lost_event = false;
  else if (p.restarted_event)
    out.kind = Event::Kind::kPeerRestarted, p.restarted_event = false;
  else if (p.up_event)
    out.kind = Event::Kind::kPeerUp, p.up_event = false;
  else if (p.refused_event)
    out.kind = Event::Kind::kPeerRefused, p.refused_event = false;
  else
    out.kind = Event::Kind::kPeerNewer, p.newer_event = false;
  return true;
}

}  // namespace fibocast::peers
