// A new plan for a group that goes on: its network was measured anew, or the operator knows better (PROTOCOL 9). Core.
//
// No operation ends for it: the members agree on a generation from which on it holds.
//   hold         each member takes part in no lower number of an epoch, calls nothing that nobody has called there yet,
//                and says from which generation on
//   drain        the highest of these is the generation: all go up to it, and say when they are through
//   install, go  as in every change of the epoch (epochs.h), with the same members
// The member that was asked leads. If one is lost, or does not come to its end within the suspicion time, calls go on,
// and it is tried again until NodeSettings::group_patience is over. A node leads one such change at a time.
#pragma once

#include <string_view>

#include "runtime/node/node_state.h"

namespace fibocast::replan {

// Event::kGroupReady when all members have the plan. Refused: no group that was created (kUnknownGroup), a given tree
// or one with more children than Limits::transfers (kNoPlan), a group with routers, with more than
// kMostShrinkingMembers, or on an emulated card (kBadPolicy).
Admission begin(NodeState& state, std::string_view name, const Plan& plan, std::uint64_t cookie, Nanoseconds now);

// The generation may not be called yet. Generations wrap: only their distance counts.
inline bool holds(const GroupState& g, Generation generation) {
  return g.hold.number != 0 && static_cast<std::int32_t>(generation - g.hold.limit) >= 0;
}
// By which plan the epoch will be that this node leads.
inline const Plan& plan_of(const NodeState& state, std::uint32_t group) {
  const Replanning& r = state.replanning;
  const bool brings = r.phase == Replanning::Phase::kSwitching && r.group == group;
  return brings && r.number == state.groups[group].change.promised ? r.plan : state.groups[group].plan;
}
// Calls go on as before.
void release(NodeState& state, std::uint32_t group, Nanoseconds now);
// All that was called before is over, and nothing else has begun: the plan may change.
bool is_through(const GroupState& g, Epoch number);

void on_hold(NodeState& state, std::uint32_t group, const PeerMessage& m, Nanoseconds now);
void on_held(NodeState& state, std::uint32_t group, const PeerMessage& m, Nanoseconds now);
// Goes on with what waited for channels, operations or time.
void pump(NodeState& state, std::uint32_t group, Nanoseconds now);
// What it has told us, or we it, may be lost.
void on_lost(NodeState& state, std::uint32_t group, NodeId node, Nanoseconds now);
// The group is removed.
void forget(NodeState& state, std::uint32_t group);

}  // namespace fibocast::replan
