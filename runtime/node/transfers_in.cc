// What comes in for a slot: transfers, payloads, and what leaves the emulated NIC.
#include <algorithm>

#include "collectives/check.h"
#include "runtime/node/abandon.h"
#include "runtime/node/comparison.h"
#include "runtime/node/epochs.h"
#include "runtime/node/flight_log.h"
#include "runtime/node/local_data.h"
#include "runtime/node/operations.h"
#include "runtime/node/peers.h"
#include "runtime/node/presence.h"
#include "runtime/node/slots.h"
#include "runtime/node/stragglers.h"
#include "runtime/node/streams.h"
#include "runtime/node/ticket.h"
#include "runtime/node/transfers.h"

namespace fibocast::operations {

// The generation is over here: the sender is told how it ended.
void answer_late(NodeState& state, std::uint32_t group, NodeId to, const PeerMessage& m, Nanoseconds now) {
  ++state.counters.stale;
  const std::uint32_t recorded = recorded_slot(state, group, m.generation);
  if (m.operation != Operation::kBarrier && recorded != kNoIndex) {
    // Its stream to us must not wait for ever. Else the sender has its own end of this generation - unless it failed
    // and the sender waits for parts of others, which will not come any more.
    if (m.type == PeerMessageType::kAnnounce) {
      state.slots[recorded].late_from = to;
      state.slots[recorded].late_stream = m.stream;
      streams::tell_what_is_owed(state, recorded, now);
    }
    if (is_push(m.operation) || state.slots[recorded].verdict == Verdict::kOk) return;
  }
  PeerMessage v = m;
  v.type = PeerMessageType::kVerdict;
  v.source = state.groups[group].rank;
  v.window_base = state.groups[group].global_base;
  v.verdict = recorded == kNoIndex ? Verdict::kStale : state.slots[recorded].verdict;
  v.ranks = recorded == kNoIndex ? RankSet{} : state.slots[recorded].ranks;
  v.label = abandon::label_of(state.groups[group], m.generation);
  // A success that a former incarnation of the sender took part in is not one of this incarnation.
  if (v.verdict == Verdict::kOk && peers::of(state, to).lives > 1) v.verdict = Verdict::kStale;
  peers::send(state, to, v, true, now);  // else it asks when it has waited for the suspicion time (comparison.h)
}

namespace {

bool plausible(const NodeState& state, const GroupState& g, NodeId from, const PeerMessage& m) {
  if (m.root >= groups::size_of(g) || m.source >= groups::size_of(g)) return false;
  if (groups::node_of(g, m.source) != from || m.source == g.rank || !groups::is_live(g, m.source)) return false;
  return state.buffers->can_ever_fit(m.total_bytes);
}

// The open slot that a message belongs to, with the payload's size known; kNoIndex: the message is dealt with.
std::uint32_t slot_for(NodeState& state, std::uint32_t group, NodeId from, const PeerMessage& m, Nanoseconds now) {
  GroupState& g = state.groups[group];
  if (epochs::shrinks(g) && (m.epoch != g.epoch || !groups::is_live(g, m.source) || !epochs::takes_in(g))) {
    ++state.counters.stale;
    epochs::on_foreign(state, group, from, m, now);
    return kNoIndex;
  }
  if (m.epoch != g.epoch || !plausible(state, g, from, m)) {
    ++state.counters.malformed;
    return kNoIndex;
  }
  on_window(state, group, from, m, now);  // even if its generation is over here: the sender takes it as told
  if (is_over(state, group, m.generation)) {
    answer_late(state, group, from, m, now);
    return kNoIndex;
  }
  const std::uint32_t slot = open_slot(state, group, m, now);
  if (slot == kNoIndex) {
    ++state.counters.future;
    return kNoIndex;
  }
  Slot& s = state.slots[slot];
  if (!comparison::agrees(s, m)) {
    comparison::found_mismatch(state, s, now);
    return kNoIndex;
  }
  if (!s.shape_known && !transfers::set_shape(state, slot, m)) {
    conclude(state, slot, Verdict::kRefused, {}, now);  // it does not fit this node
    return kNoIndex;
  }
  if (!s.shape_known) flight_log::opened(state, slot, now);
  s.shape_known = true;
  s.charged = m.charged;
  if (is_push(s.operation)) presence::begin_waiting(state, slot, now);
  return slot;
}

void deliver(NodeState& state, std::uint32_t slot, std::uint32_t index, std::uint32_t repetition, Nanoseconds now) {
  const Engine::Receipt receipt = state.engine->receive(slot, index, repetition);
  if (receipt == Engine::Receipt::kAccepted)
    flight_log::transfer(state, slot, FlightEvent::Kind::kReceive, index, repetition, now);
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

// Small operations always get their memory.
bool keep_payload(NodeState& state, std::uint32_t slot, std::uint32_t index, std::span<const std::byte> payload) {
  if (payload.empty()) return true;
  if (!local_data::has_memory(state, slot)) return false;
  const Slot& s = state.slots[slot];
  peers::copy(state, payload, {s.buffer, slots::transfer_states(state, slot)[index].offset, payload.size()});
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
  const bool known = index != Engine::kNone;
  const Transfer t = known ? state.engine->schedule(slot).transfers[index] : Transfer{};
  if (!known || slots::is_bulk(state, slot, t) || payload.size() != slots::bytes_of(state, slot, t, m.repetition)) {
    ++state.counters.malformed;
    return;
  }
  if (s.frozen) {
    ++state.counters.frozen;
    return;
  }
  if (s.arrivals == 0) ++state.counters.early;
  if (m.repetition < slots::transfer_states(state, slot)[index].progress) {
    ++state.counters.duplicate;
    return;
  }
  if (!keep_payload(state, slot, index, payload)) {
    ++state.counters.malformed;
    return;
  }
  ++slots::transfer_states(state, slot)[index].progress;
  s.least = std::min(s.least, m.completed);
  stragglers::on_token(state, slot, m, now);
  arrive_from_wire(state, slot, index, m.repetition, payload.size(), now);
}

void on_announce(NodeState& state, std::uint32_t group, NodeId from, const PeerMessage& m, Nanoseconds now) {
  const std::uint32_t slot = slot_for(state, group, from, m, now);
  if (slot == kNoIndex) return;
  Slot& s = state.slots[slot];
  const GroupState& g = state.groups[group];
  const std::uint32_t index = state.engine->find_receive(slot, groups::virtual_rank(g, m.source, m.root), m.stage);
  const bool expected = index != Engine::kNone &&
                        slots::is_bulk(state, slot, state.engine->schedule(slot).transfers[index]) &&
                        streams::may_be_announced(slots::transfer_states(state, slot)[index]);
  if (!expected) {
    ++state.counters.malformed;
    return;
  }
  if (s.arrivals == 0) ++state.counters.early;
  TransferState& transfer = slots::transfer_states(state, slot)[index];
  streams::note_announced(transfer, m);
  pump(state, slot, now);
}

void on_stream_progress(NodeState& state, std::uint32_t slot, std::uint32_t index, std::uint64_t contiguous,
                        bool complete, Nanoseconds now) {
  Slot& s = state.slots[slot];
  if (s.state != Slot::State::kOpen || s.frozen || !epochs::takes_in(slots::group(state, slot))) return;
  const Transfer t = state.engine->schedule(slot).transfers[index];
  const std::uint32_t repeat = state.engine->schedule(slot).stages[t.stage].repeat;
  TransferState& transfer = slots::transfer_states(state, slot)[index];
  if (complete) transfer.stream = TransferState::Stream::kDone;
  while (s.state == Slot::State::kOpen && transfer.progress < repeat) {
    const auto repetition = static_cast<std::uint32_t>(transfer.progress);
    const std::uint64_t bytes = slots::bytes_of(state, slot, t, repetition);
    if (!complete && contiguous < std::uint64_t{repetition} * s.segment_bytes + bytes) return;
    ++transfer.progress;
    arrive_from_wire(state, slot, index, repetition, bytes, now);
  }
}

void on_nic(NodeState& state, const NicDue& due, Nanoseconds now) {
  const Ticket t = unpack(due.ticket);
  Slot& s = state.slots[t.slot];
  const bool failed = s.state == Slot::State::kDone && s.verdict != Verdict::kOk;
  if (!s.used || (s.generation & 0xfff) != t.generation || failed || s.frozen) return;
  s.lateness = std::max(s.lateness, due.lateness);
  if (!due.is_send) return deliver(state, t.slot, t.index, t.repetition, now);
  if (transfers::transmit(state, t.slot, t.index, t.repetition, now)) {
    --s.nic_sends;
    return close_if_through(state, t.slot, now);
  }
  s.lateness = kNever;  // the channel was full: the transfer goes round once more, the measurement is worthless
  if (!state.nic->full()) state.nic->request_send(due.ticket, 0, now);
}

}  // namespace fibocast::operations
