#include "runtime/client/turns.h"

#include <gtest/gtest.h>

namespace fibocast {
namespace {

constexpr Nanoseconds kMs = 1'000'000, kSuspicion = 2'000 * kMs;

Nanoseconds between_calls(Rank nodes_of_a_core, Nanoseconds suspicion = kSuspicion) {
  return Turns::between_calls(nodes_of_a_core, suspicion).count();
}

TEST(Turns, FewNodesOfAHostLookEveryEightMilliseconds) {
  for (const Rank nodes : {0U, 1U, 2U, 4U}) EXPECT_EQ(between_calls(nodes), 8 * kMs) << nodes;
}

// However many there are, their looking takes the cores no more of the time.
TEST(Turns, ManyNodesOfAHostLookLessOften) {
  EXPECT_EQ(between_calls(8), 16 * kMs);
  EXPECT_EQ(between_calls(16), 32 * kMs);
  EXPECT_EQ(between_calls(32), 2'000 * kMs / 32);
  EXPECT_EQ(between_calls(32, 60'000 * kMs), 64 * kMs);
  EXPECT_EQ(between_calls(1000, 60'000 * kMs), 64 * kMs);
}

TEST(Turns, NodesThatAreDoubtedSoonLookNoLessOften) {
  EXPECT_EQ(between_calls(32, 400 * kMs), 12'500'000);
  EXPECT_EQ(between_calls(32, 100 * kMs), 8 * kMs);
}

}  // namespace
}  // namespace fibocast
