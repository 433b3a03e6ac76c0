#include "runtime/node/peers.h"

#include <algorithm>
#include <new>

#include "collectives/check.h"
#include "transport/memory_carver.h"

namespace fibocast::peers {

namespace {

std::span<StreamOwner> owners_of(std::span<StreamOwner> all, const Limits& limits, NodeId peer) {
  return all.subspan(std::size_t{peer} * limits.bulk_streams, limits.bulk_streams);
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

// Frames of 1,400 bytes take 2,304 of the kernel's buffer; at most 40 % of it may be on its way to us, from at most
// four peers at a time (PROTOCOL 12).
std::uint64_t bulk_window(const NodeSettings& settings) {
  return std::max<std::uint64_t>(settings.receive_buffer_bytes / 5 * 2 * 1400 / 2304 / 4, 4096);
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
  c.bulk_window_bytes = bulk_window(s);
  return c;
}

BufferId& small_buffer(NodeState& state, NodeId peer, std::uint64_t message) {
  return state.small_buffers[std::size_t{peer} * state.limits.small_window + message % state.limits.small_window];
}

}  // namespace

ChannelLimits channel_limits(const Limits& l) { return {l.small_window, l.small_body, l.bulk_window, l.bulk_streams}; }

ReliableChannel& channel(NodeState& state, NodeId peer, Nanoseconds now) {
  check(peer < state.settings.nodes && peer != state.settings.self);
  Peer& p = state.peers[peer];
  if (p.channel != nullptr) return *p.channel;
  const ChannelLimits limits = channel_limits(state.limits);
  const std::size_t channel_bytes = carved_bytes<std::byte>(ReliableChannel::bytes_needed(limits));
  const std::size_t object_bytes = carved_bytes<ReliableChannel>(1);
  const std::span<std::byte> memory =
      state.channel_memory.subspan(peer * (object_bytes + channel_bytes), object_bytes + channel_bytes);
  p.channel =
      new (memory.data()) ReliableChannel(limits, channel_settings(state.settings, peer), memory.subspan(object_bytes));
  p.channel->connect(now);
  p.trying_since = now;
  return *p.channel;
}

bool connected(const NodeState& state, NodeId peer) {
  const ReliableChannel* c = find(state, peer);
  return c != nullptr && c->state() == ChannelState::kConnected;
}

bool may_come(const NodeState& state, NodeId peer, Nanoseconds now) {
  return !connected(state, peer) && now - state.peers[peer].trying_since < state.settings.suspicion;
}

bool send(NodeState& state, NodeId to, const PeerMessage& message, bool urgent, Nanoseconds now, PayloadRange payload) {
  ReliableChannel& c = channel(state, to, now);
  if (c.small_free() == 0) {
    state.again = true;
    return false;
  }
  std::array<std::byte, kMaxPeerMessage> body;
  const std::size_t bytes = encode_peer_message(message, body);
  if (payload.length > 0) state.buffers->add_reference(payload.buffer);
  small_buffer(state, to, state.peers[to].small_sent++) = payload.length > 0 ? payload.buffer : kNoBuffer;
  c.send_small(std::span<const std::byte>(body).first(bytes), payload, urgent, now);
  return true;
}

void release_acknowledged(NodeState& state, NodeId peer) {
  Peer& p = state.peers[peer];
  for (; p.small_released < p.channel->small_released(); ++p.small_released) {
    const BufferId buffer = small_buffer(state, peer, p.small_released);
    if (buffer != kNoBuffer) state.buffers->release(buffer);
  }
}

std::uint32_t open_stream(NodeState& state, NodeId to, std::uint64_t total, StreamOwner owner, Nanoseconds now) {
  ReliableChannel& c = channel(state, to, now);
  StreamOwner* place = free_owner(owners_of(state.outgoing_streams, state.limits, to));
  if (c.bulk_send_free() == 0 || place == nullptr) {
    state.again = true;
    return kNoIndex;
  }
  *place = owner;
  place->stream = c.bulk_open(total);
  return place->stream;
}

bool accept_stream(NodeState& state, NodeId from, std::uint32_t stream, PayloadRange target, StreamOwner owner,
                   Nanoseconds now) {
  ReliableChannel& c = channel(state, from, now);
  StreamOwner* place = free_owner(owners_of(state.incoming_streams, state.limits, from));
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
  return find_owner(owners_of(state.outgoing_streams, state.limits, peer), stream);
}

StreamOwner* incoming_owner(NodeState& state, NodeId peer, std::uint32_t stream) {
  return find_owner(owners_of(state.incoming_streams, state.limits, peer), stream);
}

void copy(NodeState& state, std::span<const std::byte> bytes, PayloadRange range) {
  check(!state.copy_pending);
  state.copy_pending = true;
  state.copy_bytes = bytes;
  state.copy_range = range;
}

}  // namespace fibocast::peers
