#include "runtime/node/comparison.h"

#include "runtime/node/doubts.h"
#include "runtime/node/judgement.h"
#include "runtime/node/operations.h"
#include "runtime/node/slots.h"
#include "runtime/node/verdicts.h"

namespace fibocast::comparison {

bool agrees(const Slot& s, const PeerMessage& m) {
  if (!m.understood || s.operation != m.operation || s.root != m.root) return false;
  return !s.shape_known || s.operation == Operation::kBarrier
             ? s.operation != Operation::kBarrier || s.choice == m.choice
             : s.total_bytes == m.total_bytes && s.choice == m.choice && s.type == m.element && s.op == m.op;
}

void found_mismatch(NodeState& state, Slot& s, Nanoseconds now) {
  ++state.counters.mismatch;
  s.reason = Verdict::kMismatch;
  slots::set_due(state, s, now);
}

void begin(NodeState& state, std::uint32_t slot, Nanoseconds now) {
  Slot& s = state.slots[slot];
  if (!is_push(s.operation)) slots::wake_at(state, s, now + state.settings.suspicion);
}

void on_time(NodeState& state, std::uint32_t slot, Nanoseconds now) {
  Slot& s = state.slots[slot];
  if (s.state != Slot::State::kOpen || !s.called || s.compared || is_push(s.operation)) return;
  if (now - s.arrived_at < state.settings.suspicion) return begin(state, slot, s.arrived_at);
  s.compared = true;
  PeerMessage m = operations::message_about(state, slot, PeerMessageType::kCompare);
  if (!s.frozen) doubts::tell_missing(state, slot, m, now);
}

namespace {

// Somebody is beyond what waits here, and whom it waits for has perhaps been told meanwhile how that ended.
void ask_again(NodeState& state, std::uint32_t group, Generation beyond, Nanoseconds now) {
  for (const Slot& s : groups::slots_of(state, group)) {
    if (s.state != Slot::State::kOpen || !s.compared || s.generation >= beyond) continue;
    const auto slot = static_cast<std::uint32_t>(&s - state.slots.data());
    state.slots[slot].compared = false;
    begin(state, slot, now);
  }
}

}  // namespace

void on_message(NodeState& state, std::uint32_t group, NodeId from, const PeerMessage& m, Nanoseconds now) {
  if (!judgement::is_member(state.groups[group], from, m)) return;
  ask_again(state, group, m.generation, now);
  const std::uint32_t slot = slots::index_of(state, group, m.generation);
  Slot& s = state.slots[slot];
  const bool differs = slots::holds(s, m.generation) && !agrees(s, m);
  if (!differs && m.epoch == state.groups[group].epoch && operations::is_over(state, group, m.generation))
    return operations::answer_late(state, group, from, m, now);
  // Who has not called yet asks for itself when it waits.
  if (!slots::holds(s, m.generation) || !s.called || agrees(s, m)) return;
  const bool is_through =
      s.operation != Operation::kBarrier && s.verdict == Verdict::kOk;  // what it had to give is gone
  if (is_through) return verdicts::tell_all(state, slot, from, Verdict::kMismatch, {}, now);
  if (s.state != Slot::State::kOpen) return;
  operations::open_slot(state, group, m, now);  // notes what is not understood here
  found_mismatch(state, s, now);
}

}  // namespace fibocast::comparison
