#include "runtime/node/streams.h"

#include <algorithm>

#include "collectives/check.h"
#include "runtime/node/greetings.h"
#include "runtime/node/mailbox.h"
#include "runtime/node/operations.h"
#include "runtime/node/peers.h"
#include "runtime/node/slots.h"
#include "runtime/node/transfers.h"

namespace fibocast::streams {

namespace {

using Stream = TransferState::Stream;

// Calls function(index, transfer) for each send of the slot's schedule, in its order, while that returns true.
template <class Function>
void each_send(NodeState& state, std::uint32_t slot, Function function) {
  const RankSchedule s = state.engine->schedule(slot);
  for (const Stage& stage : s.stages)
    for (std::uint32_t i = 0; i < stage.sends; ++i) {
      const std::uint32_t index = stage.first_transfer + stage.receives + i;
      if (!function(index, s.transfers[index])) return;
    }
}

template <class Function>
void each_receive(NodeState& state, std::uint32_t slot, Function function) {
  const RankSchedule s = state.engine->schedule(slot);
  for (const Stage& stage : s.stages)
    for (std::uint32_t i = 0; i < stage.receives; ++i)
      function(stage.first_transfer + i, s.transfers[stage.first_transfer + i]);
}

// `free`: streams to this node.
bool announce(NodeState& state, std::uint32_t slot, std::uint32_t index, const Transfer& t, NodeId to,
              std::uint32_t free, Nanoseconds now) {
  Slot& s = state.slots[slot];
  if (!peers::has_room(state, to, now) || !greetings::is_over(state, to, slots::group_of(state, slot))) return false;
  const StreamOwner owner{StreamOwner::Kind::kOperation, 0, slot, index, s.buffer};
  const bool awaited = !may_end_early(state, slot) || free <= state.limits.bulk_streams / 2;
  const std::uint64_t bytes = slots::stream_bytes(state, slot, t);
  const std::uint32_t stream = peers::open_stream(state, to, bytes, awaited, owner, now);
  if (stream == kNoIndex) return false;
  state.buffers->add_reference(s.buffer);
  TransferState& transfer = slots::transfer_states(state, slot)[index];
  const bool unasked = peers::of(state, to).by_reference || bytes <= state.settings.ahead_bytes;
  transfer.stream = unasked ? Stream::kUnasked : Stream::kAnnounced;
  transfer.stream_id = stream, transfer.progress = 0;
  ++s.streams_open;
  PeerMessage m = operations::message_about(state, slot, PeerMessageType::kAnnounce);
  m.stream = stream, m.stage = t.stage, m.unasked = unasked;
  check(peers::send(state, to, m, true, now));
  return true;
}

// A word about a stream of somebody else's. False: there is no room for it just now.
bool tell(NodeState& state, std::uint32_t slot, NodeId to, PeerMessageType what, std::uint32_t stream,
          Nanoseconds now) {
  PeerMessage m = operations::message_about(state, slot, what);
  m.stream = stream;
  return peers::send(state, to, m, true, now);
}

void give_up_send(NodeState& state, std::uint32_t slot, std::uint32_t index, NodeId to, Nanoseconds now) {
  TransferState& transfer = slots::transfer_states(state, slot)[index];
  StreamOwner* owner = peers::outgoing_owner(state, to, transfer.stream_id);
  peers::channel(state, to, now).bulk_cancel(transfer.stream_id);
  if (owner != nullptr) {
    owner->kind = StreamOwner::Kind::kNone;
    state.buffers->release(owner->buffer);
  }
  transfer.stream = Stream::kDone;
  --state.slots[slot].streams_open;
}

bool has_unannounced(NodeState& state, std::uint32_t slot, NodeId to) {
  bool found = false;
  each_send(state, slot, [&](std::uint32_t index, const Transfer& t) {
    found = transfers::node_of(state, slot, t.peer) == to && slots::is_bulk(state, slot, t) &&
            slots::transfer_states(state, slot)[index].stream == Stream::kNone;
    return !found;
  });
  return found;
}

// What is not known here yet may send anything.
bool older_one_may_send(NodeState& state, std::uint32_t slot, NodeId to) {
  const std::uint32_t group = slots::group_of(state, slot);
  for (Generation g = state.groups[group].base; g < state.slots[slot].generation; ++g) {
    const std::uint32_t older = slots::index_of(state, group, g);
    const Slot& o = state.slots[older];
    if (!slots::holds(o, g) || (o.state == Slot::State::kOpen && !o.shape_known)) return true;
    if (o.state == Slot::State::kOpen && has_unannounced(state, older, to)) return true;
  }
  return false;
}

// The last free stream to a peer is for the oldest generation: later ones that took it and wait for that one could keep
// it from ending for ever.
bool leaves_room(NodeState& state, std::uint32_t slot, NodeId to, std::uint32_t free) {
  return free > 1 || !older_one_may_send(state, slot, to);
}

// How much of what there is may be sent now.
std::uint64_t may_flow(const NodeState& state, const TransferState& t) {
  if (t.stream == Stream::kPostponed || t.stream == Stream::kWaiting) return 0;
  return t.stream == Stream::kAnnounced ? std::min<std::uint64_t>(t.progress, state.settings.ahead_bytes) : t.progress;
}

void announce_anew(NodeState& state, std::uint32_t slot, Nanoseconds now) {
  Slot& s = state.slots[slot];
  s.announces_anew = false;
  each_send(state, slot, [&](std::uint32_t index, const Transfer& t) {
    TransferState& transfer = slots::transfer_states(state, slot)[index];
    if (transfer.stream != Stream::kPostponed) return true;
    PeerMessage m = operations::message_about(state, slot, PeerMessageType::kAnnounce);
    m.stream = transfer.stream_id, m.stage = t.stage;
    if (peers::send(state, transfers::node_of(state, slot, t.peer), m, true, now))
      transfer.stream = Stream::kWaiting;
    else
      s.announces_anew = true;
    return true;
  });
}

bool is_open(const TransferState& t) { return t.stream != Stream::kNone && t.stream != Stream::kDone; }

}  // namespace

bool may_end_early(const NodeState& state, std::uint32_t slot) {
  const Slot& s = state.slots[slot];
  return is_push(s.operation) && s.generation == state.groups[slots::group_of(state, slot)].base;
}

void announce_sends(NodeState& state, std::uint32_t slot, Nanoseconds now) {
  const Slot& s = state.slots[slot];
  if (s.buffer == kNoBuffer || s.total_bytes == 0) return;
  each_send(state, slot, [&](std::uint32_t index, const Transfer& t) {
    const TransferState& transfer = slots::transfer_states(state, slot)[index];
    if (transfer.stream != Stream::kNone || !slots::is_bulk(state, slot, t)) return true;
    const NodeId to = transfers::node_of(state, slot, t.peer);
    const std::uint32_t free = peers::free_streams(state, to);
    return free <= state.limits.bulk_streams / 2 || announce(state, slot, index, t, to, free, now);
  });
}

bool announce_ready(NodeState& state, std::uint32_t slot, std::uint32_t index, Nanoseconds now) {
  if (slots::transfer_states(state, slot)[index].stream != Stream::kNone) return true;
  const Transfer t = state.engine->schedule(slot).transfers[index];
  const NodeId to = transfers::node_of(state, slot, t.peer);
  const std::uint32_t free = peers::free_streams(state, to);
  if (leaves_room(state, slot, to, free)) return announce(state, slot, index, t, to, free, now);
  state.again = true;
  return false;
}

void postpone_receives(NodeState& state, std::uint32_t slot, Nanoseconds now) {
  each_receive(state, slot, [&](std::uint32_t index, const Transfer& t) {
    TransferState& transfer = slots::transfer_states(state, slot)[index];
    if (transfer.stream != Stream::kAnnounced && transfer.stream != Stream::kUnasked) return;
    const NodeId from = transfers::node_of(state, slot, t.peer);
    if (tell(state, slot, from, PeerMessageType::kPostpone, transfer.stream_id, now))
      transfer.stream = Stream::kPostponed;
  });
}

bool may_be_announced(const TransferState& transfer) {
  return transfer.stream == Stream::kNone || transfer.stream == Stream::kPostponed;
}

void note_announced(TransferState& transfer, const PeerMessage& m) {
  const bool anew = transfer.stream == Stream::kPostponed;
  transfer.stream = anew ? Stream::kWaiting : m.unasked ? Stream::kUnasked : Stream::kAnnounced;
  transfer.stream_id = m.stream;
}

void grant_receives(NodeState& state, std::uint32_t slot, Nanoseconds now) {
  Slot& s = state.slots[slot];
  if (s.buffer == kNoBuffer || s.total_bytes == 0) return;
  each_receive(state, slot, [&](std::uint32_t index, const Transfer& t) {
    TransferState& transfer = slots::transfer_states(state, slot)[index];
    const bool asks = transfer.stream == Stream::kAnnounced || transfer.stream == Stream::kWaiting;
    if (!asks && transfer.stream != Stream::kUnasked) return;
    const NodeId from = transfers::node_of(state, slot, t.peer);
    if (asks && peers::channel(state, from, now).small_free() == 0) {
      state.again = true;
      return;
    }
    if (!peers::is_free_stream(state, from, transfer.stream_id)) {  // announced twice
      ++state.counters.malformed;
      transfer.stream = Stream::kNone;
      return;
    }
    const StreamOwner owner{StreamOwner::Kind::kOperation, 0, slot, index, kNoBuffer};
    const PayloadRange target{s.buffer, transfer.offset, slots::stream_bytes(state, slot, t)};
    if (!peers::accept_stream(state, from, transfer.stream_id, target, owner, now)) return;
    if (asks) check(tell(state, slot, from, PeerMessageType::kGrant, transfer.stream_id, now));
    transfer.stream = Stream::kGranted;
  });
}

void extend(NodeState& state, std::uint32_t slot, std::uint32_t index, Nanoseconds now) {
  const Slot& s = state.slots[slot];
  const Transfer t = state.engine->schedule(slot).transfers[index];
  const TransferState& transfer = slots::transfer_states(state, slot)[index];
  const NodeId to = transfers::node_of(state, slot, t.peer);
  const std::uint64_t available = may_flow(state, transfer);
  if (!is_open(transfer) || available == 0) return;
  ReliableChannel& channel = peers::channel(state, to, now);
  const PayloadRange data{s.buffer, transfer.offset, slots::stream_bytes(state, slot, t)};
  channel.bulk_extend(transfer.stream_id, data, available, now);
}

void give_up_sends(NodeState& state, std::uint32_t slot, NodeId peer, Nanoseconds now) {
  if (state.slots[slot].streams_open == 0) return;
  each_send(state, slot, [&](std::uint32_t index, const Transfer& t) {
    const NodeId to = transfers::node_of(state, slot, t.peer);
    if (is_open(slots::transfer_states(state, slot)[index]) && (peer == kNoNode || peer == to))
      give_up_send(state, slot, index, to, now);
    return true;
  });
}

void give_up_receives(NodeState& state, std::uint32_t slot, Nanoseconds now) {
  Slot& s = state.slots[slot];
  each_receive(state, slot, [&](std::uint32_t index, const Transfer& t) {
    TransferState& transfer = slots::transfer_states(state, slot)[index];
    if (!is_open(transfer)) return;
    const NodeId from = transfers::node_of(state, slot, t.peer);
    if (StreamOwner* owner = peers::incoming_owner(state, from, transfer.stream_id); owner != nullptr) {
      owner->kind = StreamOwner::Kind::kNone;
      peers::channel(state, from, now).bulk_discard(transfer.stream_id);
    }
    transfer.stream = Stream::kDone;
    if (!tell(state, slot, from, PeerMessageType::kDecline, transfer.stream_id, now))
      s.late_from = from, s.late_stream = transfer.stream_id;
  });
}

void on_sent(NodeState& state, NodeId to, std::uint32_t stream, Nanoseconds now) {
  StreamOwner* owner = peers::outgoing_owner(state, to, stream);
  if (owner == nullptr) return;
  const StreamOwner o = *owner;
  owner->kind = StreamOwner::Kind::kNone;
  state.buffers->release(o.buffer);
  if (o.kind == StreamOwner::Kind::kMessage) return mailbox::on_stream_sent(state, o.index, now);
  operations::on_stream_sent(state, o.index, o.transfer, now);
}

// Each that ends makes room for the next that waits: that one is opened afterwards, or it would end here as well.
void forget_peer(NodeState& state, NodeId peer, Nanoseconds now) {
  for (StreamOwner& incoming : peers::incoming_owners(state, peer)) incoming.kind = StreamOwner::Kind::kNone;
  peers::of(state, peer).forgets_streams = true;
  for (const StreamOwner& outgoing : peers::outgoing_owners(state, peer))
    if (outgoing.kind != StreamOwner::Kind::kNone) on_sent(state, peer, outgoing.stream, now);
  peers::of(state, peer).forgets_streams = false;
}

void tell_what_is_owed(NodeState& state, std::uint32_t slot, Nanoseconds now) {
  Slot& s = state.slots[slot];
  if (s.announces_anew) announce_anew(state, slot, now);
  if (s.late_from != kNoNode && tell(state, slot, s.late_from, PeerMessageType::kDecline, s.late_stream, now))
    s.late_from = kNoNode;
}

}  // namespace fibocast::streams

namespace fibocast::operations {

namespace {

// The send whose stream a peer speaks of; kNoIndex if there is none.
std::uint32_t find_send(NodeState& state, std::uint32_t slot, NodeId peer, std::uint32_t stream) {
  std::uint32_t found = kNoIndex;
  streams::each_send(state, slot, [&](std::uint32_t index, const Transfer& t) {
    const TransferState& transfer = slots::transfer_states(state, slot)[index];
    if (!streams::is_open(transfer) || transfer.stream_id != stream || transfers::node_of(state, slot, t.peer) != peer)
      return true;
    found = index;
    return false;
  });
  return found;
}

}  // namespace

void on_grant(NodeState& state, std::uint32_t group, NodeId from, const PeerMessage& m, Nanoseconds now) {
  const std::uint32_t slot = slots::index_of(state, group, m.generation);
  if (!slots::holds(state.slots[slot], m.generation)) return;
  const std::uint32_t index = find_send(state, slot, from, m.stream);
  if (index == kNoIndex) return;
  slots::transfer_states(state, slot)[index].stream = TransferState::Stream::kGranted;
  streams::extend(state, slot, index, now);
}

void on_decline(NodeState& state, std::uint32_t group, NodeId from, const PeerMessage& m, Nanoseconds now) {
  const std::uint32_t slot = slots::index_of(state, group, m.generation);
  if (!slots::holds(state.slots[slot], m.generation)) return;
  const std::uint32_t index = find_send(state, slot, from, m.stream);
  if (index == kNoIndex) return;
  streams::give_up_send(state, slot, index, from, now);
  pump(state, slot, now);
  close_if_through(state, slot, now);
}

void on_postpone(NodeState& state, std::uint32_t group, NodeId from, const PeerMessage& m, Nanoseconds now) {
  const std::uint32_t slot = slots::index_of(state, group, m.generation);
  if (!slots::holds(state.slots[slot], m.generation)) return;
  const std::uint32_t index = find_send(state, slot, from, m.stream);
  if (index == kNoIndex) return;
  using Stream = TransferState::Stream;
  TransferState& transfer = slots::transfer_states(state, slot)[index];
  if (transfer.stream != Stream::kAnnounced && transfer.stream != Stream::kUnasked) return;
  transfer.stream_id = peers::restart_stream(state, from, m.stream, now);
  transfer.stream = Stream::kPostponed;
  streams::announce_anew(state, slot, now);
}

void on_stream_sent(NodeState& state, std::uint32_t slot, std::uint32_t index, Nanoseconds now) {
  Slot& s = state.slots[slot];
  slots::transfer_states(state, slot)[index].stream = TransferState::Stream::kDone;
  if (s.streams_open > 0) --s.streams_open;
  pump(state, slot, now);
  close_if_through(state, slot, now);
}

}  // namespace fibocast::operations
