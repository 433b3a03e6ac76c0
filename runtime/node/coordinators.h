// Who decides how a generation ended: the lowest rank from the operation's root onwards that we are connected to, and
// the next one when it has not answered for the suspicion time (PROTOCOL 8). Core.
#pragma once

#include "runtime/node/node_state.h"

namespace fibocast::coordinators {

// kNoNode: wait a little, for two coordinators at a time might find two verdicts.
NodeId choose(NodeState& state, std::uint32_t slot, Nanoseconds now);
// A coordinator that asks us lives: it is the next one we turn to, not one after it.
void trust(NodeState& state, std::uint32_t slot, NodeId living);

}  // namespace fibocast::coordinators
