// The life of groups: opened by name, created with a definition that travels to the members, removed. Core.
#pragma once

#include <string_view>

#include "runtime/node/node_state.h"

namespace fibocast::group_admin {

Admission open(NodeState& state, std::string_view name, std::uint32_t participants, GroupId& id,
               Generation& generation);
Admission create(NodeState& state, const GroupDefinition& definition, std::uint64_t cookie, Nanoseconds now);
Admission remove(NodeState& state, std::string_view name, Nanoseconds now);
// Tells all members that it is removed.
void begin_removal(NodeState& state, std::uint32_t group, GroupEnd why, Nanoseconds now);

// The definition, then the pieces of its tree, from message number `told` on, as far as the channel has room. True:
// all.
bool tell_definition(NodeState& state, const GroupState& g, NodeId to, std::uint8_t& told, Nanoseconds now);
// The answer to the peer's definition for which its channel had no room. True: nothing is owed any more.
bool send_owed_answer(NodeState& state, Peer& peer, Nanoseconds now);
// A group of this name was defined to us. The group of all nodes that has it too is dropped, if nothing is over in it:
// whoever opened it did not know of the other one, and would wait there for ever. He opens the name again.
void drop_default(NodeState& state, std::string_view name, Nanoseconds now);
void on_define(NodeState& state, NodeId from, const PeerMessage& m, Nanoseconds now);
// A piece of the given tree of a definition: the last one is answered as the definition.
void on_tree(NodeState& state, NodeId from, const PeerMessage& m, Nanoseconds now);
void on_answer(NodeState& state, NodeId from, const PeerMessage& m, Nanoseconds now);
void on_remove(NodeState& state, const PeerMessage& m, Nanoseconds now);
// It was removed while we were away.
void on_removed(NodeState& state, const PeerMessage& m, Nanoseconds now);
// Goes on with definitions and removals that wait for channels or answers.
void pump(NodeState& state, std::uint32_t group, Nanoseconds now);

}  // namespace fibocast::group_admin
