#include "collectives/barrier.h"

#include "collectives/dissemination.h"
#include "collectives/postal_allreduce.h"
#include "collectives/tree_phases.h"

namespace fibocast {

bool write_barrier(const Plan& plan, const OperationShape& shape, Rank me, ScheduleWriter& out) {
  switch (shape.choice.algorithm) {
    case Algorithm::kDissemination: return write_dissemination(shape, me, out);
    case Algorithm::kDelayReceive:
    case Algorithm::kDelaySend:
    case Algorithm::kCombineEager: return write_postal_combine(plan, shape, me, out);
    default: break;
  }
  const TreeSpec up = reduction_tree(plan, shape.choice), down = distribution_tree(plan, shape.choice);
  if (!is_valid(up) || !is_valid(down)) return false;
  write_reduction(TreeView(up, shape.ranks, me, plan.given), {}, kBarrierReductionStage, out);
  write_distribution(TreeView(down, shape.ranks, me, plan.given), {}, kBarrierDistributionStage,
                     {.after = kBarrierReductionStage}, out);
  return true;
}

}  // namespace fibocast
