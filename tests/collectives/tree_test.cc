#include "collectives/tree.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "collectives/growth.h"
#include "collectives/tree_binomial.h"
#include "collectives/tree_fibo.h"
#include "collectives/tree_kary.h"
#include "collectives/tree_sequential.h"
#include "tests/collectives/children.h"

namespace fibocast {
namespace {

using test::children;

TEST(Tree, A1ActivationFollowsSendOrder) {
  const std::vector<Rank> parent = {kNoRank, 0, 0, 1};
  const Tree up = Tree::from_parents(parent, SendOrder::kAscending);
  EXPECT_EQ(children(up, 0), (std::vector<Rank>{1, 2}));
  EXPECT_EQ(activation_times(up, 2, 3), (std::vector<std::uint64_t>{0, 5, 7, 10}));
  const Tree down = Tree::from_parents(parent, SendOrder::kDescending);
  EXPECT_EQ(activation_times(down, 2, 3), (std::vector<std::uint64_t>{0, 7, 5, 12}));
  EXPECT_EQ(completion(down, 2, 3), 12u);
}

TEST(Tree, A3OneAndTwoRanks) {
  EXPECT_EQ(completion(tree_sequential(1), 27, 88), 0u);
  EXPECT_EQ(completion(tree_sequential(2), 27, 88), 115u);
  EXPECT_EQ(reduction_completion(tree_sequential(1), 27, 88), 0u);
}

TEST(Tree, A2LongMessagesAddToTheSendLatency) {
  EXPECT_EQ(completion(tree_sequential(3), 27 + 100, 88), 2u * 127 + 88);
}

TEST(Tree, ACycleIsNoTree) {
  EXPECT_FALSE(Tree::from_parents({kNoRank, 2, 1}, SendOrder::kAscending).is_valid());
  EXPECT_TRUE(Tree::from_parents({1, kNoRank, 0}, SendOrder::kAscending).is_valid());
  EXPECT_EQ(Tree::from_parents({1, kNoRank, 0}, SendOrder::kAscending).root(), 1u);
}

TEST(Tree, RotationMovesTheRootAndKeepsTheSendOrder) {
  const Tree tree = tree_fibo(19, 1, 3);
  const Tree rotated = tree.rotated(5);
  EXPECT_EQ(rotated.root(), 5u);
  EXPECT_TRUE(rotated.is_valid());
  EXPECT_EQ(children(rotated, 5), (std::vector<Rank>{0, 15, 12, 10, 9, 8, 7, 6}));  // 14, 10, 7, .. plus 5 modulo 19
  const auto times = activation_times(tree, 27, 88);
  const auto rotated_times = activation_times(rotated, 27, 88);
  for (Rank v = 0; v < 19; ++v) EXPECT_EQ(times[v], rotated_times[(v + 5) % 19]);
}

TEST(Tree, A30Reductions) {
  EXPECT_EQ(reduction_completion(tree_fibo(19, 27, 88), 27, 88), 731u);
  EXPECT_EQ(reduction_completion(tree_binomial(19), 27, 88), 494u);
  EXPECT_EQ(reduction_completion(tree_fibo(19, 88, 27), 27, 88), 494u);
}

// Time reversal: up the mirror tree a reduction takes T(r, s, p).
TEST(Tree, A30MirrorTreeReducesInItsDistributionLatency) {
  for (std::uint64_t s = 1; s <= 6; ++s)
    for (std::uint64_t r = 1; r <= 8; ++r)
      for (Rank p = 1; p <= 120; ++p)
        ASSERT_EQ(reduction_completion(tree_fibo(p, r, s), s, r),
                  static_cast<std::uint64_t>(distribution_latency(p, r, s)));
}

TEST(Tree, A31FanIn) {
  for (Rank k = 1; k <= 20; ++k) EXPECT_EQ(reduction_completion(tree_sequential(k + 1), 5, 7, 11), 5u + 11 + k * 7);
}

TEST(Tree, AllKindsAreValidUpTo2000Ranks) {
  for (Rank p = 1; p <= 2000; p += FIBOCAST_SANITIZED ? 17 : 1) {
    ASSERT_TRUE(tree_sequential(p).is_valid());
    for (const Rank arity : {1u, 2u, 3u, 8u}) ASSERT_TRUE(tree_kary(p, arity).is_valid());
    ASSERT_TRUE(tree_binomial(p).is_valid());
    for (const auto variant : {BinomialVariant::kMask, BinomialVariant::kHalving, BinomialVariant::kDoubling})
      ASSERT_TRUE(tree_binomial(p, variant).is_valid());
    for (const auto& [s, r] : {std::pair<std::uint64_t, std::uint64_t>{1, 3}, {27, 88}, {88, 27}, {5, 0}})
      ASSERT_TRUE(tree_fibo(p, s, r).is_valid());
  }
}

}  // namespace
}  // namespace fibocast
