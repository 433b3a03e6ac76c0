#include "runtime/daemon/discovery_seal.h"

#include <gtest/gtest.h>

namespace fibocast {
namespace {

KeyRing ring_of(std::uint8_t byte) {
  std::array<std::byte, kKeyBytes> key;
  key.fill(static_cast<std::byte>(byte));
  return KeyRing(ClusterKey(key));
}

constexpr std::int64_t kNow = 1'800'000'000'000'000'000;
const std::string kText = "fibocast discovery 1 cluster\nask ...";

TEST(DiscoverySeal, WhatIsSealedIsOpenedOnce) {
  DiscoverySeal a(ring_of(1), 11), b(ring_of(1), 12);
  const std::string one = a.seal(kText, kNow), two = a.seal("", kNow);
  EXPECT_EQ(one.find("discovery"), std::string::npos);
  EXPECT_EQ(b.open(one, kNow), kText);
  EXPECT_EQ(b.open(two, kNow), "");
  EXPECT_FALSE(b.open(two, kNow)) << "replayed";
  EXPECT_FALSE(b.open(one, kNow)) << "older than the newest";
}

TEST(DiscoverySeal, EveryBitAndEveryByteCount) {
  DiscoverySeal a(ring_of(1), 11), b(ring_of(1), 12);
  const std::string good = a.seal(kText, kNow);
  for (std::size_t bit = 0; bit < 8 * good.size(); ++bit) {
    std::string bad = good;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ 1 << bit % 8);
    EXPECT_FALSE(b.open(bad, kNow)) << "bit " << bit;
  }
  for (std::size_t bytes = 0; bytes < good.size(); ++bytes) EXPECT_FALSE(b.open(good.substr(0, bytes), kNow));
  EXPECT_TRUE(b.open(good, kNow));
}

TEST(DiscoverySeal, WhatIsOldIsRefusedAlsoAfterARestart) {
  DiscoverySeal a(ring_of(1), 11), b(ring_of(1), 12);
  const std::string captured = a.seal(kText, kNow);
  EXPECT_FALSE(b.open(captured, kNow + DiscoverySeal::kOldest + 1));
  EXPECT_NE(b.complaint().find("clock"), std::string::npos);
  EXPECT_EQ(b.complaint(), "");
  EXPECT_TRUE(b.open(captured, kNow + DiscoverySeal::kOldest));
}

TEST(DiscoverySeal, AcceptedKeysOpenAndThePrimarySeals) {
  KeyRing both = ring_of(2);
  both.accept(ring_of(1).primary().copy());
  DiscoverySeal a(ring_of(1), 11), b(std::move(both), 12);
  EXPECT_TRUE(b.open(a.seal(kText, kNow), kNow));
  EXPECT_FALSE(a.open(b.seal(kText, kNow), kNow));
  EXPECT_NE(a.complaint().find("the same security.key_file"), std::string::npos);
  EXPECT_FALSE(a.open(kText, kNow));
  EXPECT_NE(a.complaint().find("without a key"), std::string::npos);
}

TEST(DiscoverySeal, RemembersABoundedNumberOfSenders) {
  DiscoverySeal b(ring_of(1), 12);
  for (std::uint64_t i = 0; i < DiscoverySeal::kMostSenders; ++i)
    ASSERT_TRUE(b.open(DiscoverySeal(ring_of(1), 100 + i).seal(kText, kNow), kNow));
  EXPECT_FALSE(b.open(DiscoverySeal(ring_of(1), 1).seal(kText, kNow), kNow));
  const std::int64_t later = kNow + DiscoverySeal::kOldest + 1;
  EXPECT_TRUE(b.open(DiscoverySeal(ring_of(1), 1).seal(kText, later), later)) << "the old ones are forgotten";
}

}  // namespace
}  // namespace fibocast
