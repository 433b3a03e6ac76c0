// The multinode broadcast by flooding as a schedule: which leaf's packet a node of the fat tree forwards when, so that
// each can follow it without asking (Dimakopoulos and Dimopoulos, E7). Core: no heap, no exceptions.
#pragma once

#include <cstdint>

#include "collectives/fat_tree_shape.h"

namespace fibocast {

// One packet on a branch: it leaves in `step` (1, 2, ..) and is there at its end. `source`: the leaf it comes from.
struct FloodStep {
  std::uint32_t step = 0;
  Rank source = 0;
};

// Packets that node `from` sends to its neighbour `to` in all: those of the leaves on its side.
// Preconditions here and below: is_leaf_count(leaves), `to` is one of neighbours(leaves, from).
std::uint32_t flood_count(Rank leaves, Rank from, Rank to);

// The `index`-th of them, in ascending step order: first in first out, of packets that arrive together the left child's
// first, the parent's last, one packet per step. It holds on trees with more capacity too. O(log n).
// Precondition: index < flood_count(..).
FloodStep flood_order(Rank leaves, Rank from, Rank to, std::uint32_t index);

// The step at whose end all leaves have all packets: n + 1, but 2 for two leaves and 0 for one.
std::uint32_t flood_steps(Rank leaves);

}  // namespace fibocast
