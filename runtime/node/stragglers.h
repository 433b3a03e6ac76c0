// Joins the straggler of each barrier to the node: calls and tokens are noted as they come, the answer travels with the
// tokens, and a group keeps a bounded table of the ranks that came last. Core.
#pragma once

#include "runtime/node/node_state.h"

namespace fibocast::stragglers {

// -- events, before the engine learns of them; without effect unless the operation is a barrier
void on_call(NodeState& state, std::uint32_t slot, Nanoseconds now);
// The barrier begins anew in another epoch, in which the call that stands counts from now on: the words of the others
// will not come from when they called either.
void on_repeat(NodeState& state, std::uint32_t slot, Nanoseconds now);
// On the emulated NIC: when the token is taken from the wire, before its receive occupancy.
void on_token(NodeState& state, std::uint32_t slot, const PeerMessage& m, Nanoseconds now);
// The slot has its verdict. If it is a release and all words came in, the straggler goes into the table; else there is
// none: a barrier that a verdict released has heard of some ranks only.
void on_end(NodeState& state, std::uint32_t slot);

// -- queries
// What a slot's participants are told.
Straggler answer_of(const Slot& slot);
// The rows in use of a group's table, in no order.
std::span<const SlowRank> slowest(const NodeState& state, std::uint32_t group);

// Counts a straggler in a table whose first `used` rows are in use.
void count(std::span<SlowRank> rows, std::uint32_t& used, const Straggler& straggler);

}  // namespace fibocast::stragglers
