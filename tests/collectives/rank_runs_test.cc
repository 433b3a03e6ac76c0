#include "collectives/rank_runs.h"

#include <gtest/gtest.h>

namespace fibocast {
namespace {

TEST(RankRuns, GrowsTogether) {
  RankRuns set;
  EXPECT_EQ(set.first_missing(), 0u);
  EXPECT_TRUE(set.is_all(0));
  for (const Rank rank : {4u, 0u, 2u, 1u}) set.insert(rank);
  EXPECT_EQ(set.first_missing(), 3u);
  EXPECT_TRUE(set.is_all(3));
  EXPECT_FALSE(set.is_all(4));
  set.insert(3);
  set.insert(3);
  EXPECT_EQ(set.first_missing(), 5u);
}

TEST(RankRuns, Union) {
  RankRuns even;
  RankRuns odd;
  for (Rank rank = 0; rank < 100; ++rank) (rank % 2 == 0 ? even : odd).insert(rank);
  EXPECT_FALSE(even.is_all(100));
  even.insert(odd);
  EXPECT_TRUE(even.is_all(100));
  EXPECT_FALSE(even.is_all(101));
  even.insert(even);
  EXPECT_EQ(even.first_missing(), 100u);
}

}  // namespace
}  // namespace fibocast
