// What comes in for a slot: transfers, payloads, and what leaves the emulated NIC.
#include <algorithm>

#include "collectives/check.h"
#include "runtime/node/operations.h"
#include "runtime/node/peers.h"
#include "runtime/node/slots.h"
#include "runtime/node/ticket.h"
#include "runtime/node/transfers.h"

namespace fibocast::operations {

namespace {

// The generation is over here: the sender is told how it ended.
void answer_late(NodeState& state, std::uint32_t group, NodeId to, const PeerMessage& m, Nanoseconds now) {
  ++state.counters.stale;
  const std::uint32_t recorded = recorded_slot(state, group, m.generation);
  if (m.operation == Operation::kMulticast && recorded != kNoIndex) {
    // The parent has its own end of this generation; only its stream to us must not wait for ever.
    if (m.type != PeerMessageType::kAnnounce) return;
    state.slots[recorded].stream_from = to;
    state.slots[recorded].decline_owed = true;
    return transfers::decline_if_owed(state, recorded, now);
  }
  PeerMessage v = m;
  v.type = PeerMessageType::kVerdict;
  v.source = state.groups[group].rank;
  v.window_base = state.groups[group].global_base;
  v.verdict = recorded == kNoIndex ? Verdict::kStale : state.slots[recorded].verdict;
  v.ranks = recorded == kNoIndex ? RankSet{} : state.slots[recorded].ranks;
  // A success that a former incarnation of the sender took part in is not one of this incarnation.
  if (v.verdict == Verdict::kOk && state.peers[to].session > 1) v.verdict = Verdict::kStale;
  peers::send(state, to, v, true, now);
}

bool same_operation(const Slot& s, const PeerMessage& m) { return s.operation == m.operation && s.root == m.root; }

bool plausible(const NodeState& state, const GroupState& g, NodeId from, const PeerMessage& m) {
  if (m.root >= groups::size_of(g) || m.source >= groups::size_of(g)) return false;
  if (groups::node_of(g, m.source) != from || m.source == g.rank) return false;
  return state.buffers->can_ever_fit(m.total_bytes);
}

// The open slot that a message belongs to, with the payload's size known; kNoIndex: the message is dealt with.
std::uint32_t slot_for(NodeState& state, std::uint32_t group, NodeId from, const PeerMessage& m, Nanoseconds now) {
  GroupState& g = state.groups[group];
  if (m.epoch != g.epoch || !plausible(state, g, from, m)) {
    ++state.counters.malformed;
    return kNoIndex;
  }
  on_window(state, group, from, m, now);  // even if its generation is over here: the sender takes it as told
  const bool known = slots::holds(state.slots[slots::index_of(state, group, m.generation)], m.generation);
  if ((m.generation < g.base && !known) || recorded_slot(state, group, m.generation) != kNoIndex) {
    answer_late(state, group, from, m, now);
    return kNoIndex;
  }
  const std::uint32_t slot = open_slot(state, group, m, now);
  if (slot == kNoIndex) {
    ++state.counters.future;
    return kNoIndex;
  }
  Slot& s = state.slots[slot];
  if (!same_operation(s, m)) {
    ++state.counters.mismatch;
    s.reason = Verdict::kMismatch;
    slots::set_due(state, s, now);
    return kNoIndex;
  }
  if (!s.shape_known && !transfers::set_shape(state, slot, m.total_bytes, m.segment_bytes)) return kNoIndex;
  s.shape_known = true;
  s.charged = m.charged;
  return slot;
}

void deliver(NodeState& state, std::uint32_t slot, std::uint32_t index, std::uint32_t repetition, Nanoseconds now) {
  const Engine::Receipt receipt = state.engine->receive(slot, index, repetition);
  if (receipt == Engine::Receipt::kDuplicate) ++state.counters.duplicate;
  if (receipt == Engine::Receipt::kUnexpected) ++state.counters.malformed;
  transfers::note_activation(state, slot, now);
  pump(state, slot, now);
}

void arrive_from_wire(NodeState& state, std::uint32_t slot, std::uint32_t index, std::uint32_t repetition,
                      std::uint64_t bytes, Nanoseconds now) {
  Slot& s = state.slots[slot];
  const bool charged = state.nic->enabled() && s.charged;
  if (!charged) return deliver(state, slot, index, repetition, now);
  if (state.nic->full()) {  // cannot be emulated any more: let it pass and mark the measurement as worthless
    s.lateness = kNever;
    return deliver(state, slot, index, repetition, now);
  }
  const Transfer t = state.engine->schedule(slot).transfers[index];
  const GroupState& g = slots::group(state, slot);
  const std::uint64_t order = std::uint64_t{groups::real_rank(g, t.peer, s.root)} << 8 | t.stage;
  state.nic->request_receive(pack({slot, s.generation, index, repetition}), bytes, order, now);
}

// Room for an eager payload is always there: generations and their sources are bounded. False: it is a duplicate.
bool keep_payload(NodeState& state, std::uint32_t slot, std::span<const std::byte> payload) {
  Slot& s = state.slots[slot];
  if (payload.empty()) return true;
  if (s.buffer != kNoBuffer) return false;
  const auto buffer = state.buffers->reserve(payload.size(), BufferUse::kEager);
  if (!buffer) return false;
  s.buffer = *buffer;
  peers::copy(state, payload, PayloadRange{*buffer, 0, payload.size()});
  return true;
}

}  // namespace

void on_transfer(NodeState& state, std::uint32_t group, NodeId from, const PeerMessage& m,
                 std::span<const std::byte> payload, Nanoseconds now) {
  const std::uint32_t slot = slot_for(state, group, from, m, now);
  if (slot == kNoIndex) return;
  Slot& s = state.slots[slot];
  const GroupState& g = state.groups[group];
  const std::uint32_t index = state.engine->find_receive(slot, groups::virtual_rank(g, m.source, m.root), m.stage);
  const std::uint64_t expected = m.operation == Operation::kMulticast ? s.total_bytes : 0;
  if (index == Engine::kNone || payload.size() != expected || slots::is_bulk(state, s)) {
    ++state.counters.malformed;
    return;
  }
  if (s.frozen) {
    ++state.counters.frozen;
    return;
  }
  if (s.arrivals == 0) ++state.counters.early;
  if (!keep_payload(state, slot, payload)) {
    ++state.counters.duplicate;
    return;
  }
  arrive_from_wire(state, slot, index, m.repetition, payload.size(), now);
}

void on_announce(NodeState& state, std::uint32_t group, NodeId from, const PeerMessage& m, Nanoseconds now) {
  const std::uint32_t slot = slot_for(state, group, from, m, now);
  if (slot == kNoIndex) return;
  Slot& s = state.slots[slot];
  const GroupState& g = state.groups[group];
  const bool expected = slots::is_bulk(state, s) && s.stream_from == kNoNode &&
                        state.engine->find_receive(slot, groups::virtual_rank(g, m.source, m.root), 0) != Engine::kNone;
  if (!expected) {
    ++state.counters.malformed;
    return;
  }
  if (s.arrivals == 0) ++state.counters.early;
  s.stream_from = from, s.stream_in = m.stream;
  s.wants_buffer = true;
  pump(state, slot, now);
}

void on_stream_progress(NodeState& state, std::uint32_t slot, std::uint64_t contiguous, bool complete,
                        Nanoseconds now) {
  Slot& s = state.slots[slot];
  if (s.state != Slot::State::kOpen || s.frozen) return;
  const RankSchedule schedule = state.engine->schedule(slot);
  const Stage& stage = schedule.stages[0];
  while (s.state == Slot::State::kOpen && s.segments_in < stage.repeat) {
    const std::uint64_t end =
        std::uint64_t{s.segments_in} * s.segment_bytes + slots::bytes_of_segment(s, s.segments_in);
    if (!complete && contiguous < end) return;
    const std::uint32_t repetition = s.segments_in++;
    arrive_from_wire(state, slot, stage.first_transfer, repetition, slots::bytes_of_segment(s, repetition), now);
  }
}

void on_nic(NodeState& state, const NicDue& due, Nanoseconds now) {
  const Ticket t = unpack(due.ticket);
  Slot& s = state.slots[t.slot];
  const bool failed = s.state == Slot::State::kDone && s.verdict != Verdict::kOk;
  if (!s.used || (s.generation & 0xfff) != t.generation || failed || s.frozen) return;
  s.lateness = std::max(s.lateness, due.lateness);
  if (!due.is_send) return deliver(state, t.slot, t.index, t.repetition, now);
  if (transfers::transmit(state, t.slot, t.index, t.repetition, now)) return;
  s.lateness = kNever;  // the channel was full: the transfer goes round once more, the measurement is worthless
  if (!state.nic->full()) state.nic->request_send(due.ticket, 0, now);
}

}  // namespace fibocast::operations
