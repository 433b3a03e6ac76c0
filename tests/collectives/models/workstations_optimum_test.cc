#include "collectives/models/workstations_optimum.h"

#include <gtest/gtest.h>

#include <random>

#include "collectives/growth.h"
#include "tests/collectives/golden.h"

namespace fibocast {
namespace {

HeterogeneousCosts random_costs(std::mt19937& random, Rank ranks) {
  HeterogeneousCosts costs{{}, random() % 50};
  for (Rank v = 0; v < ranks; ++v) costs.nodes.push_back({1 + random() % 100, random() % 200});
  return costs;
}

// Every tree and order there is: any informed node sends next to any waiting one.
std::uint64_t by_brute_force(const HeterogeneousCosts& costs, std::vector<std::uint64_t> next_send,
                             std::uint64_t latest, std::uint64_t waiting) {
  if (waiting == 0) return latest;
  std::uint64_t best = UINT64_MAX;
  for (Rank v = 0; v < costs.nodes.size(); ++v) {
    if (waiting >> v & 1) continue;
    for (Rank w = 0; w < costs.nodes.size(); ++w) {
      if (!(waiting >> w & 1)) continue;
      std::vector<std::uint64_t> next = next_send;
      const std::uint64_t active = next[v] + costs.link + costs.nodes[w].receive;
      next[v] += costs.nodes[v].send;
      next[w] = active + costs.nodes[w].send;
      best = std::min(best, by_brute_force(costs, std::move(next), std::max(latest, active), waiting & ~(1ull << w)));
    }
  }
  return best;
}

TEST(WorkstationsOptimum, C18GoldenMachines) {
  for (const auto& machine : test::golden("hnow.json", "custom")) {
    const std::uint64_t m = machine["m"];
    HeterogeneousCosts costs{{}, machine["xc"].get<std::uint64_t>() + machine["xm"].get<std::uint64_t>() * m};
    for (const auto& c : machine["nodes"])
      costs.nodes.push_back({c[0].get<std::uint64_t>() + c[1].get<std::uint64_t>() * m,
                             c[2].get<std::uint64_t>() + c[3].get<std::uint64_t>() * m});
    EXPECT_EQ(completion(optimal_workstation_tree(costs, 0), costs), machine["opt"]);
  }
}

TEST(WorkstationsOptimum, C18AllTreesOfFiveNodes) {
  std::mt19937 random(5);
  for (int i = 0; i < 40; ++i) {
    const Rank ranks = 1 + i % 5;
    const HeterogeneousCosts costs = random_costs(random, ranks);
    const Tree tree = optimal_workstation_tree(costs, 0);
    ASSERT_TRUE(tree.is_valid());
    std::vector<std::uint64_t> next(ranks, 0);
    next[0] = costs.nodes[0].send;
    ASSERT_EQ(completion(tree, costs), by_brute_force(costs, next, 0, (1ull << ranks) - 2));
  }
}

TEST(WorkstationsOptimum, C18HowNearTheHeuristicsCome) {
  std::mt19937 random(18);
  int exact = 0;
  for (int i = 0; i < 300; ++i) {
    const HeterogeneousCosts costs = random_costs(random, 2 + i % 7);
    const std::uint64_t optimum = completion(optimal_workstation_tree(costs, 0), costs);
    const auto ratio = [&](const Tree& tree) {
      return static_cast<double>(completion(tree, costs)) / static_cast<double>(optimum);
    };
    ASSERT_LE(ratio(tree_fastest_first(costs, 0)), 1.57);
    ASSERT_LE(ratio(tree_heterogeneous(costs, 0)), 1.31);
    exact += ratio(best_tree_heterogeneous(costs, 0)) == 1;
  }
  EXPECT_GE(exact, 200);
}

TEST(WorkstationsOptimum, F2NodesOfOneKind) {
  for (Rank p = 1; p <= 8; ++p) {
    const HeterogeneousCosts costs{std::vector<NodeCost>(p, {27, 48}), 40};
    EXPECT_EQ(completion(optimal_workstation_tree(costs, p - 1), costs), distribution_latency(p, 27, 88));
  }
}

}  // namespace
}  // namespace fibocast
