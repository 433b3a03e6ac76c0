// The barrier: along two trees with one root (Cordsen et al. 1997; each phase its own tree: A30) - tokens go up the
// reduction tree, and when the root has them all, down the distribution tree: 2 (p - 1) messages - or in one phase:
// dissemination, and the postal combine without data. Core: no heap, no exceptions.
#pragma once

#include "collectives/plan.h"

namespace fibocast {

// Of kTrees.
inline constexpr std::uint8_t kBarrierReductionStage = 0;
inline constexpr std::uint8_t kBarrierDistributionStage = 1;

// Writes rank `me`'s stages. False: a parameter is out of range. Precondition: me < ranks.
bool write_barrier(const Plan& plan, const OperationShape& shape, Rank me, ScheduleWriter& out);

}  // namespace fibocast
