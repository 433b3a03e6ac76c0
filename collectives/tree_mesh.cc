#include "collectives/tree_mesh.h"

#include <bit>
#include <utility>
#include <vector>

#include "collectives/check.h"

namespace fibocast {

Rank divide_child(Rank b, unsigned bit) { return b & ~(Rank{1} << bit); }

Rank divide_parent(unsigned order, Rank b) {
  check(order <= kMostTreeOrder && b >> order == 0);
  const int ones = std::countr_one(b);
  return static_cast<unsigned>(ones) == order ? kNoRank : b | (Rank{1} << ones);
}

unsigned divide_phase(unsigned order, Rank b) {
  check(order <= kMostTreeOrder && b >> order == 0);
  return order - static_cast<unsigned>(std::countr_one(b));
}

// A larger bit cleared is a smaller label: the send order is ascending.
Tree tree_mesh(unsigned order) {
  check(order <= kMostTreeOrder);
  std::vector<Rank> parent(std::size_t{1} << order);
  for (Rank b = 0; b < parent.size(); ++b) parent[b] = divide_parent(order, b);
  return Tree::from_parents(std::move(parent), SendOrder::kAscending);
}

}  // namespace fibocast
