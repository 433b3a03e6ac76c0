#include "runtime/node/peer_map.h"

#include <gtest/gtest.h>

#include <vector>

namespace fibocast {
namespace {

TEST(PeerMap, WithoutPlacesIsTheNodeItself) {
  PeerMap map;
  map.add(7, 7);
  EXPECT_EQ(map.find(7), 7u);
  EXPECT_EQ(map.find(9'999), 9'999u);
}

TEST(PeerMap, KeepsHalfOfItsPlacesEmpty) {
  EXPECT_EQ(PeerMap::places_for(1), 2u);
  EXPECT_EQ(PeerMap::places_for(2), 4u);
  EXPECT_EQ(PeerMap::places_for(3), 8u);
  EXPECT_EQ(PeerMap::places_for(1000), 2048u);
}

// Whatever the numbers have in common: neighbours, the powers of two of a binomial tree, multiples of the table's size.
TEST(PeerMap, FindsWhatWasAddedAndNothingElse) {
  for (const std::uint32_t step : {1u, 2u, 64u, 128u, 625u}) {
    constexpr std::uint32_t kEntries = 50;
    std::vector<PeerMap::Place> places(PeerMap::places_for(kEntries));
    PeerMap map(places);
    for (std::uint32_t i = 0; i < kEntries; ++i) {
      EXPECT_EQ(map.find(i * step), kNoIndex);
      map.add(i * step, kEntries - i);
    }
    for (std::uint32_t i = 0; i < kEntries; ++i) EXPECT_EQ(map.find(i * step), kEntries - i);
    EXPECT_EQ(map.find(kEntries * step), kNoIndex);
    EXPECT_EQ(map.find(kEntries * step + 1), kNoIndex);
  }
}

}  // namespace
}  // namespace fibocast
