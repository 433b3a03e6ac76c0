// The figures and the table of Dimakopoulos and Dimopoulos on binary fat trees (E17).
#include <algorithm>
#include <array>

#include "collectives/flood_order.h"
#include "collectives/models/fat_tree.h"
#include "collectives/models/fat_tree_flood.h"
#include "collectives/models/fat_tree_scatter.h"
#include "collectives/models/figure.h"

namespace fibocast {
namespace {

using std::to_string;

FatTree fat_tree(std::uint64_t leaves, std::string_view capacities) {
  std::string error;
  return make_fat_tree(leaves, capacities, error).value();
}

FigureTable numbering() {
  FigureTable table{{"rank", "level", "index", "parent", "first_leaf", "last_leaf"}, {}};
  constexpr Rank kLeaves = 8;
  for (Rank v = 0; v < tree_nodes(kLeaves); ++v) {
    const unsigned level = level_of(kLeaves, v);
    const Rank first = first_leaf_below(kLeaves, v);
    const Rank parent = neighbours(kLeaves, v).parent;
    table.rows.push_back({to_string(v), to_string(level), to_string(first >> level),
                          parent == kNoRank ? "-" : to_string(parent), to_string(first),
                          to_string(first + (1u << level) - 1)});
  }
  return table;
}

// What hangs off the path from leaf 0 to the root: the classes of a scatter, farthest first.
FigureTable subtrees() {
  FigureTable table{{"n", "i", "first_leaf", "last_leaf", "first_send", "complete"}, {}};
  for (const Rank n : {8u, 16u, 32u}) {
    std::uint64_t step = 1;
    for (unsigned i = tree_levels(n); i >= 1; --i) {
      const std::uint64_t size = std::uint64_t{1} << (i - 1);
      table.rows.push_back({to_string(n), to_string(i), to_string(size), to_string(2 * size - 1), to_string(step),
                            to_string(scatter_class_completion(n, i))});
      step += size;
    }
  }
  return table;
}

FigureTable flooding() {
  FigureTable table{{"step", "from", "to", "packet"}, {}};
  for (const FloodHop& hop : simulate_flooding(fat_tree(4, "constant")).hops)
    table.rows.push_back({to_string(hop.step), to_string(hop.from), to_string(hop.to), to_string(hop.source)});
  return table;
}

// For the halves T_L and T_R of trees of two sizes: when a leaf has the last packet of its own half and of the other.
FigureTable induction() {
  FigureTable table{{"n", "half", "leaf", "own_half_complete", "other_half_complete"}, {}};
  for (const Rank n : {4u, 8u, 16u})
    for (Rank leaf = 0; leaf < n; ++leaf) {
      std::array<std::uint32_t, 2> last{};  // own, other
      const Rank router = neighbours(n, leaf).parent;
      for (std::uint32_t i = 0; i < flood_count(n, router, leaf); ++i) {
        const FloodStep hop = flood_order(n, router, leaf, i);
        const bool other = (hop.source ^ leaf) >= n / 2;
        last[other ? 1 : 0] = std::max(last[other ? 1 : 0], hop.step);
      }
      table.rows.push_back(
          {to_string(n), leaf < n / 2 ? "T_L" : "T_R", to_string(leaf), to_string(last[0]), to_string(last[1])});
    }
  return table;
}

FigureTable bounds() {
  FigureTable table{{"n", "capacities", "broadcast", "scatter_gather", "multinode_broadcast", "total_exchange"}, {}};
  for (const std::string capacities : {"constant", "exponential"})
    for (std::uint64_t n = 2; n <= 1024; n *= 2) {
      const FatTreeBounds b = fat_tree_bounds(fat_tree(n, capacities));
      table.rows.push_back({to_string(n), capacities, to_string(b.broadcast), to_string(b.scatter),
                            to_string(b.multinode_broadcast), to_string(b.total_exchange)});
    }
  return table;
}

}  // namespace

std::span<const FigureEntry> figures_004() {
  static constexpr std::array kFigures = {
      FigureEntry{"004:1", "numbering of a tree with 8 leaves: rank, level, leaves below", numbering},
      FigureEntry{"004:2", "the subtrees off the path of leaf 0 and when its scatter completes them, n = 8, 16, 32",
                  subtrees},
      FigureEntry{"004:3", "flooding with 4 leaves: every packet on every link in 5 steps", flooding},
      FigureEntry{"004:4", "flooding, halves T_L and T_R: last packet of the own and of the other half", induction},
      FigureEntry{"004:table1", "lower bounds in steps for n = 2..1024", bounds},
  };
  return kFigures;
}

}  // namespace fibocast
