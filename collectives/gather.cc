#include "collectives/gather.h"

#include <algorithm>
#include <bit>

#include "collectives/block_transfer.h"
#include "collectives/scatter.h"
#include "collectives/tree_phases.h"

namespace fibocast {

namespace {

bool write_subtree_gather(const TreeSpec& spec, Rank ranks, Rank me, ScheduleWriter& out) {
  if (!is_valid(spec) || !has_contiguous_subtrees(spec.kind)) return false;
  const TreeView tree(spec, ranks, me);
  out.begin_stage({.waits_for_arrival = true});
  for (Rank i = tree.children(); i > 0 && out.ok(); --i) {
    const Rank child = tree.child(i - 1);
    out.receive(block_transfer(child, child, TreeView(spec, ranks, child).subtree_size()));
  }
  if (tree.parent() != kNoRank) out.send(block_transfer(tree.parent(), me, tree.subtree_size()));
  return true;
}

// The step in which the scatter, furthest first, would reach the rank that it sends to as the index-th.
Rank scatter_arrival(Rank index, Rank to) { return index + 2 * static_cast<Rank>(std::bit_width(to)); }

// Time reversal: the k-th that the scatter would reach in step a departs in step T + 1 - a (E6). Ranks come in runs
// that begin with a power of two, the highest first; the last of a run is the one reached last.
Nanoseconds departure(Rank ranks, Rank me) {
  Rank last = 0, mine = 0, index = 0;
  for (Rank begin = std::bit_floor(ranks - 1), end = ranks; begin > 0; end = begin, begin /= 2) {
    if (me >= begin && me < end) mine = scatter_arrival(index + me - begin, me);
    index += end - begin;
    last = std::max(last, scatter_arrival(index - 1, end - 1));
  }
  return last - mine;
}

}  // namespace

bool write_gather(const Plan& plan, const OperationShape& shape, Rank me, ScheduleWriter& out) {
  if (shape.choice.algorithm == Algorithm::kTrees)
    return write_subtree_gather(reduction_tree(plan, shape.choice), shape.ranks, me, out);
  const auto step = static_cast<Nanoseconds>(plan.distribution.s);
  out.begin_stage({.not_before = me == 0 ? 0 : departure(shape.ranks, me) * step, .waits_for_arrival = true});
  if (me != 0) out.send(block_transfer(0, me, 1));
  for (Rank i = 0; me == 0 && i + 1 < shape.ranks && out.ok(); ++i) {
    const Rank from = furthest_first(shape.ranks, shape.ranks - 2 - i);
    out.receive(block_transfer(from, from, 1));
  }
  return true;
}

}  // namespace fibocast
