#include "collectives/tree_fibo.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "collectives/growth.h"
#include "tests/collectives/children.h"
#include "tests/collectives/golden.h"

namespace fibocast {
namespace {

using test::children;

std::vector<Rank> parents(const std::vector<int>& with_minus_one) {
  std::vector<Rank> result;
  for (const int parent : with_minus_one) result.push_back(static_cast<Rank>(parent));  // -1 becomes kNoRank
  return result;
}

std::vector<Rank> subtree_sizes(const Tree& tree) {
  std::vector<Rank> size(tree.size(), 1);
  for (Rank v = tree.size() - 1; v > 0; --v) size[tree.parent(v)] += size[v];
  return size;
}

TEST(TreeFibo, A13GoldenTrees) {
  for (const auto& entry : test::golden("fibo.json", "trees")) {
    const Tree tree = tree_fibo(entry["p"], entry["s"], entry["r"]);
    EXPECT_TRUE(std::ranges::equal(tree.parents(), parents(entry["parent"])));
    EXPECT_EQ(activation_times(tree, entry["s"], entry["r"]), entry["act"].get<std::vector<std::uint64_t>>());
    EXPECT_EQ(children(tree, 0), entry["root_children"].get<std::vector<Rank>>());
    EXPECT_EQ(completion(tree, entry["s"], entry["r"]), entry["T"]);
  }
}

TEST(TreeFibo, A15Examples) {
  const Tree tree = tree_fibo(19, 1, 3);
  const std::vector<int> expected = {-1, 0, 0, 0, 0, 0, 5, 0, 7, 7, 0, 10, 10, 10, 0, 14, 14, 14, 14};
  EXPECT_TRUE(std::ranges::equal(tree.parents(), parents(expected)));
  EXPECT_EQ(children(tree, 0), (std::vector<Rank>{14, 10, 7, 5, 4, 3, 2, 1}));
  EXPECT_TRUE(std::ranges::equal(tree_fibo(8, 1, 1).parents(), parents({-1, 0, 0, 0, 3, 0, 5, 5})));
  const std::vector<Rank> sizes = subtree_sizes(tree_fibo(64, 1, 3));
  std::vector<Rank> root_sizes;
  const Tree large = tree_fibo(64, 1, 3);
  for (const Rank child : large.children(0)) root_sizes.push_back(sizes[child]);
  EXPECT_EQ(root_sizes, (std::vector<Rank>{14, 14, 10, 7, 5, 4, 3, 2, 1, 1, 1, 1}));
}

TEST(TreeFibo, A11CompletesInT) {
  for (std::uint64_t s = 1; s <= 6; ++s)
    for (std::uint64_t r = 0; r <= 8; ++r)
      for (Rank p = 1; p <= 2000; p += FIBOCAST_SANITIZED ? 17 : 1)
        ASSERT_EQ(completion(tree_fibo(p, s, r), s, r), static_cast<std::uint64_t>(distribution_latency(p, s, r)))
            << s << ' ' << r << ' ' << p;
}

TEST(TreeFibo, A12OnlyTheLastAreLeftOutAndSizesDoNotGrow) {
  for (const auto& [s, r] : {std::pair<std::uint64_t, std::uint64_t>{1, 1}, {1, 3}, {3, 2}, {27, 88}})
    for (Rank p = 2; p <= 300; ++p) {
      const Tree tree = tree_fibo(p, s, r);
      const std::vector<std::uint64_t> times = activation_times(tree, s, r);
      const std::int64_t end = distribution_latency(p, s, r);
      const auto before = std::ranges::count_if(times, [&](auto t) { return t < static_cast<std::uint64_t>(end); });
      ASSERT_EQ(static_cast<std::uint64_t>(before), growth(end - 1, s, r));
      const std::vector<Rank> size = subtree_sizes(tree);
      for (Rank v = 0; v < p; ++v)
        ASSERT_TRUE(std::ranges::is_sorted(tree.children(v), std::greater<>(), [&](Rank c) { return size[c]; }));
    }
}

TEST(TreeFibo, A13SubtreesAreContiguous) {
  const Tree tree = tree_fibo(1000, 27, 88);
  const std::vector<Rank> size = subtree_sizes(tree);
  for (Rank v = 0; v < tree.size(); ++v) {
    Rank next = v + 1;  // the last child in send order comes first
    for (const Rank child : std::vector<Rank>(tree.children(v).rbegin(), tree.children(v).rend())) {
      ASSERT_EQ(child, next);
      next += size[child];
    }
    ASSERT_EQ(next, v + size[v]);
  }
}

TEST(TreeFibo, A14ForwardOrderIsWrong) {
  const auto forward = [](Rank p) {
    const Tree tree = tree_fibo(p, 1, 3);
    return Tree::from_parents({tree.parents().begin(), tree.parents().end()}, SendOrder::kAscending);
  };
  EXPECT_EQ(completion(forward(64), 1, 3), 31u);
  EXPECT_EQ(completion(forward(19), 27, 88), 500u);
}

TEST(TreeFibo, A4SameTreeForMultiples) {
  for (Rank p = 1; p <= 100; ++p)
    EXPECT_TRUE(std::ranges::equal(tree_fibo(p, 2, 6).parents(), tree_fibo(p, 1, 3).parents()));
}

TEST(TreeFibo, A17NoLimitOfRanksOrTime) {
  for (const auto& [s, r, p] : {std::tuple<std::uint64_t, std::uint64_t, Rank>{27, 88, 59'916},
                                {100, 300, 15},
                                {200, 600, 4},
                                {27'000, 88'001, 2'000},
                                {1, 0, 1 << 20},
                                {1, 100'000, 200'000},
                                {std::uint64_t{1} << 40, 1, 5'000}}) {
    const Tree tree = tree_fibo(p, s, r);
    EXPECT_TRUE(tree.is_valid());
    EXPECT_EQ(completion(tree, s, r), static_cast<std::uint64_t>(distribution_latency(p, s, r)));
  }
}

}  // namespace
}  // namespace fibocast
