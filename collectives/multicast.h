// The multicast down the distribution tree (Cordsen et al. 1997): p - 1 messages, or p - 1 per segment of a long
// payload, which then travels the tree in a pipeline; or, for long payloads, a part to each rank (scatter), then all
// parts around the ring (van de Geijn 1994). Core: no heap, no exceptions.
#pragma once

#include "collectives/plan.h"

namespace fibocast {

inline constexpr std::uint8_t kMulticastStage = 0;

// Writes rank `me`'s stages. They wait for a local call at the root alone: the others forward at once.
// False: a parameter is out of range. Precondition: me < ranks.
bool write_multicast(const Plan& plan, const OperationShape& shape, Rank me, ScheduleWriter& out);

}  // namespace fibocast
