// Which tree is best on workstations of different speed, and how far it is from what is possible at all: the planner's
// question where no node costs what another costs (Banikazemi et al. 1999). For tools, not the core.
#pragma once

#include "collectives/planner.h"
#include "collectives/tree_heterogeneous.h"

namespace fibocast {

// Candidates are trees by name; in a barrier the same kind of tree up and down, each built for its direction. Their
// `choice` means nothing. Messages cost what `costs` says; `bytes` are counted only. root = 0.
// Preconditions: operation is kBarrier or kMulticast, check_times_fit(costs), every send cost > 0.
PlanAnswer plan_workstations_answer(Operation operation, const HeterogeneousCosts& costs, std::uint64_t bytes);

}  // namespace fibocast
