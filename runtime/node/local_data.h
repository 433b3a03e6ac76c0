// The data of an operation at this rank: its memory, what the participant brings into it, combining what came, and the
// result. The bytes are moved by the host, in the order of NodeState::local_work. Core.
#pragma once

#include "runtime/node/node_state.h"

namespace fibocast::local_data {

// Makes the layout of the slot's data. Precondition: the engine has the slot's schedule.
void lay_out_slot(NodeState& state, std::uint32_t slot);
// The slot has its memory, or needs none. Takes it from the byte budget, oldest generation first (PROTOCOL 7); small
// operations always get it.
bool has_memory(NodeState& state, std::uint32_t slot);
// What the participant brings goes to its place and the engine learns that it has called. False: no room for the work.
bool place_input(NodeState& state, std::uint32_t slot);
// Combines, in the schedule's order, what is in. False: no room for the work.
bool combine(NodeState& state, std::uint32_t slot);
// Makes the data of a send ready at TransferState::offset. False: no room for the work.
bool prepare_send(NodeState& state, std::uint32_t slot, std::uint32_t index);
// Puts the result in the order of the ranks. False: no room for the work.
bool prepare_result(NodeState& state, std::uint32_t slot);

// For the host: the oldest work. False: none.
bool poll_work(NodeState& state, LocalWork& out);

}  // namespace fibocast::local_data
