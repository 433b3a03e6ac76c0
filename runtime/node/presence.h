// Joins the failure detector to the node: whom an operation waits for is watched, who is lost is given up, and every
// operation it takes part in asks for its verdict at once. Nodes that have fewer channels than the cluster has nodes
// have no detector. Core.
#pragma once

#include "runtime/node/node_state.h"

namespace fibocast::presence {

// -- events
void start(NodeState& state, Nanoseconds now);
// It is a new incarnation, or has given us up meanwhile: what was under way is lost. Before on_connected().
void on_restarted(NodeState& state, NodeId peer, Nanoseconds now);
void on_connected(NodeState& state, NodeId peer, Nanoseconds now);
// A frame of the peer as it is now.
inline void on_heard(NodeState& state, NodeId peer, Nanoseconds now) {
  if (state.detector != nullptr) state.detector->heard(peer, now);
}
// Its address refuses what is sent there, or its connection broke.
void on_refused(NodeState& state, NodeId peer, Nanoseconds now);
void on_reset(NodeState& state, NodeId peer, Nanoseconds now);
void on_news(NodeState& state, NodeId from, const PeerMessage& m, Nanoseconds now);
// This node ends: its peers are told, and need not wait for the suspicion time.
void leave(NodeState& state, Nanoseconds now);
void on_timer(NodeState& state, Nanoseconds now);
// Sends probes and news, and acts on what is believed anew.
void pump(NodeState& state, Nanoseconds now);

// -- operations
// From arrival until the end the peers that this slot's schedule receives from, or hands data to, are waited for;
// at the latest until the last of them has what it was sent.
void begin_waiting(NodeState& state, std::uint32_t slot, Nanoseconds now);
void stop_waiting(NodeState& state, std::uint32_t slot);
inline void end_waiting(NodeState& state, std::uint32_t slot) {
  if (state.slots[slot].waiting) stop_waiting(state, slot);
}
// Something waits for this node just now: it is probed, unless it was heard lately or is asked already.
void probe(NodeState& state, NodeId node, Nanoseconds now);
// A member of the group that is lost now, the lowest rank; kNoRank: none.
Rank lost_member(const NodeState& state, std::uint32_t group);
bool is_lost(const NodeState& state, NodeId node);
// ... or it never came to us, and others have lost it.
bool is_lost_to_somebody(const NodeState& state, NodeId node);

}  // namespace fibocast::presence
