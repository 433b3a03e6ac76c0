#include "collectives/models/fat_tree.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/collectives/golden.h"
#include "tests/collectives/models/fat_trees.h"

namespace fibocast {
namespace {

using test::fat_tree;

FatTree fat_tree_of(const nlohmann::json& entry) { return {entry["n"], entry["c"].get<std::vector<std::uint64_t>>()}; }

TEST(FatTree, CapacitiesByName) {
  EXPECT_EQ(fat_tree(8, "constant").capacity, (std::vector<std::uint64_t>{1, 1, 1}));
  EXPECT_EQ(fat_tree(8, "exponential").capacity, (std::vector<std::uint64_t>{1, 2, 4}));
  EXPECT_EQ(fat_tree(8, "1,2,2").capacity, (std::vector<std::uint64_t>{1, 2, 2}));
  EXPECT_EQ(fat_tree(1, "constant").levels(), 0u);
  EXPECT_EQ(fat_tree(1, "").levels(), 0u);
}

TEST(FatTree, HWhatIsRefused) {
  std::string error;
  for (const std::uint64_t n : {0ull, 3ull, 12ull, 2ull * kMostModelLeaves}) {
    EXPECT_FALSE(make_fat_tree(n, "constant", error)) << n;
    EXPECT_NE(error.find("power of two"), std::string::npos) << error;
  }
  for (const std::string list : {"2,2,2", "0,1,1", "1,1", "1,1,1,1", "1,2,1", "1,,2", "1,2,", "1,2,x", "fat", "",
                                 "-1,1,1", "1,1,99999999999999999999"}) {
    EXPECT_FALSE(make_fat_tree(8, list, error)) << list;
    EXPECT_NE(error, "") << list;
  }
  EXPECT_TRUE(has_exchange_schedule(fat_tree(8, "1,2,2")));
  EXPECT_FALSE(has_exchange_schedule(fat_tree(8, "1,1,4")));
  EXPECT_FALSE(has_exchange_schedule(fat_tree(8, "1,2,3")));
}

TEST(FatTree, E4GoldenBounds) {
  for (const auto& entry : test::golden("fattree.json", "bounds")) {
    const FatTreeBounds bounds = fat_tree_bounds(fat_tree_of(entry));
    EXPECT_EQ(bounds.broadcast, entry["broadcast"]);
    EXPECT_EQ(bounds.scatter, entry["scatter"]);
    EXPECT_EQ(bounds.multinode_broadcast, entry["multinode"]);
    EXPECT_EQ(bounds.total_exchange, entry["total_exchange"]);
  }
}

TEST(FatTree, E4OneLeafNeedsNothing) {
  const FatTreeBounds bounds = fat_tree_bounds(fat_tree(1, "constant"));
  EXPECT_EQ(bounds.broadcast + bounds.scatter + bounds.multinode_broadcast + bounds.total_exchange, 0u);
  EXPECT_EQ(serial_exchange(fat_tree(1, "constant")), 0u);
  EXPECT_EQ(pipelined_exchange(fat_tree(1, "constant")), 0u);
}

TEST(FatTree, E13GoldenTimes) {
  for (const auto& entry : test::golden("fattree.json", "total_exchange")) {
    const FatTree tree = fat_tree_of(entry);
    EXPECT_EQ(serial_exchange(tree), entry["serial"]);
    EXPECT_EQ(pipelined_exchange(tree), entry["pipelined"]);
    nlohmann::json phases = nlohmann::json::array();
    for (const ExchangePhase& p : exchange_phases(tree)) phases.push_back({p.level, p.dispatches, p.steps});
    EXPECT_EQ(phases, entry["phases"]);
  }
}

TEST(FatTree, E13ClosedForms) {
  for (std::uint64_t n = 2; n <= kMostModelLeaves; n *= 2) {
    const FatTree constant = fat_tree(n, "constant");
    const FatTree exponential = fat_tree(n, "exponential");
    const std::uint64_t levels = constant.levels();
    EXPECT_EQ(pipelined_exchange(constant), (n * n - 1) / 3 + 2 * levels - 1);
    EXPECT_EQ(serial_exchange(constant), (n * n - 1) / 3 + levels * levels);
    EXPECT_EQ(pipelined_exchange(exponential), n + 2 * levels - 2);
    EXPECT_EQ(serial_exchange(exponential) - pipelined_exchange(exponential), (levels - 1) * (levels - 1));
  }
}

TEST(FatTree, E14EffectiveCapacities) {
  EXPECT_EQ(effective_capacities(fat_tree(8, "1,1,4")), (std::vector<std::uint64_t>{1, 1, 2}));
  EXPECT_EQ(effective_capacities(fat_tree(16, "1,4,4,16")), (std::vector<std::uint64_t>{1, 2, 4, 8}));
  EXPECT_EQ(exchange_phases(fat_tree(8, "1,1,4")).front().dispatches, 8u);
}

TEST(FatTree, E15GoldenBounds) {
  for (const auto& entry : test::golden("fattree.json", "lemma3")) {
    const ExchangeLowerBounds bounds = exchange_lower_bounds(entry["n"]);
    EXPECT_NEAR(bounds.lemma3, entry["lemma3"], 1e-6);
    EXPECT_EQ(bounds.holes, entry["holes"]);
    EXPECT_EQ(bounds.sound, entry["sound"]);
    EXPECT_EQ(pipelined_exchange(fat_tree(entry["n"], "exponential")), entry["algorithm"]);
  }
  EXPECT_NEAR(exchange_lower_bounds(1024).lemma3, 1035.36, 0.005);
  EXPECT_EQ(exchange_lower_bounds(1024).sound, 1036u);
}

TEST(FatTree, E15TheSoundBoundImpliesLemma3) {
  for (std::uint64_t n = 4; n <= 1 << 20; n *= 2) {
    const ExchangeLowerBounds bounds = exchange_lower_bounds(n);
    EXPECT_GE(static_cast<double>(bounds.sound), bounds.lemma3) << n;
    EXPECT_LE(bounds.sound, pipelined_exchange(fat_tree(n, "exponential")));
  }
  EXPECT_EQ(exchange_lower_bounds(2).sound, 2u);
}

TEST(FatTree, E15LargeTreesDoNotOverflow) {
  const ExchangeLowerBounds bounds = exchange_lower_bounds(kMostModelLeaves);
  EXPECT_GE(static_cast<double>(bounds.sound), std::floor(bounds.lemma3));
  EXPECT_LT(bounds.sound, kMostModelLeaves + 60);
}

}  // namespace
}  // namespace fibocast
