#include "transport/seal/replay_window.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace fibocast {
namespace {

TEST(ReplayWindow, TakesEachCounterOnce) {
  ReplayWindow window;
  for (const std::uint64_t counter : {0u, 5u, 3u, 4u, 2000u, 1u}) {
    EXPECT_TRUE(window.may_take(counter)) << counter;
    window.take(counter);
    EXPECT_FALSE(window.may_take(counter)) << counter;
  }
  EXPECT_TRUE(window.may_take(2));
}

TEST(ReplayWindow, WhatIsOlderThanTheWindowIsRefused) {
  ReplayWindow window;
  window.take(10'000);
  EXPECT_TRUE(window.may_take(10'001 - ReplayWindow::kWidth));
  EXPECT_FALSE(window.may_take(10'000 - ReplayWindow::kWidth));
  window.take(std::uint64_t{1} << 40);
  EXPECT_FALSE(window.may_take(10'001));
  EXPECT_TRUE(window.may_take((std::uint64_t{1} << 40) - 1));
}

// Against the plainest model: a set of all that were taken.
TEST(ReplayWindow, AgreesWithASet) {
  std::mt19937 random(7);
  for (int round = 0; round < 20; ++round) {
    ReplayWindow window;
    std::set<std::uint64_t> taken;
    std::uint64_t newest = 0;
    for (int i = 0; i < 5'000; ++i) {
      const std::uint64_t jump = random() % 10 == 0 ? random() % 5'000 : random() % 4;
      const std::uint64_t counter =
          random() % 2 == 0 ? newest + jump : newest - std::min<std::uint64_t>(newest, random() % 4'000);
      const bool in_window = taken.empty() || counter + ReplayWindow::kWidth > newest;
      ASSERT_EQ(window.may_take(counter), in_window && !taken.contains(counter)) << counter << " of " << newest;
      if (!window.may_take(counter)) continue;
      window.take(counter);
      taken.insert(counter);
      newest = std::max(newest, counter);
    }
  }
}

}  // namespace
}  // namespace fibocast
