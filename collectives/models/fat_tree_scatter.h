// Scatters and gathers on a binary fat tree as schedules of their packets (Dimakopoulos and Dimopoulos, E5, E6, E10).
// The capacity does not matter: the leaf's own link is the bottleneck. For tools, not the core.
#pragma once

#include <vector>

#include "collectives/models/fat_tree_simulator.h"

namespace fibocast {

enum class ScatterOrder : std::uint8_t {
  kFarthestFirst,  // n + 1 steps, the optimum
  kNearestFirst,   // n + 2 L - 2
};

// The source sends to source XOR x in step 1, 2, ..: x ascending within a class [2^(i-1), 2^i), the classes descending
// or ascending. Preconditions here and below: is_leaf_count(leaves), ranks below leaves.
std::vector<FatTreeDispatch> scatter_schedule(Rank leaves, Rank source, ScatterOrder order);

// The farthest-first scatter backwards in time (E6), in ascending order of steps.
std::vector<FatTreeDispatch> gather_schedule(Rank leaves, Rank destination);

// When the scatter of E5 has completed its class i: n - 2^(i-1) + 2i - 1. Precondition: 1 <= i <= L.
std::uint64_t scatter_class_completion(Rank leaves, unsigned i);

// n + 1 steps, 2 for two leaves, 0 for one.
std::uint64_t scatter_steps(Rank leaves);

// A total exchange by scatters: the leaves k and n - 1 - k together, one pair after the other, n (n + 1) / 2 steps
// (E10). Precondition: leaves >= 4.
std::vector<FatTreeDispatch> pair_scatter_schedule(Rank leaves);

// One pair of it, from step 1 on: n + 1 steps. Precondition: k < leaves / 2.
std::vector<FatTreeDispatch> pair_scatter(Rank leaves, Rank k);

}  // namespace fibocast
