// Which frames of a channel may leave together with those to other nodes.
#include <gtest/gtest.h>

#include <map>

#include "tests/transport/virtual_pair.h"

namespace fibocast::test {
namespace {

// What is sent again, acknowledgements and the handshake must not depend on what the first try depended on.
TEST(MayWait, OnlySmallDataThatLeavesForTheFirstTimeMayWaitForOthers) {
  VirtualPair pair({}, 1);
  std::map<FrameType, int> waits, others;
  pair.sent = [&](const Transmit& frame, FrameType type) {
    ++(frame.may_wait ? waits : others)[type];
    EXPECT_FALSE(frame.may_wait && frame.resend);
  };
  pair.start(0, 100);
  pair.start(1, 200);
  ASSERT_TRUE(pair.run_until([&] { return pair.both_done(); }));
  EXPECT_TRUE(waits.empty()) << "the handshake";
  bool lose = true;
  pair.tap = [&](int, std::vector<std::byte>&) { return !std::exchange(lose, false); };
  pair.sides[0].traffic->queue_small(0);
  pair.sides[0].traffic->queue_bulk(5'000);
  pair.drain(0);
  ASSERT_TRUE(pair.run_until([&] { return pair.both_done(); }));
  EXPECT_EQ(waits[FrameType::kDataSmall], 2) << "the message, and that a stream begins";
  EXPECT_GE(others[FrameType::kDataSmall], 1) << "the one that was lost";
  EXPECT_GE(others[FrameType::kDataBulk], 1);
  EXPECT_GE(others[FrameType::kAck], 1);
  EXPECT_EQ(waits.size(), 1u);
}

}  // namespace
}  // namespace fibocast::test
