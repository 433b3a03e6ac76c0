#include "collectives/multicast.h"

#include "collectives/ring.h"
#include "collectives/scatter.h"
#include "collectives/tree_phases.h"

namespace fibocast {

bool write_multicast(const Plan& plan, const OperationShape& shape, Rank me, ScheduleWriter& out) {
  const TreeSpec tree = distribution_tree(plan, shape.choice);
  if (!is_valid(tree)) return false;
  if (shape.choice.algorithm == Algorithm::kScatterAllgather) {
    if (!write_subtree_scatter(tree, shape.ranks, me, out)) return false;
    write_ring_collection(shape.ranks, me, me, kMulticastStage, out);
    return true;
  }
  write_distribution(TreeView(tree, shape.ranks, me, plan.given), {.carries = Carries::kPayload}, kMulticastStage,
                     {.repeat = shape.segments(), .waits_for_arrival = me == 0}, out);
  return true;
}

}  // namespace fibocast
