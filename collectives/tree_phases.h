// The two halves that operations along trees are made of: a reduction up one tree, a distribution down another. What
// travels differs: tokens (barrier), partial results (reduce), the payload (multicast). Core: no heap, no exceptions.
#pragma once

#include "collectives/plan.h"
#include "collectives/tree_view.h"

namespace fibocast {

// The tree of a reduction or distribution: the plan's own, or the kind that the choice names (with the plan's costs).
TreeSpec reduction_tree(const Plan& plan, const AlgorithmChoice& choice);
TreeSpec distribution_tree(const Plan& plan, const AlgorithmChoice& choice);

// Waits for the local call and for the children, sends to the parent. Children of formulas come in the order of their
// ranks, so that partial results are combined in it; in a Fibo-numbered tree that is also the order in which they
// arrive, for what is sent to last in the mirror tree arrives first. Those of a given tree come in reversed send order.
void write_reduction(const TreeView& tree, const Transfer& what, std::uint8_t stage, ScheduleWriter& out);
// Begins with `start` (after, repeat, ..): waits for the parent, sends to the children in send order.
void write_distribution(const TreeView& tree, const Transfer& what, std::uint8_t stage, const Stage& start,
                        ScheduleWriter& out);

}  // namespace fibocast
