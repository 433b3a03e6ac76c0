#include "runtime/node/doubts.h"

#include <algorithm>
#include <utility>

#include "runtime/node/epochs.h"
#include "runtime/node/groups.h"
#include "runtime/node/judgement.h"
#include "runtime/node/operations.h"
#include "runtime/node/peers.h"
#include "runtime/node/slots.h"
#include "runtime/node/transfers.h"
#include "runtime/node/verdicts.h"

namespace fibocast::doubts {

namespace {

bool is_missing(NodeState& state, std::uint32_t slot, std::uint32_t index, const Stage& stage) {
  const bool comes = slots::transfer_states(state, slot)[index].stream != TransferState::Stream::kNone;
  return !comes && !state.engine->is_in(slot, index, stage.repeat);
}

// Who is handed something out does not know its parent before the first message; the source sends to all.
template <class Function>
void each_missing(NodeState& state, std::uint32_t slot, Function function) {
  const Slot& s = state.slots[slot];
  if (is_push(s.operation)) return function(groups::node_of(slots::group(state, slot), s.root));
  const RankSchedule schedule = state.engine->schedule(slot);
  for (const Stage& stage : schedule.stages)
    for (std::uint32_t i = 0; i < stage.receives; ++i) {
      const std::uint32_t index = stage.first_transfer + i;
      if (is_missing(state, slot, index, stage))
        function(transfers::node_of(state, slot, schedule.transfers[index].peer));
    }
}

bool data_comes(const Slot& s) { return is_push(s.operation) && s.shape_known; }

// Nothing has failed yet.
bool merely_waits(const NodeState& state, const Slot& s, Nanoseconds now) {
  const bool failed = s.lost != kNoRank || s.frozen || s.reason != Verdict::kPending || s.asked_at != 0;
  return s.first_call != kNoRequest && !failed && operations::deadline_of(state, s) > now;
}

bool has_any(NodeState& state, std::uint32_t slot, Nanoseconds now) {
  const Slot& s = state.slots[slot];
  const GroupState& g = slots::group(state, slot);
  if (g.doubted == kNoRank || s.generation >= g.doubted_until) return false;
  if (s.operation == Operation::kBarrier || slots::is_source(state, slot)) return false;
  return !data_comes(s) && merely_waits(state, s, now);
}

}  // namespace

void tell_missing(NodeState& state, std::uint32_t slot, const PeerMessage& m, Nanoseconds now) {
  each_missing(state, slot, [&](NodeId node) {
    if (peers::connected(state, node)) peers::send(state, node, m, true, now);
  });
}

namespace {

void ask(NodeState& state, std::uint32_t slot, Nanoseconds now) {
  Slot& s = state.slots[slot];
  PeerMessage m = operations::message_about(state, slot, PeerMessageType::kDoubt);
  m.ranks.add(slots::group(state, slot).doubted);
  tell_missing(state, slot, m, now);  // who is not connected, when it is asked again
  s.due = kNever, s.doubted = true;
  slots::set_due(state, s, std::min(operations::deadline_of(state, s), now + state.settings.suspicion));
}

// It was due for a doubt alone, which has settled.
bool are_settled(NodeState& state, std::uint32_t slot, Nanoseconds now) {
  Slot& s = state.slots[slot];
  const bool doubted = std::exchange(s.doubted, false);
  const bool is_over_elsewhere = s.generation < slots::group(state, slot).global_base || s.delivered > 0;
  if (!doubted || is_over_elsewhere || !data_comes(s) || !merely_waits(state, s, now)) return false;
  s.due = kNever;
  slots::set_due(state, s, operations::deadline_of(state, s));
  return true;
}

}  // namespace

void begin(NodeState& state, std::uint32_t group, Rank lost, Nanoseconds now) {
  GroupState& g = state.groups[group];
  g.doubted = lost;
  g.doubted_until = g.base + state.limits.open_generations;
  for (Slot& s : groups::slots_of(state, group)) {
    if (s.state != Slot::State::kOpen) continue;
    const auto slot = static_cast<std::uint32_t>(&s - state.slots.data());
    look_at_call(state, slot, kNever, now);
  }
}

void look_at_call(NodeState& state, std::uint32_t slot, Nanoseconds deadline, Nanoseconds now) {
  Slot& s = state.slots[slot];
  const bool doubted = has_any(state, slot, now);
  s.doubted = s.doubted || doubted;
  slots::set_due(state, s, doubted ? now : deadline);
}

bool on_due(NodeState& state, std::uint32_t slot, Nanoseconds now) {
  const bool any = has_any(state, slot, now);
  if (any) ask(state, slot, now);
  return any || are_settled(state, slot, now);
}

void on_doubt(NodeState& state, std::uint32_t group, NodeId from, const PeerMessage& m, Nanoseconds now) {
  if (!judgement::is_member(state.groups[group], from, m)) return;
  const std::uint32_t slot = operations::recorded_slot(state, group, m.generation);
  if (slot == kNoIndex) {
    if (m.generation < state.groups[group].base) verdicts::tell_forgotten(state, group, from, m, now);
    return;
  }
  const Slot& s = state.slots[slot];
  if (s.verdict != Verdict::kOk || s.operation == Operation::kBarrier)
    return void(verdicts::tell_recorded(state, slot, from, now, Verdict::kPeerLost, m.ranks));
  if (s.streams_open == 0 && now - s.ended_at >= state.settings.suspicion)
    verdicts::tell_all(state, slot, from, Verdict::kPeerLost, m.ranks, now);
}

}  // namespace fibocast::doubts
