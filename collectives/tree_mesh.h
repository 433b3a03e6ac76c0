// The binomial tree B(n) of parallel divide and conquer, numbered so that it can be laid out on a mesh (Lo et al.
// 1992, D1, D2). For tools, not the core: models/mesh.h holds the layouts.
#pragma once

#include <cstdint>

#include "collectives/tree.h"

namespace fibocast {

// B(n) has 2^n nodes in post-order, children visited in decreasing subtree size: the root is 2^n - 1 and the subtree
// below b is B(k), k the number of trailing ones of b.
inline constexpr unsigned kMostTreeOrder = 31;

// Clears bit `bit` of b: its child with subtree B(bit). Precondition: bit < trailing ones of b.
Rank divide_child(Rank b, unsigned bit);
// Sets the lowest 0 bit of b; kNoRank for the root. Preconditions: order <= kMostTreeOrder, b < 2^order.
Rank divide_parent(unsigned order, Rank b);
// The phase 1 .. order in which b gets its part of the problem; 0 for the root, which has it from the host (D2).
unsigned divide_phase(unsigned order, Rank b);

// The whole tree, children in send order: the largest subtree, which is phase 1, first.
// Precondition: order <= kMostTreeOrder.
Tree tree_mesh(unsigned order);

}  // namespace fibocast
