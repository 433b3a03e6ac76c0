#include "collectives/tree_phases.h"

namespace fibocast {

namespace {

TreeSpec named(const TreeSpec& planned, const AlgorithmChoice& choice) {
  TreeSpec spec = planned;
  spec.kind = choice.tree;
  spec.arity = choice.parameter;
  const bool has_own_lambda = choice.tree == TreeKind::kLambda && choice.parameter > 0;
  if (has_own_lambda) spec.s = kWholeLambda, spec.r = choice.parameter - std::uint64_t{kWholeLambda};
  return spec;
}

Transfer to(Rank peer, std::uint8_t stage, Transfer what) {
  what.peer = peer;
  what.stage = stage;
  return what;
}

}  // namespace

TreeSpec reduction_tree(const Plan& plan, const AlgorithmChoice& choice) {
  return choice.tree == TreeKind{} ? plan.reduction : named(plan.reduction, choice);
}

TreeSpec distribution_tree(const Plan& plan, const AlgorithmChoice& choice) {
  return choice.tree == TreeKind{} ? plan.distribution : named(plan.distribution, choice);
}

void write_reduction(const TreeView& tree, const Transfer& what, std::uint8_t stage, ScheduleWriter& out) {
  out.begin_stage({.waits_for_arrival = true});
  const Rank count = tree.children();
  for (Rank i = 0; i < count && out.ok(); ++i) out.receive(to(tree.source(i), stage, what));
  if (tree.parent() != kNoRank) out.send(to(tree.parent(), stage, what));
}

void write_distribution(const TreeView& tree, const Transfer& what, std::uint8_t stage, const Stage& start,
                        ScheduleWriter& out) {
  out.begin_stage(start);
  if (tree.parent() != kNoRank) out.receive(to(tree.parent(), stage, what));
  for (Rank i = 0; i < tree.children() && out.ok(); ++i) out.send(to(tree.child(i), stage, what));
}

}  // namespace fibocast
