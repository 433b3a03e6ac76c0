// What the host does with payload bytes on the node's behalf.
#include "runtime/node/local_work.h"

#include <gtest/gtest.h>

#include <array>

namespace fibocast {
namespace {

using Four = std::array<std::byte, 4>;
constexpr std::byte kOne{1}, kTwo{2}, kZero{0};

TEST(LocalWork, ClearsWhatNobodyBrings) {
  Four bytes = {kOne, kOne, kOne, kOne};
  const PayloadRange gap{0, 1, 2};
  do_local_work({.clears = true, .right = gap, .out = gap}, bytes.data(), bytes.data());
  EXPECT_EQ(bytes, (Four{kOne, kZero, kZero, kOne}));
}

TEST(LocalWork, CopiesInRunsAndCombines) {
  Four bytes = {kOne, kTwo, kZero, kZero};
  LocalWork copy{.right = {0, 1, 1}, .out = {0, 2, 1}};
  copy.runs = 2, copy.right_step = -1, copy.out_step = 1;
  do_local_work(copy, bytes.data(), bytes.data());
  EXPECT_EQ(bytes, (Four{kOne, kTwo, kTwo, kOne}));
  const LocalWork both{.op = CombineOperator::kOr, .left = {0, 0, 1}, .right = {0, 1, 1}, .out = {0, 0, 1}};
  do_local_work(both, bytes.data(), bytes.data());
  EXPECT_EQ(bytes[0], std::byte{3});
}

}  // namespace
}  // namespace fibocast
