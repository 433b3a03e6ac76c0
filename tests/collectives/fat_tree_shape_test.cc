#include "collectives/fat_tree_shape.h"

#include <gtest/gtest.h>

namespace fibocast {
namespace {

TEST(FatTreeShape, WhatIsALeafCount) {
  for (const Rank n : {1u, 2u, 4u, 1024u, kMostLeaves}) EXPECT_TRUE(is_leaf_count(n)) << n;
  for (const Rank n : {0u, 3u, 6u, 1000u, 2 * kMostLeaves}) EXPECT_FALSE(is_leaf_count(n)) << n;
}

TEST(FatTreeShape, E1EightLeaves) {
  EXPECT_EQ(tree_nodes(8), 15u);
  EXPECT_EQ(router_rank(8, 1, 0), 8u);
  EXPECT_EQ(router_rank(8, 2, 1), 13u);
  EXPECT_EQ(router_rank(8, 3, 0), 14u);
  const TreeNeighbours around = neighbours(8, 13);
  EXPECT_EQ(around.parent, 14u);
  EXPECT_EQ(around.left, 10u);
  EXPECT_EQ(around.right, 11u);
  EXPECT_EQ(neighbours(8, 5).parent, 10u);
  EXPECT_EQ(neighbours(8, 5).left, kNoRank);
  EXPECT_EQ(neighbours(8, 14).parent, kNoRank);
}

TEST(FatTreeShape, E1LevelsLeavesAndNeighboursAgree) {
  for (Rank n = 1; n <= 512; n *= 2)
    for (unsigned h = 0; h <= tree_levels(n); ++h)
      for (Rank q = 0; q < n >> h; ++q) {
        const Rank v = router_rank(n, h, q);
        EXPECT_EQ(level_of(n, v), h);
        EXPECT_EQ(first_leaf_below(n, v), q << h);
        const TreeNeighbours around = neighbours(n, v);
        EXPECT_EQ(around.parent, h == tree_levels(n) ? kNoRank : router_rank(n, h + 1, q / 2));
        EXPECT_EQ(around.left, h == 0 ? kNoRank : router_rank(n, h - 1, 2 * q));
        EXPECT_EQ(around.right, h == 0 ? kNoRank : router_rank(n, h - 1, 2 * q + 1));
      }
}

TEST(FatTreeShape, OneLeafIsItsOwnRoot) {
  EXPECT_EQ(tree_nodes(1), 1u);
  EXPECT_EQ(level_of(1, 0), 0u);
  const TreeNeighbours around = neighbours(1, 0);
  EXPECT_EQ(around.parent, kNoRank);
  EXPECT_EQ(around.left, kNoRank);
}

TEST(FatTreeShape, TheLargestTree) {
  EXPECT_EQ(level_of(kMostLeaves, tree_nodes(kMostLeaves) - 1), 30u);
  EXPECT_EQ(level_of(kMostLeaves, kMostLeaves - 1), 0u);
  EXPECT_EQ(neighbours(kMostLeaves, kMostLeaves - 1).parent, kMostLeaves + kMostLeaves / 2 - 1);
}

TEST(FatTreeShape, E1CommonLevel) {
  EXPECT_EQ(common_level(3, 3), 0u);
  EXPECT_EQ(common_level(2, 3), 1u);
  EXPECT_EQ(common_level(0, 7), 3u);
  EXPECT_EQ(common_level(3, 4), 3u);
}

}  // namespace
}  // namespace fibocast
