// Groups that exist by their name alone (groups.h) and that nobody uses just now: when the table is full, the one that
// was used longest ago makes place for another. How far it was is remembered, and it goes on from there when somebody
// opens or calls it here, or another member does; so names can be used without end, as of jobs that each have barriers
// of their own. Limits::dormant_groups are remembered: a name that comes back after more others begins anew, as at a
// node that was started again. Created groups stay in the table until they are removed. Core.
#pragma once

#include "runtime/node/node_state.h"

namespace fibocast::dormant {

// One of the table's groups can make place.
bool can_set_aside(const NodeState& state);
// ... if not now, then when peers that are here anew have heard how far it is.
bool can_soon(const NodeState& state);
// It does: its index, where nothing is now. kNoIndex: none can.
std::uint32_t set_aside(NodeState& state);
// The group with this id is in the table again: it goes on where it was set aside, if it was.
void recall(NodeState& state, std::uint32_t group);
// It was set aside, and comes back when it is used.
bool is_asleep(const NodeState& state, GroupId id);
// Index of the group, which is in the table again if it was set aside; kNoIndex: it is not known, or there is no place.
std::uint32_t find_or_wake(NodeState& state, GroupId id);
// ... which of the two.
Admission why_none(const NodeState& state, GroupId id);
// It was removed.
void forget(NodeState& state, GroupId id);
// The message is about a group that was set aside, and tells nothing that it has not been through with.
bool is_behind(const NodeState& state, const PeerMessage& m);

}  // namespace fibocast::dormant
