// Slots: how a generation is opened, sends what its schedule says, ends, and makes room for a later one.
#include "runtime/node/operations.h"

#include <algorithm>
#include <memory>

#include "collectives/check.h"
#include "runtime/node/abandon.h"
#include "runtime/node/comparison.h"
#include "runtime/node/epochs.h"
#include "runtime/node/flight_log.h"
#include "runtime/node/local_data.h"
#include "runtime/node/peers.h"
#include "runtime/node/presence.h"
#include "runtime/node/slots.h"
#include "runtime/node/stragglers.h"
#include "runtime/node/streams.h"
#include "runtime/node/transfers.h"
#include "runtime/node/window.h"

namespace fibocast::operations {

namespace {

bool rejoins(const NodeState& state, std::uint32_t slot, const Request& r, Nanoseconds now) {
  const Slot& s = state.slots[slot];
  const GroupState& g = state.groups[slots::group_of(state, slot)];
  // A caller that numbers its operations gets its own verdict. One that joined what was open was merely late, or there
  // while a daemon was started again.
  if (r.call.generation || r.forgotten || r.call.deadline <= now) return false;
  // A root outside of the epoch fails each generation at once, also when it is back.
  const bool has_root = !slots::is_rooted(s.operation) || groups::is_live(g, s.root);
  const bool all_back = has_root && presence::lost_member(state, slots::group_of(state, slot)) == kNoRank;
  return s.verdict == Verdict::kStale || (s.verdict == Verdict::kPeerLost && all_back) ||
         (s.verdict == Verdict::kDeadlineExceeded && s.ranks.index_of(g.rank) != kNoRank);
}

void answer_calls(NodeState& state, std::uint32_t slot, Nanoseconds now) {
  Slot& s = state.slots[slot];
  std::uint32_t next = s.first_call;
  s.first_call = kNoRequest;
  while (next != kNoRequest) {
    const std::uint32_t i = next;
    Request& r = state.requests->at(i);
    next = r.next;
    if (rejoins(state, slot, r, now)) {
      hold(state, i);
      continue;
    }
    answer_call(state, i, slot);
  }
}

void close(NodeState& state, std::uint32_t slot) {
  Slot& s = state.slots[slot];
  presence::end_waiting(state, slot);
  s.closed = true;
  if (s.input != kNoBuffer) state.buffers->release(s.input);
  s.input = kNoBuffer;
  if (s.buffer != kNoBuffer) state.buffers->release(s.buffer);
  s.buffer = kNoBuffer;
}

// Routers of a flood have no participants.
bool has_delivered(const NodeState& state, std::uint32_t slot) {
  const Slot& s = state.slots[slot];
  const GroupState& g = state.groups[slots::group_of(state, slot)];
  return s.delivered >= g.participants ||
         groups::position_of(g, g.rank) >= participating_ranks(slots::shape_of(state, slot));
}

bool nothing_left(const NodeState& state, std::uint32_t slot) {
  const Slot& s = state.slots[slot];
  if (s.verdict != Verdict::kOk || s.operation == Operation::kBarrier) return true;
  return s.streams_open == 0 && s.nic_sends == 0 && has_delivered(state, slot);
}

// The payload of the operation that is now the oldest, or a change of the group.
bool may_wait_for_base(const NodeState& state, const GroupState& g) {
  return state.operations_open > 0 || state.replanning.phase != Replanning::Phase::kIdle || g.hold.number != 0 ||
         g.inquiry.phase != Inquiry::Phase::kIdle || !g.change.settled;
}

bool advance_base(NodeState& state, std::uint32_t group) {
  GroupState& g = state.groups[group];
  const Generation before = g.base;
  for (;;) {
    const Slot& s = state.slots[slots::index_of(state, group, g.base)];
    if (!slots::holds(s, g.base) || s.state != Slot::State::kDone || !s.closed) break;
    ++g.base;
  }
  if (g.base != before && may_wait_for_base(state, g)) state.again = true;
  return g.base != before;
}

// Not re-entered: a call that is let in may end at once and move the window again.
void retry_held(NodeState& state, std::uint32_t group, Nanoseconds now) {
  GroupState& g = state.groups[group];
  g.retry_again = true;
  if (g.retrying) return;
  g.retrying = true;
  while (g.retry_again && g.held > 0) {
    g.retry_again = false;
    for (std::uint32_t i = 0; i < state.requests->size(); ++i) {
      Request& r = state.requests->at(i);
      if (r.state != Request::State::kHeld || r.group != group) continue;
      --g.held;
      place_call(state, i, now);
    }
  }
  g.retrying = false;
}

}  // namespace

void on_window_moved(NodeState& state, std::uint32_t group, Nanoseconds now) {
  window::advance(state, group, now);
  retry_held(state, group, now);
}

namespace {

std::uint32_t find_or_open_slot(NodeState& state, std::uint32_t group, const PeerMessage& m, Nanoseconds now) {
  GroupState& g = state.groups[group];
  const std::uint32_t slot = slots::index_of(state, group, m.generation);
  Slot& s = state.slots[slot];
  if (slots::holds(s, m.generation)) return slot;
  if (m.generation < g.base || m.generation - g.base >= state.limits.open_generations) return kNoIndex;
  if (s.state == Slot::State::kOpen) {  // nobody knew how it ended; who waited here may join the new one, and opens it
    conclude(state, slot, Verdict::kStale, {}, now);
    return find_or_open_slot(state, group, m, now);
  }
  if (s.used && !s.closed) transfers::give_up_payload(state, slot, now), close(state, slot);
  std::construct_at(&s);
  s.used = true;
  s.generation = m.generation, s.operation = m.operation, s.root = m.root, s.charged = m.charged;
  s.shape_known = m.operation == Operation::kBarrier;
  if (!transfers::set_shape(state, slot, m)) {
    if (s.shape_known) return kNoIndex;
    state.engine->forget(slot);  // a guess: who is handed something out learns the shape with it
  }
  s.state = Slot::State::kOpen;
  ++state.operations_open;
  if (s.shape_known) flight_log::opened(state, slot, now);
  return slot;
}

// It is open with what this node would do in it, so that it can end here like any other: by one verdict for all.
void ask_why_not_understood(NodeState& state, std::uint32_t slot, Nanoseconds now) {
  Slot& s = state.slots[slot];
  if (s.state != Slot::State::kOpen) return;
  s.reason = Verdict::kMismatch;
  RankSet self;
  self.add(slots::group(state, slot).rank);
  s.ranks = joined(s.ranks, self);
  slots::set_due(state, s, now);
}

}  // namespace

std::uint32_t open_slot(NodeState& state, std::uint32_t group, const PeerMessage& m, Nanoseconds now) {
  const std::uint32_t slot = find_or_open_slot(state, group, m, now);
  if (slot != kNoIndex && !m.understood) ask_why_not_understood(state, slot, now);
  return slot;
}

void prepare(NodeState& state, std::uint32_t group) {
  for (const Slot& s : groups::slots_of(state, group))
    if (!s.used) transfers::set_shape(state, static_cast<std::uint32_t>(&s - state.slots.data()), {});
}

std::uint32_t recorded_slot(NodeState& state, std::uint32_t group, Generation generation) {
  const std::uint32_t slot = slots::index_of(state, group, generation);
  const Slot& s = state.slots[slot];
  return slots::holds(s, generation) && s.state == Slot::State::kDone ? slot : kNoIndex;
}

bool is_over(NodeState& state, std::uint32_t group, Generation generation) {
  const bool known = slots::holds(state.slots[slots::index_of(state, group, generation)], generation);
  return (generation < state.groups[group].base && !known) || recorded_slot(state, group, generation) != kNoIndex;
}

void close_if_through(NodeState& state, std::uint32_t slot, Nanoseconds now) {
  const Slot& s = state.slots[slot];
  if (s.state == Slot::State::kDone && s.streams_open == 0) presence::end_waiting(state, slot);
  if (s.state != Slot::State::kDone || s.closed || !nothing_left(state, slot)) return;
  close(state, slot);
  const std::uint32_t group = slots::group_of(state, slot);
  if (advance_base(state, group)) on_window_moved(state, group, now);
}

void record(NodeState& state, std::uint32_t group, const PeerMessage& m) {
  const GroupState& g = state.groups[group];
  Slot& s = state.slots[slots::index_of(state, group, m.generation)];
  const bool newer = s.used && (s.generation >= m.generation || !s.closed);
  if (newer || m.generation >= g.base || g.base - m.generation > state.limits.open_generations) return;
  s = Slot{};
  s.used = s.closed = true;
  s.generation = m.generation, s.operation = m.operation, s.root = m.root;
  s.state = Slot::State::kDone;
  s.verdict = m.verdict, s.ranks = m.ranks;
}

void conclude(NodeState& state, std::uint32_t slot, Verdict verdict, const RankSet& ranks, Nanoseconds now) {
  Slot& s = state.slots[slot];
  if (s.state != Slot::State::kOpen) return;
  if (verdict != Verdict::kOk || s.streams_open == 0) presence::end_waiting(state, slot);
  s.state = Slot::State::kDone;
  s.verdict = verdict, s.ranks = ranks, s.ended_at = now;
  stragglers::on_end(state, slot);
  flight_log::note(state, slot, FlightEvent::Kind::kVerdict, now, static_cast<std::uint8_t>(verdict));
  s.frozen = false;
  s.due = kNever;
  --state.operations_open;
  ++(verdict == Verdict::kOk ? state.counters.operations_ok : state.counters.operations_failed);
  if (verdict != Verdict::kOk) transfers::give_up_payload(state, slot, now);
  answer_calls(state, slot, now);
  close_if_through(state, slot, now);
  // Calls that rejoin were held above, and others pass when there is a slot; the window may not have moved.
  retry_held(state, slots::group_of(state, slot), now);
}

void sync_window(NodeState& state, std::uint32_t group, Generation base, Nanoseconds now) {
  GroupState& g = state.groups[group];
  if (base <= g.global_base) return;
  g.global_base = base;
  const Generation from = g.base;
  for (std::uint32_t k = 0; k < state.limits.open_generations && from + k < base; ++k) {
    const std::uint32_t slot = slots::index_of(state, group, from + k);
    Slot& s = state.slots[slot];
    if (!slots::holds(s, from + k)) continue;
    // Only the release, or the verdict, may be late where we have arrived or were asked: ask how it ended. A payload
    // that nobody here has collected yet stays until its slot is needed.
    if (s.called || s.frozen)
      slots::set_due(state, s, now);
    else
      conclude(state, slot, Verdict::kStale, {}, now);
  }
  g.base = std::max(g.base, base);
  on_window_moved(state, group, now);
}

void skip_to(NodeState& state, std::uint32_t group, Generation base, Nanoseconds now) {
  GroupState& g = state.groups[group];
  const Generation from = g.base;
  for (std::uint32_t k = 0; k < state.limits.open_generations && from + k < base; ++k) {
    const std::uint32_t slot = slots::index_of(state, group, from + k);
    if (slots::holds(state.slots[slot], from + k)) conclude(state, slot, Verdict::kStale, {}, now);
  }
  g.base = std::max(g.base, base);
  on_window_moved(state, group, now);
}

PeerMessage message_about(const NodeState& state, std::uint32_t slot, PeerMessageType type) {
  const Slot& s = state.slots[slot];
  const GroupState& g = state.groups[slots::group_of(state, slot)];
  PeerMessage m = groups::message_of(g, type);
  m.generation = s.generation, m.operation = s.operation, m.root = s.root, m.charged = s.charged;
  m.choice = s.choice, m.element = s.type, m.op = s.op;
  m.total_bytes = s.total_bytes, m.segment_bytes = s.segment_bytes;
  m.label = abandon::label_of(g, s.generation);
  return m;
}

void pump(NodeState& state, std::uint32_t slot, Nanoseconds now) {
  Slot& s = state.slots[slot];
  if (s.state != Slot::State::kOpen || s.frozen || !epochs::runs(slots::group(state, slot))) return;
  transfers::send_what_is_ready(state, slot, now);
  // Who hands out data is through when it is on its way, if its receivers have all before, else when they have it: that
  // is what pushes back on a fast sender. Those who pass on what they get need not wait for that.
  const bool passes_on = is_push(s.operation) && !slots::is_source(state, slot);
  const bool awaits = s.streams_open > 0 && !passes_on && !streams::may_end_early(state, slot);
  if (!s.shape_known || !state.engine->finished(slot) || awaits) return;
  if (transfers::waits_for_model_time(state, slot, state.engine->latest_not_before(slot), now)) return;
  if (slots::tells_window(slots::group(state, slot), s)) window::note_barrier(state, slot);
  if (local_data::prepare_result(state, slot)) conclude(state, slot, Verdict::kOk, {}, now);
}

void pump_all(NodeState& state, Nanoseconds now) {
  for (std::uint32_t group = 0; group < state.groups.size(); ++group) {
    const GroupState& g = state.groups[group];
    if (!g.used) continue;
    const Generation first = g.base;  // moves on as operations end
    for (std::uint32_t k = 0; k < state.limits.open_generations; ++k)
      pump(state, slots::index_of(state, group, first + k), now);
    for (std::uint32_t k = 0; k < state.limits.open_generations; ++k) {
      streams::tell_what_is_owed(state, slots::index_of(state, group, k), now);
      transfers::tell_failure(state, slots::index_of(state, group, k), now);
    }
    on_window_moved(state, group, now);
  }
}

void give_up_streams(NodeState& state, std::uint32_t group, NodeId to, Generation before, Nanoseconds now) {
  for (const Slot& s : groups::slots_of(state, group)) {
    if (s.state != Slot::State::kDone || s.streams_open == 0 || s.generation >= before) continue;
    const auto slot = static_cast<std::uint32_t>(&s - state.slots.data());
    streams::give_up_sends(state, slot, to, now);
    close_if_through(state, slot, now);
  }
}

void on_window(NodeState& state, std::uint32_t group, NodeId from, const PeerMessage& m, Nanoseconds now) {
  const GroupState& g = state.groups[group];
  if (m.epoch != g.epoch || !epochs::takes_in(g)) return;
  const bool of_barrier = m.type == PeerMessageType::kTransfer && m.operation == Operation::kBarrier;
  if (!of_barrier || g.routers > 0) window::note_child(state, group, m.source, m.completed);
  // Who is beyond a generation wants no stream of it: it may have forgotten to decline one, with the slot.
  if (m.type == PeerMessageType::kWindow) give_up_streams(state, group, from, m.window_base, now);
  if (m.window_base > g.global_base)
    sync_window(state, group, m.window_base, now);
  else
    on_window_moved(state, group, now);
}

Nanoseconds deadline_of(const NodeState& state, const Slot& s) {
  Nanoseconds earliest = kNever;
  for (std::uint32_t i = s.first_call; i != kNoRequest; i = state.requests->at(i).next)
    earliest = std::min(earliest, state.requests->at(i).call.deadline);
  return earliest;
}

bool repeat(NodeState& state, std::uint32_t slot, Nanoseconds now) {
  Slot& s = state.slots[slot];
  s.frozen = s.arrived_when_frozen = s.blocked = s.compared = false;
  s.lost = kNoRank, s.answer_owed = kNoNode;
  s.coordinators_tried = 0, s.asked_at = 0;
  s.activated_at = s.first_send_at = 0;
  s.resume_at = s.due = kNever;
  stragglers::on_repeat(state, slot, now);
  slots::set_due(state, s, s.passed ? now : deadline_of(state, s));
  abandon::lose_again(state, slot);
  comparison::begin(state, slot, now);
  return transfers::set_shape(state, slot, message_about(state, slot, PeerMessageType::kTransfer));
}

void retry_calls(NodeState& state, std::uint32_t group, Nanoseconds now) { retry_held(state, group, now); }

void begin_at(NodeState& state, std::uint32_t group, Generation base, Nanoseconds now) {
  GroupState& g = state.groups[group];
  for (Slot& s : groups::slots_of(state, group)) {
    const auto slot = static_cast<std::uint32_t>(&s - state.slots.data());
    conclude(state, slot, Verdict::kStale, {}, now);
    if (s.used && !s.closed) transfers::give_up_payload(state, slot, now), close(state, slot);
    s = Slot{};
    state.engine->forget(slot);
  }
  g.base = g.global_base = base;
  for (std::uint32_t i = 0; i < state.requests->size(); ++i) {  // numbered by what was true before
    Request& r = state.requests->at(i);
    const bool numbered =
        r.state == Request::State::kHeld && r.group == group && r.call.generation.value_or(base) != base;
    if (!numbered) continue;
    --g.held;
    r.passes ? state.requests->release(i) : refuse_call(state, i, Verdict::kStale);
  }
}

void cancel_all(NodeState& state, std::uint32_t group, Nanoseconds now) {
  for (std::uint32_t i = 0; i < state.requests->size(); ++i) {
    Request& r = state.requests->at(i);
    const bool waits = r.state == Request::State::kHeld || r.state == Request::State::kScheduled;
    if (!waits || r.group != group) continue;
    r.passes ? state.requests->release(i) : refuse_call(state, i, Verdict::kCancelled);
  }
  state.groups[group].held = 0;
  for (Slot& s : groups::slots_of(state, group)) {
    const auto slot = static_cast<std::uint32_t>(&s - state.slots.data());
    for (std::uint32_t i = s.first_call; i != kNoRequest; i = state.requests->at(i).next)
      state.requests->at(i).call.generation = s.generation;  // nobody rejoins
    conclude(state, slot, Verdict::kCancelled, {}, now);
    if (s.state == Slot::State::kDone && !s.closed) {
      transfers::give_up_payload(state, slot, now);
      close(state, slot);
    }
  }
}

}  // namespace fibocast::operations
