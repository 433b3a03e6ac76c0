// Transfers of a slot: what its schedule sends, through the emulated NIC if there is one, in the small or the bulk
// lane; and what comes in. Core.
#pragma once

#include "runtime/node/node_state.h"

namespace fibocast::transfers {

// The node of a virtual rank of this slot's operation.
NodeId node_of(const NodeState& state, std::uint32_t slot, Rank virtual_rank);
// (Re)starts the engine's run for an operation of this algorithm, type and size. False: it is not possible among so
// many ranks, its schedule does not fit the limits, or its data can never fit the byte budget.
bool set_shape(NodeState& state, std::uint32_t slot, const PeerMessage& m);
// Announces, grants and sends all that the schedule and the channels let pass now.
void send_what_is_ready(NodeState& state, std::uint32_t slot, Nanoseconds now);
// Hands one transfer of the schedule to its channel. False: no room just now.
bool transmit(NodeState& state, std::uint32_t slot, std::uint32_t index, std::uint32_t repetition, Nanoseconds now);
// A stage's model time (Stage::not_before) is still to come: only on the emulated machine, which wakes the slot then.
bool waits_for_model_time(NodeState& state, std::uint32_t slot, Nanoseconds not_before, Nanoseconds now);
// Notes when the last message this rank waits for was in.
void note_activation(NodeState& state, std::uint32_t slot, Nanoseconds now);
// Those who get what is handed out through this node, and have not got it, are told that it has failed here; as far as
// there is room for it now.
void tell_failure(NodeState& state, std::uint32_t slot, Nanoseconds now);
// The operation has failed here: streams end, nobody waits for the payload any more.
void give_up_payload(NodeState& state, std::uint32_t slot, Nanoseconds now);

}  // namespace fibocast::transfers
