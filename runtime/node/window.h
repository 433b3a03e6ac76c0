// The window of open generations: the initiator of generation g + W waits until every member is done with g. How
// far the members are is told by each barrier's own messages, whatever its algorithm: who is through has heard of all,
// directly or not. Where W/2 generations pass without one, as in a group that does nothing but multicast, messages tell
// it, at every W/2-th: how far the members are goes up the barrier's tree, and the least of it down (PROTOCOL 7). Core.
#pragma once

#include "runtime/node/node_state.h"

namespace fibocast::window {

// The lowest generation that is not over in this node's part of the tree.
Generation subtree_base(NodeState& state, std::uint32_t group);
// A child of the reduction says how far its subtree is.
void note_child(NodeState& state, std::uint32_t group, Rank child, Generation completed);
// The barrier of this slot has ended by its messages, and so all other members hear, too, what those told.
void note_barrier(NodeState& state, std::uint32_t slot);
// This rank moved on, or heard of others: tells up and down what crossed a multiple of W/2. At rank 0 this moves
// GroupState::global_base.
void advance(NodeState& state, std::uint32_t group, Nanoseconds now);

// Whom the calls that wait for the window wait for: the parent, and the children whose part of the tree is behind.
void probe_awaited(NodeState& state, std::uint32_t group, Nanoseconds now);

// This peer is here anew and knows nothing of what was told before.
void tell_again(NodeState& state, std::uint32_t group, NodeId newcomer);

}  // namespace fibocast::window
