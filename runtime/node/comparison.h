// What the members do in one generation must be the same operation, done the same way. A message that says otherwise
// tells its receiver. But two schedules that differ may leave each member waiting for what another one never sends, and
// nobody would hear anything until the deadline. So who has waited for the suspicion time asks once whom it waits for.
// Who is handed something out takes it however it comes, and asks nothing. Where the operation is over, whoever asks is
// told how it ended: what told it so before may have found no room. Core.
#pragma once

#include "runtime/node/node_state.h"

namespace fibocast::comparison {

// What is known here of the operation agrees with what the sender thinks it is.
bool agrees(const Slot& s, const PeerMessage& m);
// The slot's operation is another one for somebody: a verdict says so to all.
void found_mismatch(NodeState& state, Slot& s, Nanoseconds now);
// This rank waits from now on.
void begin(NodeState& state, std::uint32_t slot, Nanoseconds now);
// A time that was set for the slot has come, perhaps this one.
void on_time(NodeState& state, std::uint32_t slot, Nanoseconds now);
void on_message(NodeState& state, std::uint32_t group, NodeId from, const PeerMessage& m, Nanoseconds now);

}  // namespace fibocast::comparison
