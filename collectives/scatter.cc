#include "collectives/scatter.h"

#include <bit>

#include "collectives/block_transfer.h"
#include "collectives/tree_phases.h"

namespace fibocast {

Rank furthest_first(Rank ranks, Rank index) {
  Rank begin = std::bit_floor(ranks - 1), size = ranks - begin;
  while (index >= size) index -= size, begin /= 2, size = begin;
  return begin + index;
}

bool write_subtree_scatter(const TreeSpec& spec, Rank ranks, Rank me, ScheduleWriter& out) {
  if (!has_contiguous_subtrees(spec.kind)) return false;
  const TreeView tree(spec, ranks, me);
  out.begin_stage({.waits_for_arrival = me == 0});
  if (tree.parent() != kNoRank) out.receive(block_transfer(tree.parent(), me, tree.subtree_size()));
  for (Rank i = 0; i < tree.children() && out.ok(); ++i) {
    const Rank child = tree.child(i);
    out.send(block_transfer(child, child, TreeView(spec, ranks, child).subtree_size()));
  }
  return true;
}

bool write_scatter(const Plan& plan, const OperationShape& shape, Rank me, ScheduleWriter& out) {
  const TreeSpec tree = distribution_tree(plan, shape.choice);
  if (shape.choice.algorithm == Algorithm::kTrees)
    return is_valid(tree) && write_subtree_scatter(tree, shape.ranks, me, out);
  out.begin_stage({.waits_for_arrival = me == 0});
  if (me != 0) out.receive(block_transfer(0, me, 1));
  for (Rank i = 0; me == 0 && i + 1 < shape.ranks && out.ok(); ++i) {
    const Rank to = furthest_first(shape.ranks, i);
    out.send(block_transfer(to, to, 1));
  }
  return true;
}

}  // namespace fibocast
