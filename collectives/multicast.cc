#include "collectives/multicast.h"

#include "collectives/collection.h"
#include "collectives/ring.h"
#include "collectives/scatter.h"
#include "collectives/tree_phases.h"

namespace fibocast {

namespace {

// Of the parts that have been scattered.
bool write_collection(const OperationShape& shape, Rank me, ScheduleWriter& out) {
  switch (shape.choice.algorithm) {
    case Algorithm::kScatterDoubling: write_doubling_collection(shape.ranks, me, kMulticastStage, out); return true;
    case Algorithm::kScatterPairwise: write_pairwise_collection(shape.ranks, me, kMulticastStage, out); return true;
    default: write_ring_collection(shape.ranks, me, me, kMulticastStage, out); return true;
  }
}

}  // namespace

bool write_multicast(const Plan& plan, const OperationShape& shape, Rank me, ScheduleWriter& out) {
  const TreeSpec tree = distribution_tree(plan, shape.choice);
  if (!is_valid(tree)) return false;
  if (is_cut_into_blocks(shape))
    return write_subtree_scatter(tree, shape.ranks, me, out) && write_collection(shape, me, out);
  write_distribution(TreeView(tree, shape.ranks, me, plan.given), {.carries = Carries::kPayload}, kMulticastStage,
                     {.repeat = shape.segments(), .waits_for_arrival = me == 0}, out);
  return true;
}

}  // namespace fibocast
