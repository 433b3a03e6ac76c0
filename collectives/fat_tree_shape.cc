#include "collectives/fat_tree_shape.h"

#include <bit>

#include "collectives/check.h"

namespace fibocast {

bool is_leaf_count(Rank leaves) { return std::has_single_bit(leaves) && leaves <= kMostLeaves; }

unsigned tree_levels(Rank leaves) {
  check(is_leaf_count(leaves));
  return static_cast<unsigned>(std::countr_zero(leaves));
}

Rank tree_nodes(Rank leaves) {
  check(is_leaf_count(leaves));
  return 2 * leaves - 1;
}

// What is missing from 2n halves with every level.
unsigned level_of(Rank leaves, Rank rank) {
  check(rank < tree_nodes(leaves));
  return tree_levels(leaves) + 1 - static_cast<unsigned>(std::bit_width(2 * leaves - rank - 1));
}

Rank router_rank(Rank leaves, unsigned level, Rank index) {
  check(level <= tree_levels(leaves) && index < leaves >> level);
  return 2 * leaves - (2 * leaves >> level) + index;
}

Rank first_leaf_below(Rank leaves, Rank rank) {
  const unsigned level = level_of(leaves, rank);
  return (rank - router_rank(leaves, level, 0)) << level;
}

TreeNeighbours neighbours(Rank leaves, Rank rank) {
  check(rank < tree_nodes(leaves));
  TreeNeighbours result;
  if (rank != 2 * leaves - 2) result.parent = leaves + rank / 2;
  if (rank >= leaves) {
    result.left = 2 * (rank - leaves);
    result.right = result.left + 1;
  }
  return result;
}

unsigned common_level(Rank a, Rank b) { return static_cast<unsigned>(std::bit_width(a ^ b)); }

}  // namespace fibocast
