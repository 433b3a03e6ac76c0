// What a node tells a peer that is here anew, before anything else about a group: the definition, if the group was
// created, and which generation is open. So a restarted daemon takes part in all its groups from the next generation
// on. Core.
#pragma once

#include "runtime/node/node_state.h"

namespace fibocast::greetings {

// The peer has connected, for the first time or as a new incarnation.
void on_newcomer(NodeState& state, NodeId peer);
// We have read the cluster's file again. Who has done so before has told us of groups that we did not know, and is to
// tell us once more.
void begin_telling_of_adoption(NodeState& state);
// The peer has.
void on_adopted(NodeState& state, NodeId peer);
// The members that are connected are told of this group as newcomers are.
void tell_members_again(NodeState& state, std::uint32_t group);
// It does not know this group, or not any more: who told it of the group's other members may not have reached it.
void on_unknown(NodeState& state, NodeId peer, std::uint32_t group, Nanoseconds now);
// It has this group now, or cannot take it.
void on_answer(NodeState& state, NodeId peer, std::uint32_t group);
// We are the newcomer: the generations before are over, unless an application here has opened the group already, and
// they were not before this node was started (former_life.h).
void on_rejoin(NodeState& state, std::uint32_t group, const PeerMessage& m, Nanoseconds now);
// The peer knows the group as far as it ever will: messages about it may be sent.
bool is_over(const NodeState& state, NodeId peer, std::uint32_t group);
// Goes on with greetings that waited for channels, and tells again what was not answered.
void pump(NodeState& state, Nanoseconds now);

}  // namespace fibocast::greetings
