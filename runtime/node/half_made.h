// A group is there at all of its members, or at none. Its maker asks them all, and tells them when they have it. If the
// maker is lost before, each member that has taken the definition takes this upon itself: it tells the other members,
// as it would newcomers, until all have it. If one cannot take it, the group is removed, as its maker would have done.
// Whoever makes the group of an older node is not known to owe anything. Core.
#pragma once

#include "runtime/node/node_state.h"

namespace fibocast::half_made {

// The node is gone, or has begun anew: what it owed to others, we owe.
void on_lost(NodeState& state, NodeId node);
// A member has taken, or refused, what we have told it of a group that we owe.
void on_answer(NodeState& state, std::uint32_t group, NodeId from, const PeerMessage& m, Nanoseconds now);
// All members have it, and are told so. Who does not hear of it asks them, if it loses who owes it.
void finish(NodeState& state, std::uint32_t group, Nanoseconds now);
void on_made(NodeState& state, CreationId creation);
// The same creation is defined to us once more: one of us may know that all have it.
void compare(NodeState& state, std::uint32_t group, NodeId from, const PeerMessage& m, Nanoseconds now);

}  // namespace fibocast::half_made
