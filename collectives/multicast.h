// The multicast down the distribution tree (Cordsen et al. 1997): p - 1 messages, or p - 1 per segment of a long
// payload, which then travels the tree in a pipeline. Core: no heap, no exceptions.
#pragma once

#include "collectives/plan.h"

namespace fibocast {

inline constexpr std::uint8_t kMulticastStage = 0;

// Writes rank `me`'s only stage. It waits for a local call at the root alone: the others forward at once.
// Preconditions: valid trees, me < ranks.
void write_multicast(const Plan& plan, const OperationShape& shape, Rank me, ScheduleWriter& out);

}  // namespace fibocast
