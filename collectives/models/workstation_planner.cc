#include "collectives/models/workstation_planner.h"

#include <algorithm>
#include <array>
#include <utility>

#include "collectives/growth.h"
#include "collectives/models/workstation_trees.h"

namespace fibocast {
namespace {

constexpr std::array kCandidateTrees = {"heterogeneous", "heterogeneous:best",
                                        "slow-first",    "hierarchical",
                                        "binomial",      "sequential",
                                        "kary:1",        "kary:2",
                                        "kary:3",        "kary:4"};

// Time reversal (A30): what is best for distributing with sends and receives exchanged is best for gathering.
HeterogeneousCosts reversed(const HeterogeneousCosts& costs) {
  HeterogeneousCosts result = costs;
  for (NodeCost& node : result.nodes) {
    std::swap(node.send, node.receive);
    node.send = std::max<std::uint64_t>(node.send, 1);  // a send must take time
  }
  return result;
}

struct Phase {
  std::uint64_t time = 0;
  std::uint32_t depth = 0;
  std::uint64_t most_messages = 0;  // of one node
};

std::uint32_t depth_of(const Tree& tree) {
  std::vector<std::uint32_t> depth(tree.size(), 0);
  for (const Rank v : tree.from_root_down())
    if (v != tree.root()) depth[v] = depth[tree.parent(v)] + 1;
  return *std::ranges::max_element(depth);
}

Phase phase_of(const Tree& tree, std::uint64_t time) {
  Phase phase{time, depth_of(tree), 0};
  for (Rank v = 0; v < tree.size(); ++v)
    phase.most_messages = std::max<std::uint64_t>(phase.most_messages, tree.children(v).size() + (v != tree.root()));
  return phase;
}

Candidate candidate_of(const char* name, Operation operation, const HeterogeneousCosts& costs, std::uint64_t bytes) {
  Candidate c;
  c.name = name;
  const auto tree = choose_workstation_tree(name, costs, 0, c.objection);
  if (!tree) return c;
  const Phase down = phase_of(*tree, completion(*tree, costs));
  c.forecast.messages = tree->size() - 1, c.forecast.rounds = down.depth;
  c.predicted = down.time, c.busiest_bytes = down.most_messages * bytes;
  if (operation == Operation::kMulticast) return c;
  const auto up_tree = choose_workstation_tree(name, reversed(costs), 0, c.objection);
  if (!up_tree) return c;
  const Phase up = phase_of(*up_tree, reduction_completion(*up_tree, costs));
  c.forecast.messages *= 2, c.forecast.rounds += up.depth;
  c.forecast.reduced = up.time, c.predicted += up.time;
  return c;
}

NodeCost fastest(const HeterogeneousCosts& costs) {
  NodeCost best = costs.nodes.front();
  for (const NodeCost& node : costs.nodes)
    best = {std::min(best.send, node.send), std::min(best.receive, node.receive)};
  return best;
}

// As if all nodes were the fastest; and for the slowest one alone.
LowerBound bound_of(Operation operation, const HeterogeneousCosts& costs) {
  const auto p = static_cast<Rank>(costs.nodes.size());
  if (p == 1) return {0, "0", "one rank has nobody to wait for"};
  const NodeCost best = fastest(costs);
  std::vector<LowerBound> bounds;
  const auto spread = [&](std::uint64_t s, std::uint64_t r, const char* formula, const char* reason) {
    const std::uint64_t t = s == 0 ? r : static_cast<std::uint64_t>(distribution_latency(p, s, r));
    bounds.push_back({t, "T(" + std::to_string(p) + "; " + formula + ")", reason});
  };
  spread(best.send, costs.link + best.receive, "smallest s, link + smallest r",
         "no multicast is faster than among as many of the fastest senders and receivers");
  const auto slowest = std::ranges::max_element(costs.nodes.begin() + 1, costs.nodes.end(), {}, &NodeCost::receive);
  bounds.push_back({best.send + costs.link + slowest->receive, "smallest s + link + largest r",
                    "the slowest receiver must receive from somebody"});
  if (operation == Operation::kBarrier)
    spread(best.receive, costs.link + best.send, "smallest r, link + smallest s",
           "what all ranks know must reach one: a multicast in reverse, with s and r exchanged");
  return *std::ranges::max_element(bounds, {}, &LowerBound::ticks);
}

}  // namespace

PlanAnswer plan_workstations_answer(Operation operation, const HeterogeneousCosts& costs, std::uint64_t bytes) {
  PlanAnswer result;
  for (const char* name : kCandidateTrees) {
    result.candidates.push_back(candidate_of(name, operation, costs, bytes));
    const Candidate& c = result.candidates.back();
    if (c.objection.empty() && (!result.chosen || c.predicted < result.best()->predicted))
      result.chosen = result.candidates.size() - 1;
  }
  result.bound = bound_of(operation, costs);
  return result;
}

}  // namespace fibocast
