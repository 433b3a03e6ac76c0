// Which groups were removed: a member that was away meanwhile still has them, and would bring them back with its
// greetings. So the last creations that were removed are remembered, told to whoever connects, before anything else
// about groups, and to whoever defines one of them again. Core.
#pragma once

#include "runtime/node/node_state.h"

namespace fibocast::removals {

// Of an older node's message, or of a group that an older node created, the creation is not known: then the name says
// which group is meant.
inline bool may_be_same(CreationId a, CreationId b) { return a == b || a == kUnknownCreation || b == kUnknownCreation; }

// Of the creation that a message says is no more.
inline GroupEnd why(const PeerMessage& m) { return m.unfinished ? GroupEnd::kNeverMade : GroupEnd::kRemoved; }

void note(NodeState& state, CreationId creation, GroupEnd why);
bool is_removed(const NodeState& state, CreationId creation);
bool was_never_made(const NodeState& state, CreationId creation);
// The peer is to hear of all that is remembered by now; not of what others tell us meanwhile, as these tell it, too,
// and it may be the one.
void begin_telling(const NodeState& state, Peer& peer);
// True: it has heard of them; else there is no room just now.
bool tell(NodeState& state, Peer& peer, Nanoseconds now);

}  // namespace fibocast::removals
