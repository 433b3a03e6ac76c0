#include "runtime/node/rank_bits.h"

#include <gtest/gtest.h>

#include <array>

namespace fibocast {
namespace {

TEST(RankBits, PositionsAreTheOrderOfTheRanks) {
  std::array<std::uint64_t, 3> words{};
  RankBits set(words);
  for (const Rank r : {0u, 3u, 63u, 64u, 65u, 130u, 191u}) set.add(r);
  EXPECT_EQ(set.count(), 7u);
  const std::array<Rank, 7> ranks{0, 3, 63, 64, 65, 130, 191};
  for (Rank p = 0; p < ranks.size(); ++p) {
    EXPECT_EQ(set.at(p), ranks[p]);
    EXPECT_EQ(set.position_of(ranks[p]), p);
  }
  EXPECT_EQ(set.at(7), kNoRank);
  EXPECT_EQ(set.position_of(1), kNoRank);
  EXPECT_EQ(set.position_of(192), kNoRank);
  EXPECT_EQ(set.position_of(kNoRank), kNoRank);
}

TEST(RankBits, IsAViewOfItsWords) {
  std::array<std::uint64_t, 1> a{}, b{};
  RankBits first(a), second(b);
  first.fill(64);
  second.assign(first);
  EXPECT_EQ(b[0], ~std::uint64_t{0});
  EXPECT_TRUE(first == second);
  second.clear();
  EXPECT_FALSE(first == second);
  second.add(64);  // beyond its words: in no set
  EXPECT_EQ(second.count(), 0u);
}

}  // namespace
}  // namespace fibocast
