// The barrier along two trees with one root (Cordsen et al. 1997; each phase its own tree: A30): tokens go up the
// reduction tree, and when the root has them all, down the distribution tree: 2 (p - 1) messages.
// Core: no heap, no exceptions.
#pragma once

#include "collectives/plan.h"

namespace fibocast {

inline constexpr std::uint8_t kBarrierReductionStage = 0;
inline constexpr std::uint8_t kBarrierDistributionStage = 1;

// Writes rank `me`'s two stages. Preconditions: valid trees, me < ranks.
void write_barrier(const Plan& plan, const OperationShape& shape, Rank me, ScheduleWriter& out);

}  // namespace fibocast
