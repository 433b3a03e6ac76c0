// A binary fat tree by ranks: which router is whose parent, which branch leads where (Dimakopoulos and Dimopoulos, E1).
// Every step is a closed form, so that a node knows its place without a table. Core: no heap, no exceptions.
#pragma once

#include <cstdint>

#include "collectives/types.h"

namespace fibocast {

// Leaves are the ranks 0 .. n-1, n = 2^L. Routers follow level by level: node q of level h, which has the leaves
// q 2^h .. (q+1) 2^h - 1 below it, is rank 2n - (2n >> h) + q. So level 1 begins at n and the root is 2n - 2.
inline constexpr Rank kMostLeaves = Rank{1} << 30;

// A power of two from 1 to kMostLeaves. The precondition of `leaves` everywhere below.
bool is_leaf_count(Rank leaves);
// L: 0 for one leaf.
unsigned tree_levels(Rank leaves);
// Leaves and routers: 2n - 1.
Rank tree_nodes(Rank leaves);

// Of a rank below tree_nodes(leaves).
unsigned level_of(Rank leaves, Rank rank);
Rank first_leaf_below(Rank leaves, Rank rank);
Rank router_rank(Rank leaves, unsigned level, Rank index);

// The up to three neighbours; kNoRank where there is none (the root's parent, a leaf's children).
struct TreeNeighbours {
  Rank parent = kNoRank;
  Rank left = kNoRank;
  Rank right = kNoRank;
};
TreeNeighbours neighbours(Rank leaves, Rank rank);

// Level of the lowest common ancestor of two leaves: 0 if they are the same. They are 2 of these links apart.
unsigned common_level(Rank a, Rank b);

}  // namespace fibocast
