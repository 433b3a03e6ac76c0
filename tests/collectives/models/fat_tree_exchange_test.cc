#include "collectives/models/fat_tree_exchange.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "tests/collectives/golden.h"
#include "tests/collectives/models/fat_trees.h"

namespace fibocast {
namespace {

using test::fat_tree;

std::vector<FatTreeDispatch> schedule_of(const FatTree& tree, bool pipelined) {
  std::string error;
  return exchange_schedule(tree, pipelined, error).value();
}

nlohmann::json rows(const std::vector<FatTreeDispatch>& schedule) {
  nlohmann::json result = nlohmann::json::array();
  for (const FatTreeDispatch& d : schedule) result.push_back({d.step, d.source, d.destination});
  return result;
}

// All capacities in which each level has once or twice the links of the one below.
std::vector<FatTree> allowed_trees(std::uint64_t leaves) {
  const unsigned levels = tree_levels(static_cast<Rank>(leaves));
  std::vector<FatTree> trees;
  for (unsigned doubled = 0; doubled < 1u << (levels == 0 ? 0 : levels - 1); ++doubled) {
    FatTree tree{leaves, std::vector<std::uint64_t>(levels, 1)};
    for (unsigned h = 1; h < levels; ++h) tree.capacity[h] = tree.capacity[h - 1] * (1 + (doubled >> (h - 1) & 1));
    trees.push_back(tree);
  }
  return trees;
}

TEST(FatTreeExchange, E12Golden) {
  for (const auto& entry : test::golden("fattree.json", "te_schedule")) {
    const FatTree tree{entry["n"], entry["c"].get<std::vector<std::uint64_t>>()};
    EXPECT_EQ(rows(schedule_of(tree, entry["pipelined"])), entry["dispatch"]);
  }
}

TEST(FatTreeExchange, E12HRefusesOtherRatios) {
  std::string error;
  EXPECT_FALSE(exchange_schedule(fat_tree(8, "1,1,4"), true, error));
  EXPECT_NE(error, "");
  EXPECT_FALSE(exchange_schedule(fat_tree(8, "1,2,3"), true, error));
}

TEST(FatTreeExchange, E13HopByHopForAllAllowedCapacities) {
  for (std::uint64_t n = 1; n <= (FIBOCAST_SANITIZED ? 32 : 64); n *= 2)
    for (const FatTree& tree : allowed_trees(n))
      for (const bool pipelined : {false, true}) {
        const auto schedule = schedule_of(tree, pipelined);
        EXPECT_EQ(exchange_mistake(tree, schedule), std::nullopt);
        EXPECT_EQ(simulate(tree, schedule).completion, pipelined ? pipelined_exchange(tree) : serial_exchange(tree));
      }
}

TEST(FatTreeExchange, E13OneStepEarlierCollides) {
  for (std::uint64_t n = 4; n <= 32; n *= 2)
    for (const FatTree& tree : allowed_trees(n)) {
      const auto phases = exchange_phases(tree);
      for (std::size_t i = 1; i < phases.size(); ++i) {
        auto schedule = schedule_of(tree, true);
        for (FatTreeDispatch& d : schedule) d.step -= d.step >= phases[i].first ? 1 : 0;
        EXPECT_TRUE(simulate(tree, schedule).conflict) << n << ' ' << phases[i].level;
      }
    }
}

TEST(FatTreeExchange, E13EachRanksOwnStepsAreTheWholeSchedule) {
  for (Rank n = 1; n <= 128; n *= 2) {
    EXPECT_EQ(exchange_schedule_of_kind(ExchangeKind::kConstant, n), schedule_of(fat_tree(n, "constant"), true));
    EXPECT_EQ(exchange_schedule_of_kind(ExchangeKind::kExponential, n), schedule_of(fat_tree(n, "exponential"), true));
  }
}

TEST(FatTreeExchange, E13E16EachRanksOwnStepsHopByHop) {
  for (const auto kind : {ExchangeKind::kConstant, ExchangeKind::kExponential, ExchangeKind::kExponentialXor})
    for (Rank n = 1; n <= 128; n *= 2) {
      const FatTree tree = fat_tree(n, kind == ExchangeKind::kConstant ? "constant" : "exponential");
      const auto schedule = exchange_schedule_of_kind(kind, n);
      EXPECT_EQ(exchange_mistake(tree, schedule), std::nullopt);
      EXPECT_EQ(simulate(tree, schedule).completion, exchange_steps(kind, n));
    }
}

TEST(FatTreeExchange, E16GoldenCounterexample) {
  for (const auto& entry : test::golden("fattree.json", "xor_counterexample")) {
    const auto classes = entry["classes"].get<std::vector<unsigned>>();
    const FatTree tree = fat_tree(entry["n"], "exponential");
    const auto schedule = xor_schedule(entry["n"], classes);
    ASSERT_TRUE(schedule);
    EXPECT_EQ(exchange_mistake(tree, *schedule), std::nullopt);
    EXPECT_EQ(simulate(tree, *schedule).completion, entry["T"]);
    EXPECT_EQ(rows(*schedule), rows(exchange_schedule_of_kind(ExchangeKind::kExponentialXor, entry["n"])));
  }
}

TEST(FatTreeExchange, E16TheConjectureIsFalse) {
  for (const auto& [n, steps] : {std::pair{8u, 11u}, {16u, 21u}, {32u, 39u}}) {
    const FatTree tree = fat_tree(n, "exponential");
    const auto traffic = simulate(tree, exchange_schedule_of_kind(ExchangeKind::kExponentialXor, n));
    EXPECT_FALSE(traffic.conflict);
    EXPECT_EQ(traffic.completion, steps);
    EXPECT_LT(steps, pipelined_exchange(tree));
    EXPECT_GE(steps, exchange_lower_bounds(n).sound);
  }
  EXPECT_EQ(exchange_lower_bounds(8).sound, 11u);
}

// Arrival steps s + 2c - 1 are distinct if and only if the hop-by-hop simulation finds no conflict.
TEST(FatTreeExchange, E16ConflictsAreEqualArrivals) {
  const std::array<std::vector<unsigned>, 3> some = {
      std::vector<unsigned>{3, 3, 3, 3, 2, 2, 1}, {3, 3, 3, 3, 0, 0, 2, 2, 0, 0, 1}, {1, 2, 2, 3, 3, 3, 3}};
  for (const auto& classes : some) {
    std::vector<std::size_t> arrivals;
    for (std::size_t s = 1; s <= classes.size(); ++s)
      if (classes[s - 1] > 0) arrivals.push_back(s + 2 * classes[s - 1] - 1);
    std::sort(arrivals.begin(), arrivals.end());
    const bool distinct = std::adjacent_find(arrivals.begin(), arrivals.end()) == arrivals.end();
    const auto schedule = xor_schedule(8, classes);
    ASSERT_TRUE(schedule);
    EXPECT_EQ(!simulate(fat_tree(8, "exponential"), *schedule).conflict, distinct);
  }
}

TEST(FatTreeExchange, E16NoOtherXorScheduleIsShorter) {
  EXPECT_EQ(best_xor_steps(2), 2u);
  EXPECT_EQ(best_xor_steps(4), 6u);
  EXPECT_EQ(best_xor_steps(8), 11u);
  EXPECT_EQ(best_xor_steps(16), 21u);
  EXPECT_EQ(best_xor_steps(32), 39u);
}

TEST(FatTreeExchange, E16ClassesMustBeUsedUp) {
  EXPECT_FALSE(xor_schedule(8, std::array{3u, 3u, 3u, 3u, 2u, 2u}));
  EXPECT_FALSE(xor_schedule(4, std::array{2u, 2u, 2u}));
  EXPECT_FALSE(xor_schedule(4, std::array{2u, 2u, 3u}));
  EXPECT_TRUE(xor_schedule(1, {}));
}

}  // namespace
}  // namespace fibocast
