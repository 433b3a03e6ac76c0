// Scatter: the root's i-th block to rank i. Along a tree of contiguous subtrees each rank gets the blocks of its
// subtree and passes on those of its children's; or the root sends each rank its own, those furthest away in a fat tree
// first (Dimakopoulos and Dimopoulos, E5). Core: no heap, no exceptions.
#pragma once

#include "collectives/plan.h"

namespace fibocast {

// Writes rank `me`'s stage. False: not along this tree. Precondition: me < ranks.
bool write_scatter(const Plan& plan, const OperationShape& shape, Rank me, ScheduleWriter& out);
// The same for the blocks of a payload.
bool write_subtree_scatter(const TreeSpec& tree, Rank ranks, Rank me, ScheduleWriter& out);

// The `index`-th rank, index < ranks - 1, that a root 0 serves furthest-first: classes x in [2^(i-1), 2^i) from the
// highest down, ascending inside a class (E5).
Rank furthest_first(Rank ranks, Rank index);

}  // namespace fibocast
