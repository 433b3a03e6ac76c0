#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>

#include "collectives/algorithm_catalog.h"
#include "collectives/schedule.h"
#include "collectives/tree_phases.h"
#include "runtime/daemon/metrics/metrics_limits.h"
#include "runtime/daemon/metrics/status_json.h"

namespace fibocast {
namespace {

using TreeJson = nlohmann::ordered_json;

std::string tree_name(const TreeSpec& spec) {
  const std::string costs = "(" + std::to_string(spec.s) + "," + std::to_string(spec.r) + ")";
  switch (spec.kind) {
    case TreeKind::kSequential: return "sequential";
    case TreeKind::kBinomial: return "binomial";
    case TreeKind::kKary: return "kary:" + std::to_string(spec.arity);
    case TreeKind::kFibo: return "fibo" + costs;
    case TreeKind::kLambda: return "lambda" + costs;
    case TreeKind::kGiven: return "given";
  }
  return "unknown";
}

// The choice of the first of these operations that goes along a tree when its data is small.
std::optional<AlgorithmChoice> tree_choice(const Plan& plan, std::span<const Operation> operations, Operation& user) {
  for (const Operation operation : operations) {
    const AlgorithmChoice choice = planned_choice(plan, operation, 0);
    if (choice.algorithm == Algorithm::kTrees) return user = operation, choice;
  }
  return {};
}

// Of each rank its children in send order; where they send to it, in the order in which it takes what they send.
TreeJson children_json(const Plan& plan, const TreeSpec& spec, Rank ranks, bool upward) {
  TreeJson all = TreeJson::array();
  for (Rank me = 0; me < ranks; ++me) {
    const TreeView view(spec, ranks, me, plan.given);
    TreeJson children = TreeJson::array();
    for (Rank i = 0; i < view.children(); ++i) children.push_back(upward ? view.source(i) : view.child(i));
    all.push_back(std::move(children));
  }
  return all;
}

void add_tree(const Node::GroupInfo& group, Rank ranks, bool upward, TreeJson& out) {
  static constexpr Operation kUp[] = {Operation::kBarrier, Operation::kAllreduce, Operation::kReduce};
  static constexpr Operation kDown[] = {Operation::kBarrier, Operation::kMulticast, Operation::kAllreduce};
  Operation user = Operation::kBarrier;
  const auto choice = tree_choice(group.plan, upward ? std::span<const Operation>(kUp) : kDown, user);
  if (!choice || ranks > metrics_limits::kDrawnRanks) return;
  const TreeSpec spec = upward ? reduction_tree(group.plan, *choice) : distribution_tree(group.plan, *choice);
  const bool fits = spec.kind != TreeKind::kGiven || group.plan.given.ranks() == ranks;
  if (!is_valid(spec) || !fits) return;
  out.push_back({{"phase", upward ? "reduction" : "distribution"},
                 {"tree", tree_name(spec)},
                 {"operation", operation_name(user)},
                 {"children", children_json(group.plan, spec, ranks, upward)}});
}

}  // namespace

nlohmann::ordered_json group_plan_json(const Node::GroupInfo& group) {
  TreeJson plan = TreeJson::object();
  for (std::size_t i = 1; i <= kPlannedOperations; ++i) {
    const auto operation = static_cast<Operation>(i);
    plan[std::string(operation_name(operation))] = algorithm_name(operation, planned_choice(group.plan, operation, 0));
  }
  const Rank participating = group.members.size() - group.routers;
  const Rank ranks = group.live > 0 ? std::min(group.live, participating) : participating;
  TreeJson trees = TreeJson::array();
  add_tree(group, ranks, true, trees);
  add_tree(group, ranks, false, trees);
  // Ranks of a group that goes on without some are positions among those who are left.
  return {{"algorithms", plan}, {"shrunk", ranks < participating}, {"trees", trees}};
}

}  // namespace fibocast
