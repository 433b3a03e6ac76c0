// The fastest of all trees on up to eight different workstations, by trying: what the heuristics are measured against.
#pragma once

#include "collectives/tree_heterogeneous.h"

namespace fibocast {

inline constexpr Rank kMostOptimumNodes = 8;

// A tree of the least completion (C18, branch and bound). Precondition: at most kMostOptimumNodes nodes, root is one.
Tree optimal_workstation_tree(const HeterogeneousCosts& costs, Rank root);

}  // namespace fibocast
