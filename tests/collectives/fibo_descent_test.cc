#include "collectives/fibo_descent.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "collectives/tree_fibo.h"
#include "tests/collectives/golden.h"

namespace fibocast {
namespace {

// The usual ratios and measured ones without a common divisor; a fan-out far beyond the table of binomials too.
constexpr LatencyRatio kManyRatios[] = {{1, 0},       {1, 1},       {1, 3},         {27, 88},        {88, 27},
                                        {3137, 9413}, {9413, 3137}, {27000, 88001}, {88001, 27000},  {1, 500},
                                        {500, 1},     {20, 19},     {999, 1000},    {1000003, 1009}, {6, 4}};

::testing::AssertionResult is_like(const Tree& tree, const LatencyRatio& l, Rank me) {
  const FiboDescent found(l.s, l.r, tree.size(), me);
  const auto children = tree.children(me);
  if (found.parent() != tree.parent(me) || found.children() != children.size())
    return ::testing::AssertionFailure() << "parent or fan-out of rank " << me;
  for (Rank i = 0; i < found.children(); ++i)
    if (found.child(i) != children[i]) return ::testing::AssertionFailure() << "child " << i << " of rank " << me;
  return ::testing::AssertionSuccess();
}

TEST(FiboDescent, GoldenTrees) {
  for (const auto& entry : test::golden("fibo.json", "trees")) {
    const std::vector<std::int64_t> parents = entry["parent"];
    const auto ranks = static_cast<Rank>(parents.size());
    for (Rank v = 0; v < ranks; ++v) {
      const Rank parent = FiboDescent(entry["s"], entry["r"], ranks, v).parent();
      ASSERT_EQ(parent == kNoRank ? -1 : std::int64_t{parent}, parents[v]);
    }
  }
}

TEST(FiboDescent, EqualsTheWholeTreeForRandomGroups) {
  std::mt19937 random(7);
  for (const LatencyRatio& l : kManyRatios)
    for (int i = 0; i < 12; ++i) {
      const Tree tree = tree_fibo(1 + random() % 2000, l.s, l.r);
      for (Rank v = 0; v < tree.size(); ++v)
        ASSERT_TRUE(is_like(tree, l, v)) << l.s << ' ' << l.r << " of " << tree.size();
    }
}

TEST(FiboDescent, EqualsTheWholeTreeForRandomLatencies) {
  std::mt19937 random(8);
  for (int i = 0; i < 60; ++i) {
    const LatencyRatio l{1 + random() % 100'000, random() % 300'000};
    const Tree tree = tree_fibo(1 + random() % 2000, l.s, l.r);
    for (Rank v = 0; v < tree.size(); ++v)
      ASSERT_TRUE(is_like(tree, l, v)) << l.s << ' ' << l.r << " of " << tree.size();
  }
}

TEST(FiboDescent, EqualsTheWholeTreeForSomeRanksOfLargeGroups) {
  std::mt19937 random(9);
  for (const LatencyRatio& l : kManyRatios) {
    const Tree tree = tree_fibo(50'000 + random() % 1'000'000, l.s, l.r);
    for (int k = 0; k < 2000; ++k) {
      const auto v = static_cast<Rank>(k == 0 ? 0 : random() % tree.size());
      ASSERT_TRUE(is_like(tree, l, v)) << l.s << ' ' << l.r << " of " << tree.size();
    }
  }
}

}  // namespace
}  // namespace fibocast
