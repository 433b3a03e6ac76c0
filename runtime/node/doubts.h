// What nobody is told. A member was away for a while or was started again: what was on its way to it, or was to be
// passed on by it, will never come; and who had sent that was done with it and so has no operation that could fail. The
// same holds of what a member sent that had been given up and did not know it yet: it went to the session before.
// Therefore a call of a generation that may have been open then asks whom it waits for. Who has been done for the
// suspicion time tells all that the operation has failed: what was sent so long ago would be here. Who is not done
// says nothing: what it sends will come. A barrier needs none of this: who had sent for it waits for it too. Core.
#pragma once

#include "runtime/node/node_state.h"

namespace fibocast::doubts {

// Rank `lost` of the group was away, or is: of what has been called so far, or may have been by others.
void begin(NodeState& state, std::uint32_t group, Rank lost, Nanoseconds now);
// A call of this slot is due at its deadline, or at once if it waits for data that may have been lost on their way.
void look_at_call(NodeState& state, std::uint32_t slot, Nanoseconds deadline, Nanoseconds now);
// It is due. True: because of doubts. It asks whom it waits for, now and again after the suspicion time; if the data
// have begun to come meanwhile, it waits for them to its deadline.
bool on_due(NodeState& state, std::uint32_t slot, Nanoseconds now);
// Says it to each whom the slot waits for and who is connected.
void tell_missing(NodeState& state, std::uint32_t slot, const PeerMessage& m, Nanoseconds now);
void on_doubt(NodeState& state, std::uint32_t group, NodeId from, const PeerMessage& m, Nanoseconds now);

}  // namespace fibocast::doubts
