#include "runtime/node/stragglers.h"

#include <algorithm>

#include "collectives/barrier.h"
#include "runtime/node/slots.h"

namespace fibocast::stragglers {

namespace {

// The root of the trees has heard of all ranks; without a root everybody compares for himself.
bool is_release(const Slot& s, const PeerMessage& m) {
  return s.choice.algorithm == Algorithm::kTrees && m.stage == kBarrierDistributionStage;
}

std::span<SlowRank> rows_of(const NodeState& state, std::uint32_t group) {
  return state.slow_ranks.subspan(std::size_t{group} * state.limits.slowest_ranks, state.limits.slowest_ranks);
}

// Its own row, a new one, or that of the least.
SlowRank& row_for(std::span<SlowRank> rows, std::uint32_t& used, Rank rank) {
  for (SlowRank& row : rows.first(used))
    if (row.rank == rank) return row;
  if (used < rows.size()) return rows[used++] = SlowRank{.rank = rank};
  SlowRank& least = *std::min_element(rows.begin(), rows.end(), [](const SlowRank& a, const SlowRank& b) {
    return a.total + a.unseen < b.total + b.unseen;
  });
  return least = SlowRank{.rank = rank, .unseen = least.total + least.unseen};
}

}  // namespace

void on_call(NodeState& state, std::uint32_t slot, Nanoseconds now) {
  Slot& s = state.slots[slot];
  if (s.operation == Operation::kBarrier) s.last_arrival.add({slots::group(state, slot).rank, kNever}, now);
}

void on_repeat(NodeState& state, std::uint32_t slot, Nanoseconds now) {
  Slot& s = state.slots[slot];
  s.last_arrival = {};
  if (s.called) on_call(state, slot, now);
}

void on_token(NodeState& state, std::uint32_t slot, const PeerMessage& m, Nanoseconds now) {
  Slot& s = state.slots[slot];
  const GroupState& g = slots::group(state, slot);
  const bool is_member = m.straggler.rank < groups::defined_participants(g) && groups::is_live(g, m.straggler.rank);
  if (s.operation != Operation::kBarrier || !is_member) return;
  if (is_release(s, m))
    s.last_arrival.settle(m.straggler);
  else
    s.last_arrival.add(m.straggler, now);
}

void on_end(NodeState& state, std::uint32_t slot) {
  Slot& s = state.slots[slot];
  if (s.operation != Operation::kBarrier) return;
  if (s.verdict != Verdict::kOk || !state.engine->activated(slot)) s.last_arrival = {};
  const Straggler straggler = answer_of(s);
  if (straggler.rank == kNoRank) return;
  ++state.counters.stragglers;
  const std::uint32_t group = slots::group_of(state, slot);
  count(rows_of(state, group), state.groups[group].slow_used, straggler);
}

Straggler answer_of(const Slot& slot) {
  const Straggler found = slot.last_arrival.straggler();
  return found.late_by == kNever ? Straggler{} : found;
}

std::span<const SlowRank> slowest(const NodeState& state, std::uint32_t group) {
  return rows_of(state, group).first(state.groups[group].slow_used);
}

void count(std::span<SlowRank> rows, std::uint32_t& used, const Straggler& straggler) {
  if (rows.empty()) return;
  SlowRank& row = row_for(rows, used, straggler.rank);
  ++row.times;
  row.total += straggler.late_by;
  row.largest = std::max(row.largest, straggler.late_by);
}

}  // namespace fibocast::stragglers
