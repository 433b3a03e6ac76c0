#include "collectives/reduce.h"

#include "collectives/doubling.h"
#include "collectives/halving.h"
#include "collectives/pairwise.h"
#include "collectives/postal_allreduce.h"
#include "collectives/ring.h"
#include "collectives/tree_phases.h"

namespace fibocast {

namespace {

constexpr std::uint8_t kReductionStage = 0;
constexpr std::uint8_t kResultStage = 1;

bool write_trees(const Plan& plan, const OperationShape& shape, Rank me, ScheduleWriter& out) {
  const TreeSpec up = reduction_tree(plan, shape.choice), down = distribution_tree(plan, shape.choice);
  if (!is_valid(up) || !is_valid(down)) return false;
  write_reduction(TreeView(up, shape.ranks, me, plan.given), {.carries = Carries::kPartial, .registers = kRegisterT},
                  kReductionStage, out);
  if (shape.operation == Operation::kReduce) return true;
  write_distribution(TreeView(down, shape.ranks, me, plan.given), {.carries = Carries::kPayload}, kResultStage,
                     {.repeat = shape.segments(), .after = kReductionStage}, out);
  return true;
}

}  // namespace

bool write_reduce(const Plan& plan, const OperationShape& shape, Rank me, ScheduleWriter& out) {
  switch (shape.choice.algorithm) {
    case Algorithm::kHalving: write_halving_reduce(shape.ranks, me, out); return true;
    case Algorithm::kPairwise: write_pairwise_reduce(shape.ranks, me, out); return true;
    default: return write_trees(plan, shape, me, out);
  }
}

bool write_allreduce(const Plan& plan, const OperationShape& shape, Rank me, ScheduleWriter& out) {
  const Rank p = shape.ranks;
  switch (shape.choice.algorithm) {
    case Algorithm::kTrees: return write_trees(plan, shape, me, out);
    case Algorithm::kRing:
      write_ring_collection(p, me, (me + 1) % p, write_ring_reduction(p, me, out), out);
      return true;
    case Algorithm::kHalving: write_halving_allreduce(p, me, out); return true;
    case Algorithm::kPairwise: write_pairwise_allreduce(p, me, out); return true;
    case Algorithm::kDoubling: write_doubling(p, me, out); return true;
    default: return write_postal_combine(plan, shape, me, out);
  }
}

}  // namespace fibocast
