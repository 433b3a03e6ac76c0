#include "firmware_sim/kept_memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <vector>

namespace fibocast {
namespace {

constexpr std::size_t kBlock = 100'000;

TEST(KeptMemory, TheNextOfThatSizeGetsIt) {
  if (FIBOCAST_SANITIZED) GTEST_SKIP() << "nothing is kept there";
  KeptMemory gone = take_memory(kBlock);
  const std::byte* const first = gone.get();
  gone.reset();
  const KeptMemory other = take_memory(kBlock + 1), again = take_memory(kBlock), more = take_memory(kBlock);
  EXPECT_EQ(again.get(), first);
  EXPECT_NE(other.get(), first);
  EXPECT_NE(more.get(), first);
}

TEST(KeptMemory, IsNeverThatOfTwo) {
  std::vector<KeptMemory> taken;
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 10; ++i) {
      taken.push_back(take_memory(kBlock));
      std::fill_n(taken.back().get(), kBlock, static_cast<std::byte>(i));
    }
    for (std::size_t i = 0; i < 10; ++i) {
      const std::span<const std::byte> bytes(taken[i].get(), kBlock);
      EXPECT_TRUE(std::ranges::all_of(bytes, [i](std::byte b) { return b == static_cast<std::byte>(i); }));
    }
    taken.clear();
  }
}

}  // namespace
}  // namespace fibocast
