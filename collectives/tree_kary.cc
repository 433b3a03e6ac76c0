#include "collectives/tree_kary.h"

namespace fibocast {

Tree tree_kary(Rank ranks, Rank arity) {
  std::vector<Rank> parent(ranks, kNoRank);
  for (Rank v = 1; v < ranks; ++v) parent[v] = (v - 1) / arity;
  return Tree::from_parents(std::move(parent), SendOrder::kAscending);
}

}  // namespace fibocast
