// The small parts of the reliable channel: windows, resend timer, acknowledgement policy.
#include <gtest/gtest.h>

#include <random>
#include <set>
#include <vector>

#include "transport/ack_policy.h"
#include "transport/receive_window.h"
#include "transport/send_window.h"

namespace fibocast {
namespace {

using Place = ReceiveWindow::Place;

TEST(ReceiveWindow, TakesEachSequenceOnce) {
  std::mt19937 random(3);
  ReceiveWindow window(256);
  std::set<std::uint32_t> seen;
  for (int i = 0; i < 200'000; ++i) {
    const std::uint32_t sequence = window.expected() + random() % 300 - 20;
    const Place place = window.place(sequence);
    const std::uint32_t ahead = sequence - window.expected();
    if (static_cast<std::int32_t>(ahead) < 0) {
      EXPECT_EQ(place, Place::kDuplicate);
    } else if (ahead >= 256) {
      EXPECT_EQ(place, Place::kBeyond);
    } else {
      ASSERT_EQ(place == Place::kDuplicate, seen.contains(sequence));
      if (place != Place::kDuplicate) window.mark(sequence), seen.insert(sequence);
    }
    ASSERT_FALSE(seen.contains(window.expected()));
  }
  EXPECT_GT(window.expected(), 1000u);
}

TEST(ReceiveWindow, BitsStartAfterTheExpected) {
  ReceiveWindow window(256);
  window.mark(1);
  window.mark(3);
  window.mark(200);
  EXPECT_EQ(window.bits()[0], 0b101u);
  EXPECT_EQ(window.bits()[3], std::uint64_t{1} << (199 - 192));
  window.mark(0);
  EXPECT_EQ(window.expected(), 2u);
  EXPECT_EQ(window.bits()[0], 1u);
  EXPECT_EQ(window.bits()[3], std::uint64_t{1} << (197 - 192));
}

class SendWindowTest : public ::testing::Test {
 protected:
  // Pushes a frame and sends it at `now`.
  std::uint32_t send(Nanoseconds now) {
    const std::uint32_t sequence = window.push(true, keepable);
    window.sent(sequence, ++counter, now);
    return sequence;
  }
  std::vector<std::uint32_t> acknowledge(std::uint32_t cumulative, std::uint64_t bits = 0) {
    std::vector<std::uint32_t> news;
    known = window.acknowledge(cumulative, BulkBits{bits}, [&](std::uint32_t s) { news.push_back(s); });
    return news;
  }
  std::vector<SentFrame> slots = std::vector<SentFrame>(8);
  SendWindow window{6, slots};
  ResendTimer timer{1'000'000, 20'000'000};
  std::uint64_t counter = 0;
  bool keepable = true;
  bool known = true;
};

TEST_F(SendWindowTest, TellsEachAcknowledgementOnce) {
  for (int i = 0; i < 6; ++i) send(0);
  EXPECT_EQ(window.free(), 0u);
  EXPECT_EQ(acknowledge(1, 0b10), (std::vector<std::uint32_t>{0, 3}));
  EXPECT_EQ(acknowledge(1, 0b10), std::vector<std::uint32_t>{});
  EXPECT_EQ(acknowledge(5), (std::vector<std::uint32_t>{1, 2, 4}));
  EXPECT_EQ(acknowledge(2), std::vector<std::uint32_t>{});  // an old one
  EXPECT_EQ(window.free(), 5u);
  acknowledge(7);
  EXPECT_FALSE(known) << "7 was never sent";
}

TEST_F(SendWindowTest, IsLostWhenThreeLaterOnesArrived) {
  for (int i = 0; i < 5; ++i) send(0);
  acknowledge(0, 0b11);
  EXPECT_FALSE(window.next_lost());
  acknowledge(0, 0b111);
  ASSERT_EQ(window.next_lost(), 0u);
  window.sent(0, ++counter, 10);
  EXPECT_TRUE(window.frame(0).resent);
  acknowledge(0, 0b1111);
  EXPECT_FALSE(window.next_lost()) << "the frame sent again gets its chance";
}

TEST_F(SendWindowTest, WhatTheReceiverDoesNotKeepIsSentAgainBehindTheMissingOne) {
  keepable = false;
  for (int i = 0; i < 3; ++i) send(0);
  window.mark_overdue(timer, 20'000'000);
  window.sent(0, ++counter, 20'000'000);
  EXPECT_EQ(window.next_lost(), 1u);
  window.sent(1, ++counter, 20'000'000);
  window.sent(2, ++counter, 20'000'000);
  EXPECT_EQ(window.next_deadline(timer), 60'000'000);
  acknowledge(1);
  EXPECT_FALSE(window.next_lost());
  EXPECT_EQ(window.next_deadline(timer), 40'000'000) << "the lane moved on";
  window.mark_all_lost();
  window.sent(1, ++counter, 30'000'000);
  acknowledge(2);
  EXPECT_EQ(window.next_lost(), 2u);
}

TEST_F(SendWindowTest, IsLostWhenItsTimeHasPassed) {
  send(0);
  send(5);
  EXPECT_EQ(window.next_deadline(timer), 20'000'000);
  window.mark_overdue(timer, 19'999'999);
  EXPECT_FALSE(window.next_lost());
  window.mark_overdue(timer, 20'000'000);
  EXPECT_EQ(window.next_lost(), 0u);
  EXPECT_EQ(window.next_deadline(timer), 20'000'005);
  window.sent(0, ++counter, 20'000'000);
  window.mark_all_lost();
  EXPECT_EQ(window.next_lost(), 0u);
  EXPECT_EQ(acknowledge(2).size(), 2u);
  EXPECT_FALSE(window.next_lost());
  EXPECT_EQ(window.next_deadline(timer), kNoDeadline);
}

TEST_F(SendWindowTest, WhatWasDroppedAtAGapIsLostUpToTheCounterTold) {
  for (int i = 0; i < 3; ++i) send(0);
  window.mark_lost_up_to(2);
  EXPECT_EQ(window.next_lost(), 0u);
  window.sent(0, ++counter, 1);
  window.sent(1, ++counter, 1);
  EXPECT_FALSE(window.next_lost());
  window.mark_lost_up_to(2);
  EXPECT_FALSE(window.next_lost()) << "they left again since";
}

TEST(ResendTimer, FollowsTheRoundTripAboveTheFloor) {
  ResendTimer timer(1'000'000, 20'000'000);
  timer.set_peer_delays(500'000, 25'000'000);
  EXPECT_EQ(timer.wait(true, 0), 20'000'000);
  for (int i = 0; i < 100; ++i) timer.sample(50'000);
  EXPECT_EQ(timer.round_trip(), 50'000);
  EXPECT_EQ(timer.wait(true, 0), 1'000'000);
  EXPECT_EQ(timer.wait(true, 2), 4'000'000);
  EXPECT_NEAR(static_cast<double>(timer.wait(false, 0)), 25'050'000, 1000);
  EXPECT_EQ(timer.wait(false, 200), kLongestResend);
  timer.sent_in_vain();
  EXPECT_EQ(timer.wait(true, 0), 2'000'000);
  timer.sample(50'000);
  EXPECT_EQ(timer.wait(true, 0), 1'000'000);
}

TEST(AckPolicy, WaitsForARideButNotForLong) {
  AckPolicy ack;
  EXPECT_EQ(ack.deadline(), kNoDeadline);
  ack.on_data(100, 500);
  ack.on_data(200, 25'000);
  EXPECT_EQ(ack.deadline(), 600);
  EXPECT_FALSE(ack.due(599));
  EXPECT_TRUE(ack.due(600));
  ack.sent();
  for (int i = 0; i < 15; ++i) ack.on_fragment(100, 1'000'000);
  EXPECT_FALSE(ack.due(0));
  ack.on_fragment(100, 1'000'000);
  EXPECT_TRUE(ack.due(0)) << "every 16th fragment";
  ack.sent();
  ack.on_fragment(32'768, 65'536);
  EXPECT_TRUE(ack.due(0)) << "half the window";
}

}  // namespace
}  // namespace fibocast
