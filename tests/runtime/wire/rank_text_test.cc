#include "runtime/wire/rank_text.h"

#include <gtest/gtest.h>

namespace fibocast {
namespace {

RankSet ranks(std::initializer_list<Rank> list) {
  RankSet set;
  for (const Rank rank : list) set.add(rank);
  return set;
}

TEST(RankText, RunsAreShort) {
  EXPECT_EQ(rank_text(ranks({2, 5, 6, 7})), "2, 5-7");
  EXPECT_EQ(rank_text(ranks({0, 1})), "0, 1");
  EXPECT_EQ(rank_text({}), "none");
}

TEST(RankText, SaysThatThereAreMore) {
  RankSet set;
  for (Rank rank = 0; rank < 2 * (RankSet::kMaxRuns + 1); rank += 2) set.add(rank);
  EXPECT_TRUE(rank_text(set).ends_with(", 30, ...")) << rank_text(set);
}

TEST(DurationText, LargestUnit) {
  EXPECT_EQ(duration_text(10'000'000'000), "10 s");
  EXPECT_EQ(duration_text(1'500'000'000), "1.5 s");
  EXPECT_EQ(duration_text(250'000'000), "250 ms");
  EXPECT_EQ(duration_text(20'000), "20 us");
  EXPECT_EQ(duration_text(7), "7 ns");
  EXPECT_EQ(duration_text(0), "0 ns");
}

}  // namespace
}  // namespace fibocast
