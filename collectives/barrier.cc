#include "collectives/barrier.h"

#include "collectives/tree_view.h"

namespace fibocast {
namespace {

Transfer token(Rank peer, std::uint8_t stage) { return {.peer = peer, .stage = stage, .carries = Carries::kToken}; }

void write_reduction(const TreeView& tree, ScheduleWriter& out) {
  out.begin_stage({.waits_for_arrival = true});
  // What is sent to last in the mirror tree arrives first.
  for (Rank i = tree.children(); i > 0 && out.ok(); --i) out.receive(token(tree.child(i - 1), kBarrierReductionStage));
  if (tree.parent() != kNoRank) out.send(token(tree.parent(), kBarrierReductionStage));
}

void write_distribution(const TreeView& tree, ScheduleWriter& out) {
  out.begin_stage({.after = kBarrierReductionStage});
  if (tree.parent() != kNoRank) out.receive(token(tree.parent(), kBarrierDistributionStage));
  for (Rank i = 0; i < tree.children() && out.ok(); ++i) out.send(token(tree.child(i), kBarrierDistributionStage));
}

}  // namespace

void write_barrier(const Plan& plan, const OperationShape& shape, Rank me, ScheduleWriter& out) {
  write_reduction(TreeView(plan.reduction, shape.ranks, me), out);
  write_distribution(TreeView(plan.distribution, shape.ranks, me), out);
}

}  // namespace fibocast
