#include "collectives/tree_sequential.h"

namespace fibocast {

Tree tree_sequential(Rank ranks) {
  std::vector<Rank> parent(ranks, 0);
  parent[0] = kNoRank;
  return Tree::from_parents(std::move(parent), SendOrder::kAscending);
}

}  // namespace fibocast
