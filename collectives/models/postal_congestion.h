// Whether the messages of a recursive partition get in each other's way on a mesh (Bruck et al. 1996, section 2.7,
// B19): counts the pairs that want one link at the same time. For tools, not the core.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "collectives/cost_model.h"

namespace fibocast {

// Rank v runs on processor pids[v] = row * columns + column; messages go along the row first, then along the column.
struct MeshPlacement {
  std::uint32_t rows = 1;
  std::uint32_t columns = 1;
  std::vector<std::uint32_t> pids;
};

// Row-major, cyclic from `source`: the placement without conflicts. Preconditions: source < rows * columns, which fits
// in 32 bit.
MeshPlacement row_major_placement(std::uint32_t rows, std::uint32_t columns, std::uint32_t source);

// The pairs of messages that share a directed link while both hold their route, which each does for `hold` ticks from
// its dispatch (the paper: the send time, lambda.s). `kept` cuts as in tree_lambda_partition(). Nothing, and a
// sentence, for pids that are not on the mesh or twice in the list, an empty list, or more than 4096 of them.
std::optional<std::uint64_t> count_conflicts(const MeshPlacement& placement, const LatencyRatio& lambda,
                                             std::uint64_t hold,
                                             const std::function<std::uint64_t(std::uint64_t)>& kept,
                                             std::string& error);

}  // namespace fibocast
