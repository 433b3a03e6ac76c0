#include "collectives/models/workstation_trees.h"

#include <algorithm>
#include <array>

#include "collectives/check.h"
#include "collectives/models/workstations_optimum.h"
#include "collectives/tree_binomial.h"
#include "collectives/tree_catalog.h"

namespace fibocast {
namespace {

struct NamedTree {
  std::string_view name;
  Tree (*build)(const HeterogeneousCosts& costs, Rank root);
};

Tree mpich_binomial(const HeterogeneousCosts& costs, Rank root) {
  return tree_binomial(static_cast<Rank>(costs.nodes.size()), BinomialVariant::kMask).rotated(root);
}

constexpr std::array kNamedTrees = {
    NamedTree{"heterogeneous", [](const HeterogeneousCosts& c, Rank root) { return tree_heterogeneous(c, root); }},
    NamedTree{"heterogeneous:best", best_tree_heterogeneous},
    NamedTree{"heterogeneous:plain",
              [](const HeterogeneousCosts& c, Rank root) { return tree_fastest_first(c, root); }},
    NamedTree{"slow-first", tree_slow_first},
    NamedTree{"hierarchical", tree_hierarchical},
    NamedTree{"optimum", optimal_workstation_tree},
    NamedTree{"binomial", mpich_binomial},
};

}  // namespace

std::vector<bool> slow_nodes(const HeterogeneousCosts& costs) {
  const auto total = [](const NodeCost& node) { return node.send + node.receive; };
  const auto [least, most] = std::ranges::minmax_element(costs.nodes, {}, total);
  std::vector<bool> slow;
  for (const NodeCost& node : costs.nodes) slow.push_back(total(node) - total(*least) > total(*most) - total(node));
  return slow;
}

Tree tree_slow_first(const HeterogeneousCosts& costs, Rank root) {
  check(root < costs.nodes.size());
  const std::vector<bool> slow = slow_nodes(costs);
  std::vector<Rank> parent(costs.nodes.size(), root);
  parent[root] = kNoRank;
  std::vector<Rank> order;
  for (const bool is_slow : {true, false})
    for (Rank v = 0; v < parent.size(); ++v)
      if (slow[v] == is_slow) order.push_back(v);
  return Tree::from_parents(std::move(parent), order);
}

Tree tree_hierarchical(const HeterogeneousCosts& costs, Rank root) {
  check(root < costs.nodes.size());
  const std::vector<bool> slow = slow_nodes(costs);
  std::vector<Rank> parent(costs.nodes.size(), root);
  parent[root] = kNoRank;
  std::vector<Rank> fast = {root};
  std::vector<Rank> order;
  for (Rank v = 0; v < parent.size(); ++v) {
    if (v == root || slow[v]) continue;
    fast.push_back(v);
    order.push_back(v);
  }
  std::size_t next = 0;
  for (Rank v = 0; v < parent.size(); ++v) {
    if (v == root || !slow[v]) continue;
    parent[v] = fast[next++ % fast.size()];
    order.push_back(v);
  }
  return Tree::from_parents(std::move(parent), order);
}

std::string workstation_tree_names() {
  std::string names;
  for (const NamedTree& tree : kNamedTrees) names += std::string(tree.name) + ", ";
  return names + "sequential, binary, kary:K, binomial:mask, binomial:halving, binomial:doubling";
}

bool is_workstation_tree(std::string_view name) {
  std::string error;
  return std::ranges::find(kNamedTrees, name, &NamedTree::name) != std::end(kNamedTrees) || name == "fibo" ||
         name == "lambda" || choose_tree(name, {}, error).has_value();
}

std::optional<Tree> choose_workstation_tree(std::string_view name, const HeterogeneousCosts& costs, Rank root,
                                            std::string& error) {
  if (name == "optimum" && costs.nodes.size() > kMostOptimumNodes) {
    error = "the optimum is searched for up to " + std::to_string(kMostOptimumNodes) + " nodes";
    return {};
  }
  for (const NamedTree& tree : kNamedTrees)
    if (tree.name == name) return tree.build(costs, root);
  if (name == "fibo" || name == "lambda") {
    error = "the tree \"" + std::string(name) + "\" needs one s and r for all nodes: use heterogeneous";
    return {};
  }
  const auto choice = choose_tree(name, {}, error);
  if (choice) return choice->build(static_cast<Rank>(costs.nodes.size())).rotated(root);
  error = "there is no tree \"" + std::string(name) + "\" for workstations; allowed are " + workstation_tree_names();
  return {};
}

}  // namespace fibocast
