// Transfers of a slot: what its schedule sends, through the emulated NIC if there is one, in the small or the bulk
// lane; and what comes in. Core.
#pragma once

#include "runtime/node/node_state.h"

namespace fibocast::transfers {

// (Re)starts the engine's run for a payload of this size. False: the schedule does not fit the limits.
bool set_shape(NodeState& state, std::uint32_t slot, std::uint64_t total_bytes, std::uint32_t segment_bytes);
// Announces, grants and sends all that the schedule and the channels let pass now.
void send_what_is_ready(NodeState& state, std::uint32_t slot, Nanoseconds now);
// Hands one transfer of the schedule to its channel. False: no room just now.
bool transmit(NodeState& state, std::uint32_t slot, std::uint32_t index, std::uint32_t repetition, Nanoseconds now);
// Notes when the last message this rank waits for was in.
void note_activation(NodeState& state, std::uint32_t slot, Nanoseconds now);
// The operation has failed for this peer, or (kNoNode) for all that have not got it: their streams end.
void give_up_streams(NodeState& state, std::uint32_t slot, NodeId peer, Nanoseconds now);
// Tells the parent, if it has not been told yet, that its payload is not wanted any more.
void decline_if_owed(NodeState& state, std::uint32_t slot, Nanoseconds now);
// The operation has failed here: streams end, nobody waits for the payload any more.
void give_up_payload(NodeState& state, std::uint32_t slot, Nanoseconds now);

}  // namespace fibocast::transfers
