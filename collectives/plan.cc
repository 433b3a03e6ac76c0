#include "collectives/plan.h"

#include "collectives/barrier.h"
#include "collectives/multicast.h"
#include "collectives/tree_view.h"

namespace fibocast {

bool build_rank_schedule(const Plan& plan, const OperationShape& shape, Rank me, ScheduleWriter& out) {
  if (!is_valid(plan.reduction) || !is_valid(plan.distribution) || me >= shape.ranks) return false;
  switch (shape.operation) {
    case Operation::kBarrier: write_barrier(plan, shape, me, out); return out.ok();
    case Operation::kMulticast: write_multicast(plan, shape, me, out); return out.ok();
  }
  return false;
}

}  // namespace fibocast
