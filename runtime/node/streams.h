// The bulk streams of an operation: each transfer of long data is announced to its receiver, and its beginning, or all
// of it, follows at once; the receiver grants the rest once it has the memory, and else declines (PROTOCOL 7). Core.
#pragma once

#include "runtime/node/node_state.h"

namespace fibocast::streams {

// What this slot hands out or passes on may be over here before its receivers have said that they have it: nothing
// older of the group is under way any more.
bool may_end_early(const NodeState& state, std::uint32_t slot);
// Announces the sends of the slot's schedule ahead of their data, in its order, while half of the streams to the peer
// are free: a stream whose data waits for others would keep those of another group from passing, and these the others.
void announce_sends(NodeState& state, std::uint32_t slot, Nanoseconds now);
// Announces this one, whose data is there, unless it has been. False: there is no room just now.
bool announce_ready(NodeState& state, std::uint32_t slot, std::uint32_t index, Nanoseconds now);
// Grants the receives that have been announced. Precondition: the slot has its memory.
void grant_receives(NodeState& state, std::uint32_t slot, Nanoseconds now);
// What was announced has no memory just now. What comes ahead of its grant would stop the lane, and with it what has
// memory, perhaps the very data that this waits for: it is to come later.
void postpone_receives(NodeState& state, std::uint32_t slot, Nanoseconds now);
// A stream of this transfer may be announced: none has been, or the last one is to begin anew.
bool may_be_announced(const TransferState& transfer);
// Precondition: may_be_announced().
void note_announced(TransferState& transfer, const PeerMessage& m);
// More of this send's data may flow.
void extend(NodeState& state, std::uint32_t slot, std::uint32_t index, Nanoseconds now);
// The operation has failed for this peer, or (kNoNode) for all that have not got theirs: outgoing streams end.
void give_up_sends(NodeState& state, std::uint32_t slot, NodeId peer, Nanoseconds now);
// The operation has failed here: incoming streams are declined.
void give_up_receives(NodeState& state, std::uint32_t slot, Nanoseconds now);
// The peer has all of the stream, or will never need it.
void on_sent(NodeState& state, NodeId to, std::uint32_t stream, Nanoseconds now);
// All streams to and from this peer are over: it is lost, or a new incarnation.
void forget_peer(NodeState& state, NodeId peer, Nanoseconds now);
// What found no room before: to the one that announced a stream after the end, that it is not wanted any more; of
// streams that were postponed, their new numbers.
void tell_what_is_owed(NodeState& state, std::uint32_t slot, Nanoseconds now);

}  // namespace fibocast::streams
