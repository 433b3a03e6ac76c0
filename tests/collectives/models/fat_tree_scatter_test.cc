#include "collectives/models/fat_tree_scatter.h"

#include <gtest/gtest.h>

#include "tests/collectives/golden.h"
#include "tests/collectives/models/fat_trees.h"

namespace fibocast {
namespace {

using test::fat_tree;

// Of a schedule without a conflict: by the simulator, at each destination.
std::vector<std::uint64_t> arrivals(Rank n, const std::vector<FatTreeDispatch>& schedule) {
  const FatTreeTraffic traffic = simulate(fat_tree(n), schedule);
  EXPECT_FALSE(traffic.conflict);
  std::vector<std::uint64_t> result(n);
  for (std::size_t i = 0; i < schedule.size(); ++i) result[schedule[i].destination] = traffic.received[i];
  return result;
}

std::uint64_t completion(Rank n, const std::vector<FatTreeDispatch>& schedule) {
  const FatTreeTraffic traffic = simulate(fat_tree(n), schedule);
  EXPECT_FALSE(traffic.conflict);
  return traffic.completion;
}

TEST(FatTreeSimulator, E2E3TimeOfOnePacket) {
  for (const Rank to : {1u, 2u, 5u, 7u}) {
    const auto traffic = simulate(fat_tree(8), {{3, 0, to}});
    EXPECT_EQ(traffic.received[0], 3 + 2 * common_level(0, to) - 1);
  }
}

TEST(FatTreeSimulator, NoticesAConflictOnTheFirstSharedLink) {
  // 0 and 1 reach the branch above their router together.
  const std::vector<FatTreeDispatch> both = {{1, 0, 6}, {1, 1, 7}};
  const auto conflict = simulate(fat_tree(8), both).conflict;
  ASSERT_TRUE(conflict);
  EXPECT_EQ(conflict->step, 2u);
  EXPECT_EQ(conflict->from, 8u);
  EXPECT_EQ(conflict->to, 12u);
  EXPECT_EQ(conflict->packets, 2u);
  EXPECT_FALSE(simulate(fat_tree(8, "exponential"), both).conflict);
  EXPECT_TRUE(simulate(fat_tree(8, "exponential"), {{1, 0, 6}, {1, 1, 6}}).conflict);
  EXPECT_FALSE(simulate(fat_tree(8), {{1, 0, 1}, {1, 1, 0}}).conflict);  // full duplex
}

TEST(FatTreeSimulator, WhatIsNoTotalExchange) {
  EXPECT_TRUE(exchange_mistake(fat_tree(2), {{1, 0, 1}}));
  EXPECT_TRUE(exchange_mistake(fat_tree(2), {{1, 0, 1}, {2, 0, 1}}));
  EXPECT_FALSE(exchange_mistake(fat_tree(2), {{1, 0, 1}, {1, 1, 0}}));
  EXPECT_TRUE(exchange_mistake(fat_tree(4), {{1, 0, 1}, {1, 0, 2}, {1, 0, 3}}));
}

TEST(FatTreeScatter, E5Golden) {
  for (const auto& entry : test::golden("fattree.json", "scatter")) {
    const Rank n = entry["n"];
    const auto farthest = scatter_schedule(n, entry["src"], ScatterOrder::kFarthestFirst);
    EXPECT_EQ(nlohmann::json(arrivals(n, farthest)), entry["arrival"]);
    EXPECT_EQ(scatter_steps(n), entry["T"]);
    EXPECT_EQ(completion(n, scatter_schedule(n, entry["src"], ScatterOrder::kNearestFirst)), entry["nearest_T"]);
  }
}

TEST(FatTreeScatter, E5CompletionOfTheClasses) {
  for (Rank n = 4; n <= 1024; n *= 2) {
    const auto arrival = arrivals(n, scatter_schedule(n, 0, ScatterOrder::kFarthestFirst));
    std::vector<std::uint64_t> complete(tree_levels(n) + 1);
    for (Rank x = 1; x < n; ++x) complete[common_level(0, x)] = std::max(complete[common_level(0, x)], arrival[x]);
    for (unsigned i = 1; i <= tree_levels(n); ++i) EXPECT_EQ(complete[i], scatter_class_completion(n, i));
    EXPECT_EQ(complete[1], n);
    EXPECT_EQ(complete[2], n + 1);
    for (unsigned i = 3; i <= tree_levels(n); ++i) EXPECT_EQ(complete[i] == complete[i - 1], i == 3);
    EXPECT_EQ(*std::max_element(complete.begin(), complete.end()), n + 1);
  }
}

TEST(FatTreeScatter, E5NearestFirstIsSlower) {
  for (Rank n = 2; n <= 512; n *= 2)
    EXPECT_EQ(completion(n, scatter_schedule(n, n / 2, ScatterOrder::kNearestFirst)), n + 2 * tree_levels(n) - 2);
}

TEST(FatTreeScatter, E6Golden) {
  for (const auto& entry : test::golden("fattree.json", "gather")) {
    const Rank n = entry["n"];
    const auto schedule = gather_schedule(n, entry["dst"]);
    std::vector<std::uint64_t> depart(n);
    for (const FatTreeDispatch& d : schedule) depart[d.source] = d.step;
    EXPECT_EQ(nlohmann::json(depart), entry["depart"]);
    EXPECT_EQ(completion(n, schedule), entry["T"]);
  }
}

TEST(FatTreeScatter, E10GoldenPairScatters) {
  for (const auto& entry : test::golden("fattree.json", "te_pair_scatter")) {
    const auto schedule = pair_scatter_schedule(entry["n"]);
    EXPECT_EQ(exchange_mistake(fat_tree(entry["n"]), schedule), std::nullopt);
    EXPECT_EQ(completion(entry["n"], schedule), entry["T"]);
  }
}

TEST(FatTreeScatter, E10EveryPairIsFreeOfConflicts) {
  for (Rank n = 4; n <= 128; n *= 2)
    for (Rank k = 0; k < n / 2; ++k) EXPECT_EQ(completion(n, pair_scatter(n, k)), n + 1) << n << ' ' << k;
  for (const Rank k : {0u, 37u, 127u}) EXPECT_EQ(completion(256, pair_scatter(256, k)), 257u);
}

TEST(FatTreeScatter, E10PlainAscendingOrderFails) {
  for (const Rank n : {4u, 8u}) {
    auto both = scatter_schedule(n, 0, ScatterOrder::kFarthestFirst);
    const auto other = scatter_schedule(n, n - 1, ScatterOrder::kFarthestFirst);
    both.insert(both.end(), other.begin(), other.end());
    EXPECT_TRUE(simulate(fat_tree(n), both).conflict) << n;
  }
}

TEST(FatTreeScatter, OneAndTwoLeaves) {
  EXPECT_TRUE(scatter_schedule(1, 0, ScatterOrder::kFarthestFirst).empty());
  EXPECT_TRUE(gather_schedule(1, 0).empty());
  EXPECT_EQ(completion(2, scatter_schedule(2, 1, ScatterOrder::kFarthestFirst)), 2u);
  EXPECT_EQ(scatter_steps(1), 0u);
}

}  // namespace
}  // namespace fibocast
