// Applications that die in an operation. What they have called stands, and their place in it is kept for a time of
// grace (NodeSettings::client_grace): who makes the same call again takes the place, and gets the answer. A place that
// stays empty is lost for its generation: the node asks for the verdict kCallerLost with its own rank, by the same
// freezing as for a node that is lost (PROTOCOL 8). The node lives on. Core.
//
// What has gone up the tree cannot be taken back: if one member has completed the operation, it ends as OK for all.
#pragma once

#include <optional>

#include "runtime/node/node_state.h"

namespace fibocast::abandon {

// Who made this call is gone; `newest_client` came last before that.
void begin(NodeState& state, std::uint64_t cookie, std::string_view label, std::uint32_t newest_client,
           Nanoseconds now);
// A new call that is the same as one whose caller has died goes on in its place. False: there is none.
bool take_place(NodeState& state, std::uint32_t group, const Call& call);
// The answer, just polled, waits for who takes the place: it is not to be released yet.
bool keep_answer(NodeState& state, std::uint32_t request);
// The lowest generation of a place that waits to be taken, where a participant who comes (back) now begins.
std::optional<Generation> generation_to_take(NodeState& state, std::uint32_t group);
// The group is no more: nobody comes back to it, nor to the next one that is kept in its place.
void forget_group(NodeState& state, std::uint32_t group);
// The grace of some is over.
void on_timer(NodeState& state, Nanoseconds now);
// This node's part in the slot's generation is lost, if no verdict was found before.
void lose(NodeState& state, std::uint32_t slot, Nanoseconds now);
// The slot's operation begins again in a new epoch: who has died in it is lost to that one too.
void lose_again(NodeState& state, std::uint32_t slot);

// The label of the call in which an application died, of this generation: told with every verdict on it.
ShortText label_of(const GroupState& g, Generation generation);
void hear(GroupState& g, const PeerMessage& m);

}  // namespace fibocast::abandon
