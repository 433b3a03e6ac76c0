// What a slot sends.
#include "runtime/node/transfers.h"

#include <algorithm>

#include "collectives/check.h"
#include "runtime/node/operations.h"
#include "runtime/node/peers.h"
#include "runtime/node/slots.h"
#include "runtime/node/ticket.h"
#include "runtime/node/window.h"

namespace fibocast::transfers {

namespace {

NodeId node_of(const NodeState& state, std::uint32_t slot, Rank virtual_rank) {
  const GroupState& g = state.groups[slots::group_of(state, slot)];
  return groups::node_of(g, groups::real_rank(g, virtual_rank, state.slots[slot].root));
}

// The children of a payload's stage, in send order.
std::span<const Transfer> children(const NodeState& state, std::uint32_t slot) {
  const RankSchedule s = state.engine->schedule(slot);
  return s.sends(s.stages[0]);
}

// Which of its stage's sends the transfer at `index` is.
std::uint32_t child_of(const NodeState& state, std::uint32_t slot, std::uint32_t index) {
  const RankSchedule s = state.engine->schedule(slot);
  const Stage& st = s.stages[s.transfers[index].stage];
  return index - st.first_transfer - st.receives;
}

void extend(NodeState& state, std::uint32_t slot, std::uint32_t child, Nanoseconds now) {
  const Slot& s = state.slots[slot];
  const ChildStream& c = slots::child_streams(state, slot)[child];
  if (c.state != ChildStream::State::kGranted || c.available == 0) return;
  ReliableChannel& channel = peers::channel(state, node_of(state, slot, children(state, slot)[child].peer), now);
  channel.bulk_extend(c.stream, PayloadRange{s.buffer, 0, s.total_bytes}, c.available, now);
}

bool announce(NodeState& state, std::uint32_t slot, std::uint32_t child, Nanoseconds now) {
  Slot& s = state.slots[slot];
  const NodeId to = node_of(state, slot, children(state, slot)[child].peer);
  if (!peers::connected(state, to)) return false;
  if (peers::channel(state, to, now).small_free() == 0) {
    state.again = true;
    return false;
  }
  const StreamOwner owner{StreamOwner::Kind::kOperation, 0, slot, child, s.buffer};
  const std::uint32_t stream = peers::open_stream(state, to, s.total_bytes, owner, now);
  if (stream == kNoIndex) return false;
  state.buffers->add_reference(s.buffer);
  slots::child_streams(state, slot)[child] = ChildStream{ChildStream::State::kAnnounced, stream, 0};
  ++s.streams_open;
  PeerMessage m = operations::message_about(state, slot, PeerMessageType::kAnnounce);
  m.stream = stream;
  check(peers::send(state, to, m, true, now));
  return true;
}

void announce_to_children(NodeState& state, std::uint32_t slot, Nanoseconds now) {
  Slot& s = state.slots[slot];
  if (!slots::is_bulk(state, s) || !s.shape_known || s.buffer == kNoBuffer) return;
  const auto count = static_cast<std::uint32_t>(children(state, slot).size());
  while (s.announced < count && announce(state, slot, s.announced, now)) ++s.announced;
}

bool older_one_waits(const NodeState& state, std::uint32_t slot) {
  const Slot& s = state.slots[slot];
  for (std::uint32_t k = 0; k < state.limits.open_generations; ++k) {
    const Slot& other = state.slots[slot / state.limits.open_generations * state.limits.open_generations + k];
    if (other.state == Slot::State::kOpen && other.wants_buffer && other.generation < s.generation) return true;
  }
  return false;
}

// Takes room for an announced payload, oldest generation first, and lets the sender begin (PROTOCOL 7).
void admit_payload(NodeState& state, std::uint32_t slot, Nanoseconds now) {
  Slot& s = state.slots[slot];
  if (s.wants_buffer && s.buffer == kNoBuffer && !older_one_waits(state, slot)) {
    const auto buffer = state.buffers->reserve(s.total_bytes, BufferUse::kIncoming);
    if (buffer) s.buffer = *buffer;
  }
  if (s.wants_buffer && s.buffer == kNoBuffer) {
    state.buffers_wanted = true;
    return;
  }
  const StreamOwner owner{StreamOwner::Kind::kOperation, 0, slot, 0, kNoBuffer};
  if (s.wants_buffer &&
      peers::accept_stream(state, s.stream_from, s.stream_in, PayloadRange{s.buffer, 0, s.total_bytes}, owner, now)) {
    s.wants_buffer = false;
    s.grant_owed = true;
  }
  if (!s.grant_owed) return;
  PeerMessage m = operations::message_about(state, slot, PeerMessageType::kGrant);
  m.stream = s.stream_in;
  s.grant_owed = !peers::send(state, s.stream_from, m, true, now);
}

bool transmit_bulk(NodeState& state, std::uint32_t slot, std::uint32_t index, std::uint32_t repetition,
                   Nanoseconds now) {
  Slot& s = state.slots[slot];
  const std::uint32_t child = child_of(state, slot, index);
  if (child >= s.announced) return false;  // announce_to_children() goes on when the channel has room
  ChildStream& c = slots::child_streams(state, slot)[child];
  const std::uint64_t whole = std::uint64_t{repetition} * s.segment_bytes + slots::bytes_of_segment(s, repetition);
  c.available = std::max(c.available, whole);
  extend(state, slot, child, now);
  return true;
}

bool transmit_small(NodeState& state, std::uint32_t slot, std::uint32_t index, std::uint32_t repetition,
                    Nanoseconds now) {
  const Transfer t = state.engine->schedule(slot).transfers[index];
  Slot& s = state.slots[slot];
  const std::uint32_t group = slots::group_of(state, slot);
  GroupState& g = state.groups[group];
  PeerMessage m = operations::message_about(state, slot, PeerMessageType::kTransfer);
  m.stage = t.stage, m.repetition = repetition;
  m.completed = window::subtree_base(state, group);
  const PayloadRange payload =
      t.carries == Carries::kPayload ? PayloadRange{s.buffer, 0, s.total_bytes} : PayloadRange{};
  const NodeId to = node_of(state, slot, t.peer);
  // What waits for a peer that is not there must not reach it after the generation has ended without it.
  if (!peers::connected(state, to)) return false;
  if (!peers::send(state, to, m, true, now, payload)) return false;
  // The barrier's tokens carry the window: up in stage 0, down in stage 1.
  if (s.operation != Operation::kBarrier || s.root != 0) return true;
  (t.stage == 0 ? g.reported : groups::child_windows(state, group)[child_of(state, slot, index)]) =
      t.stage == 0 ? m.completed : m.window_base;
  return true;
}

}  // namespace

bool transmit(NodeState& state, std::uint32_t slot, std::uint32_t index, std::uint32_t repetition, Nanoseconds now) {
  Slot& s = state.slots[slot];
  const bool sent = slots::is_bulk(state, s) ? transmit_bulk(state, slot, index, repetition, now)
                                             : transmit_small(state, slot, index, repetition, now);
  if (sent && s.first_send_at == 0) s.first_send_at = now;
  return sent;
}

namespace {

bool through_nic(const NodeState& state, const Slot& s) { return state.nic->enabled() && s.charged; }

// False: no room just now, the transfer stays the engine's next.
bool dispatch(NodeState& state, std::uint32_t slot, const Engine::Send& send, Nanoseconds now) {
  Slot& s = state.slots[slot];
  if (!through_nic(state, s)) return transmit(state, slot, send.index, send.repetition, now);
  const bool announced = !slots::is_bulk(state, s) || child_of(state, slot, send.index) < s.announced;
  if (state.nic->full() || !announced) {
    state.again = true;
    return false;
  }
  const std::uint64_t bytes =
      send.transfer.carries == Carries::kToken ? 0 : slots::bytes_of_segment(s, send.repetition);
  const std::uint64_t ticket = pack({slot, s.generation, send.index, send.repetition});
  const Nanoseconds begins = state.nic->request_send(ticket, bytes, now);
  if (s.first_send_at == 0) s.first_send_at = begins;
  return true;
}

}  // namespace

bool set_shape(NodeState& state, std::uint32_t slot, std::uint64_t total_bytes, std::uint32_t segment_bytes) {
  Slot& s = state.slots[slot];
  const GroupState& g = state.groups[slots::group_of(state, slot)];
  s.total_bytes = total_bytes;
  s.segment_bytes = total_bytes > state.limits.eager_bytes ? segment_bytes : 0;
  const OperationShape shape{s.operation, groups::size_of(g), s.total_bytes, s.segment_bytes};
  if (shape.segments() > kMaxRepetitions) return false;
  return state.engine->open(slot, g.plan, shape, groups::virtual_rank(g, g.rank, s.root));
}

void note_activation(NodeState& state, std::uint32_t slot, Nanoseconds now) {
  Slot& s = state.slots[slot];
  const bool called = s.operation == Operation::kMulticast || state.engine->arrived(slot);
  const bool known = s.shape_known && (!slots::is_source(state, slot) || state.engine->arrived(slot));
  if (s.activated_at == 0 && called && known && state.engine->activated(slot)) s.activated_at = now;
}

void send_what_is_ready(NodeState& state, std::uint32_t slot, Nanoseconds now) {
  admit_payload(state, slot, now);
  announce_to_children(state, slot, now);
  Engine::Send send;
  while (state.engine->next_send(slot, send) && dispatch(state, slot, send, now)) state.engine->commit_send(slot);
}

void give_up_streams(NodeState& state, std::uint32_t slot, NodeId peer, Nanoseconds now) {
  Slot& s = state.slots[slot];
  for (std::uint32_t child = 0; child < s.announced; ++child) {
    ChildStream& c = slots::child_streams(state, slot)[child];
    const NodeId to = node_of(state, slot, children(state, slot)[child].peer);
    if (c.state == ChildStream::State::kDone || (peer != kNoNode && peer != to)) continue;
    StreamOwner* owner = peers::outgoing_owner(state, to, c.stream);
    peers::channel(state, to, now).bulk_cancel(c.stream);
    if (owner != nullptr) {
      owner->kind = StreamOwner::Kind::kNone;
      state.buffers->release(owner->buffer);
    }
    c.state = ChildStream::State::kDone;
    --s.streams_open;
  }
}

namespace {

// They would wait for ever for what does not come through us. Best effort: who calls there has a deadline too.
void tell_children(NodeState& state, std::uint32_t slot, Nanoseconds now) {
  const Slot& s = state.slots[slot];
  if (s.operation != Operation::kMulticast || s.verdict == Verdict::kOk || s.state != Slot::State::kDone) return;
  PeerMessage m = operations::message_about(state, slot, PeerMessageType::kVerdict);
  m.verdict = s.verdict, m.ranks = s.ranks;
  const std::span<const Transfer> all = children(state, slot);
  for (std::uint32_t child = 0; child < all.size(); ++child) {
    const bool has_it =
        child < s.announced && slots::child_streams(state, slot)[child].state == ChildStream::State::kDone;
    const NodeId to = node_of(state, slot, all[child].peer);
    if (!has_it && peers::connected(state, to)) peers::send(state, to, m, true, now);
  }
}

}  // namespace

void decline_if_owed(NodeState& state, std::uint32_t slot, Nanoseconds now) {
  Slot& s = state.slots[slot];
  if (!s.decline_owed) return;
  const PeerMessage m = operations::message_about(state, slot, PeerMessageType::kDecline);
  s.decline_owed = !peers::send(state, s.stream_from, m, true, now);
}

void give_up_payload(NodeState& state, std::uint32_t slot, Nanoseconds now) {
  Slot& s = state.slots[slot];
  tell_children(state, slot, now);
  give_up_streams(state, slot, kNoNode, now);
  if (s.stream_from == kNoNode) return;
  s.decline_owed = true;
  decline_if_owed(state, slot, now);
  if (StreamOwner* owner = peers::incoming_owner(state, s.stream_from, s.stream_in); owner != nullptr) {
    owner->kind = StreamOwner::Kind::kNone;
    peers::channel(state, s.stream_from, now).bulk_discard(s.stream_in);
  }
}

}  // namespace fibocast::transfers

namespace fibocast::operations {

void on_grant(NodeState& state, std::uint32_t group, NodeId from, const PeerMessage& m, Nanoseconds now) {
  const std::uint32_t slot = slots::index_of(state, group, m.generation);
  if (!slots::holds(state.slots[slot], m.generation)) return;
  for (std::uint32_t child = 0; child < state.slots[slot].announced; ++child) {
    ChildStream& c = slots::child_streams(state, slot)[child];
    const bool ours =
        c.stream == m.stream && transfers::node_of(state, slot, transfers::children(state, slot)[child].peer) == from;
    if (!ours || c.state != ChildStream::State::kAnnounced) continue;
    c.state = ChildStream::State::kGranted;
    transfers::extend(state, slot, child, now);
  }
}

void on_decline(NodeState& state, std::uint32_t group, NodeId from, const PeerMessage& m, Nanoseconds now) {
  const std::uint32_t slot = slots::index_of(state, group, m.generation);
  if (!slots::holds(state.slots[slot], m.generation)) return;
  transfers::give_up_streams(state, slot, from, now);
  pump(state, slot, now);
  close_if_through(state, slot, now);
}

void on_stream_sent(NodeState& state, std::uint32_t slot, std::uint32_t child, Nanoseconds now) {
  Slot& s = state.slots[slot];
  slots::child_streams(state, slot)[child].state = ChildStream::State::kDone;
  if (s.streams_open > 0) --s.streams_open;
  pump(state, slot, now);
  close_if_through(state, slot, now);
}

}  // namespace fibocast::operations
