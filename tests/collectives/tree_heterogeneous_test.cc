#include "collectives/tree_heterogeneous.h"

#include <gtest/gtest.h>

#include <random>
#include <stdexcept>

#include "collectives/growth.h"
#include "collectives/tree_binomial.h"
#include "collectives/tree_sequential.h"
#include "tests/collectives/golden.h"

namespace fibocast {
namespace {

HeterogeneousCosts alike(Rank ranks, std::uint64_t send, std::uint64_t link, std::uint64_t receive) {
  return {std::vector<NodeCost>(ranks, {send, receive}), link};
}

HeterogeneousCosts random_costs(std::mt19937& random, Rank ranks) {
  const auto below = [&](std::uint64_t most) { return random() % most; };
  HeterogeneousCosts costs{{}, below(100)};
  for (Rank v = 0; v < ranks; ++v) costs.nodes.push_back({1 + below(200), below(300)});
  return costs;
}

// The golden machines: fixed and per-byte costs of a send and a receive.
HeterogeneousCosts costs_of(const nlohmann::json& machine) {
  const std::uint64_t m = machine["m"];
  HeterogeneousCosts costs{{}, machine["xc"].get<std::uint64_t>() + machine["xm"].get<std::uint64_t>() * m};
  for (const auto& node : machine["nodes"]) {
    const auto c = node.get<std::vector<std::uint64_t>>();
    costs.nodes.push_back({c[0] + c[1] * m, c[2] + c[3] * m});
  }
  return costs;
}

nlohmann::json children_of(const Tree& tree) {
  nlohmann::json children = nlohmann::json::array();
  for (Rank v = 0; v < tree.size(); ++v) children.push_back(tree.children(v));
  return children;
}

TEST(TreeHeterogeneous, C18GoldenTrees) {
  for (const auto& machine : test::golden("hnow.json", "custom")) {
    const HeterogeneousCosts costs = costs_of(machine);
    const Tree plain = tree_fastest_first(costs, 0);
    EXPECT_EQ(children_of(plain), machine["fnf"]);
    EXPECT_EQ(completion(plain, costs), machine["fnf_t"]);
    const Tree tree = tree_heterogeneous(costs, 0);
    EXPECT_EQ(children_of(tree), machine["fnf_leaf"]);
    EXPECT_EQ(completion(tree, costs), machine["fnf_leaf_t"]);
  }
}

TEST(TreeHeterogeneous, C7GoldenTimesOfOtherTrees) {
  for (const auto& machine : test::golden("hnow.json", "custom")) {
    const HeterogeneousCosts costs = costs_of(machine);
    const auto ranks = static_cast<Rank>(costs.nodes.size());
    EXPECT_EQ(completion(tree_binomial(ranks, BinomialVariant::kMask), costs), machine["binomial_t"]);
    EXPECT_EQ(completion(tree_sequential(ranks), costs), machine["sequential_t"]);
  }
}

TEST(TreeHeterogeneous, C18ExchangingLeavesNeverHurtsAndTheBestOrderIsTheBest) {
  std::mt19937 random(18);
  for (int i = 0; i < 300; ++i) {
    const Rank ranks = 1 + i % 40;
    const HeterogeneousCosts costs = random_costs(random, ranks);
    const Rank root = static_cast<Rank>(random() % ranks);
    const std::uint64_t best = completion(best_tree_heterogeneous(costs, root), costs);
    for (const ServeOrder order : {ServeOrder::kReceive, ServeOrder::kSend, ServeOrder::kSum}) {
      const Tree plain = tree_fastest_first(costs, root, order);
      const Tree tree = tree_heterogeneous(costs, root, order);
      ASSERT_TRUE(plain.is_valid() && tree.is_valid() && plain.root() == root && tree.root() == root);
      ASSERT_LE(completion(tree, costs), completion(plain, costs));
      ASSERT_LE(best, completion(tree, costs));
    }
  }
}

TEST(TreeHeterogeneous, F2NodesOfOneKindAreTheFiboTree) {
  for (const auto& [s, l, o] : {std::tuple{1u, 0u, 0u}, {1u, 0u, 3u}, {27u, 40u, 48u}, {5u, 1u, 1u}}) {
    for (Rank p = 1; p <= 100; ++p) {
      const HeterogeneousCosts costs = alike(p, s, l, o);
      ASSERT_EQ(completion(tree_heterogeneous(costs, 0), costs), distribution_latency(p, s, l + o)) << p;
      const Tree binomial = tree_binomial(p, BinomialVariant::kMask);
      ASSERT_EQ(activation_times(binomial, costs), activation_times(binomial, s, l + o));
      ASSERT_EQ(completion(tree_sequential(p), costs), p == 1 ? 0 : (p - 1) * s + l + o);
      ASSERT_EQ(reduction_completion(binomial, costs), reduction_completion(binomial, s, o, l));
    }
  }
}

TEST(TreeHeterogeneous, ReductionsWaitForTheSlowSenderAndTheSlowReceiver) {
  // Rank 1's message arrives at 10 + 1, rank 2's at 3 + 1; the root needs 5 for each.
  const HeterogeneousCosts costs{{{1, 5}, {10, 0}, {3, 0}}, 1};
  EXPECT_EQ(reduction_completion(tree_sequential(3), costs), 16u);
}

TEST(TreeHeterogeneous, OneTwoAndFourThousandNodes) {
  EXPECT_EQ(completion(tree_heterogeneous(alike(1, 1, 1, 1), 0), alike(1, 1, 1, 1)), 0u);
  const HeterogeneousCosts two{{{9, 9}, {2, 3}}, 4};
  EXPECT_EQ(completion(best_tree_heterogeneous(two, 0), two), 16u);
  EXPECT_EQ(completion(best_tree_heterogeneous(two, 1), two), 15u);
  std::mt19937 random(1);
  const HeterogeneousCosts many = random_costs(random, 4096);
  const Tree tree = best_tree_heterogeneous(many, 17);
  EXPECT_TRUE(tree.is_valid());
  EXPECT_LT(completion(tree, many), completion(tree_binomial(4096).rotated(17), many));
}

TEST(TreeHeterogeneous, TimesThatDoNotFitAreRefused) {
  EXPECT_NO_THROW(check_times_fit(alike(1000, 1'000'000, 0, 1'000'000)));
  EXPECT_NO_THROW(check_times_fit({}));
  EXPECT_THROW(check_times_fit(alike(2, UINT64_MAX, 0, 0)), std::overflow_error);
  EXPECT_THROW(check_times_fit(alike(2, 1, UINT64_MAX, UINT64_MAX)), std::overflow_error);
  EXPECT_THROW(check_times_fit(alike(1000, 1ull << 55, 0, 0)), std::overflow_error);
}

}  // namespace
}  // namespace fibocast
