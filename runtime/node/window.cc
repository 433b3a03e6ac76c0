#include "runtime/node/window.h"

#include <algorithm>

#include "runtime/node/epochs.h"
#include "runtime/node/groups.h"
#include "runtime/node/peers.h"
#include "runtime/node/presence.h"
#include "runtime/node/slots.h"

namespace fibocast::window {

namespace {

PeerMessage window_message(const GroupState& g, Generation completed) {
  PeerMessage m = groups::message_of(g, PeerMessageType::kWindow);
  m.completed = completed;
  return m;
}

// Values between two multiples wait: at a standstill every level has told the last multiple, so nothing is stuck.
Generation last_multiple(const Limits& limits, Generation generation) {
  return generation - generation % std::max<Generation>(limits.open_generations / 2, 1);
}
// Few wait too, as the next barrier tells all but the last one by itself: as long as all that was called since can have
// ended without anybody's window being full. Whoever is to go on is told the last multiple before that.
bool is_worth_telling(const NodeState& state, std::uint32_t group, Generation told, Generation now) {
  const Limits& limits = state.limits;
  if (state.groups[group].base - told < limits.open_generations / 2) return false;
  return last_multiple(limits, now) > last_multiple(limits, told);
}

// A barrier under way will carry the news, unless it cannot end before somebody has heard them: of what was told,
// those further away know the last multiple only.
bool barrier_tells(const NodeState& state, std::uint32_t group, Generation told) {
  const GroupState& g = state.groups[group];
  const Slot& s = state.slots[slots::index_of(state, group, g.base)];
  const bool open = slots::holds(s, g.base) && s.state == Slot::State::kOpen;
  return open && slots::tells_window(g, s) &&
         g.base - last_multiple(state.limits, told) < state.limits.open_generations;
}

// The least of this node's base and of what its children told. `s`: the window's schedule.
Generation least_base(NodeState& state, std::uint32_t group, const RankSchedule& s) {
  Generation base = state.groups[group].base;
  for (std::uint32_t k = 0; k < s.stages[0].receives; ++k) base = std::min(base, groups::child_bases(state, group)[k]);
  return base;
}

void tell_parent(NodeState& state, std::uint32_t group, const RankSchedule& s, Generation base, Nanoseconds now) {
  GroupState& g = state.groups[group];
  if (s.stages[0].sends == 0 || !is_worth_telling(state, group, g.reported, base)) return;
  if (barrier_tells(state, group, g.reported)) return;
  const Rank parent = groups::rank_at(g, s.sends(s.stages[0])[0].peer);
  if (peers::send(state, groups::node_of(g, parent), window_message(g, base), true, now)) g.reported = base;
}

// Each child by itself: one may hear an older value than the next, when the base moves while a channel is full.
void tell_children(NodeState& state, std::uint32_t group, const RankSchedule& s, Nanoseconds now) {
  const GroupState& g = state.groups[group];
  const std::span<const Transfer> children = s.sends(s.stages[1]);
  for (std::uint32_t k = 0; k < children.size(); ++k) {
    Generation& told = groups::child_windows(state, group)[k];
    if (!is_worth_telling(state, group, told, g.global_base) || barrier_tells(state, group, told)) continue;
    const NodeId child = groups::node_of(g, groups::rank_at(g, children[k].peer));
    if (peers::send(state, child, window_message(g, 0), true, now))
      told = g.global_base;  // else again when that channel has room
  }
}

}  // namespace

Generation subtree_base(NodeState& state, std::uint32_t group) {
  return least_base(state, group, groups::window_schedule(state, group));
}

void note_child(NodeState& state, std::uint32_t group, Rank child, Generation completed) {
  const RankSchedule s = groups::window_schedule(state, group);
  const auto receives = s.receives(s.stages[0]);
  const Rank position = groups::position_of(state.groups[group], child);
  for (std::uint32_t k = 0; k < receives.size(); ++k) {
    Generation& known = groups::child_bases(state, group)[k];
    if (receives[k].peer == position) known = std::max(known, completed);
  }
}

void note_barrier(NodeState& state, std::uint32_t slot) {
  const std::uint32_t group = slots::group_of(state, slot);
  GroupState& g = state.groups[group];
  const Generation base = std::min(state.slots[slot].least, g.base);
  const RankSchedule s = groups::window_schedule(state, group);
  const auto raise = [base](Generation& known) { known = std::max(known, base); };
  raise(g.global_base), raise(g.reported);
  for (std::uint32_t k = 0; k < s.stages[0].receives; ++k) raise(groups::child_bases(state, group)[k]);
  for (std::uint32_t k = 0; k < s.stages[1].sends; ++k) raise(groups::child_windows(state, group)[k]);
}

void tell_again(NodeState& state, std::uint32_t group, NodeId newcomer) {
  GroupState& g = state.groups[group];
  const RankSchedule s = groups::window_schedule(state, group);
  if (s.stages.empty()) return;
  const Rank rank = g.members.index_of(newcomer);
  if (rank == kNoRank || !groups::is_live(g, rank)) return;
  groups::inquiry_members(state, group)[rank].lacks = false;
  const Rank position = groups::position_of(g, rank);
  if (s.stages[0].sends > 0 && s.sends(s.stages[0])[0].peer == position) g.reported = 0;
  const std::span<const Transfer> children = s.sends(s.stages[1]);
  for (std::uint32_t k = 0; k < children.size(); ++k)
    if (children[k].peer == position) groups::child_windows(state, group)[k] = 0;
}

void probe_awaited(NodeState& state, std::uint32_t group, Nanoseconds now) {
  const GroupState& g = state.groups[group];
  const RankSchedule s = groups::window_schedule(state, group);
  if (s.stages.empty()) return;
  const auto probe = [&](Rank position) {
    presence::probe(state, groups::node_of(g, groups::rank_at(g, position)), now);
  };
  const auto children = s.receives(s.stages[0]);
  for (std::uint32_t k = 0; k < children.size(); ++k)
    if (groups::child_bases(state, group)[k] <= g.global_base) probe(children[k].peer);
  if (s.stages[0].sends > 0) probe(s.sends(s.stages[0])[0].peer);
}

void advance(NodeState& state, std::uint32_t group, Nanoseconds now) {
  GroupState& g = state.groups[group];
  if (g.rank == kNoRank || !epochs::runs(g) || !groups::is_live(g, g.rank)) return;
  const RankSchedule s = groups::window_schedule(state, group);
  const Generation base = least_base(state, group, s);
  if (groups::position_of(g, g.rank) == 0 && base > g.global_base) g.global_base = base;
  tell_parent(state, group, s, base, now);
  tell_children(state, group, s, now);
}

}  // namespace fibocast::window
