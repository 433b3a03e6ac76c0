#include "firmware_sim/virtual_streams.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace fibocast {
namespace {

constexpr Nanoseconds kWay = 100 * kMicrosecond;
const std::vector<std::string> kNothing;

// Three hosts whose processes note what they hear: "0 1" is frame 1 from node 0, "reset 1" a connection to node 1.
class VirtualStreamsTest : public testing::Test {
 protected:
  explicit VirtualStreamsTest(const StreamSettings& settings = small()) : streams(queue, network, settings, 3, 7) {
    for (const NodeId id : {0, 1, 2}) start(id);
  }
  static StreamSettings small() {
    StreamSettings s;
    s.used = true;
    s.queue_frames = 4, s.held_bytes = 30;
    return s;
  }
  void start(NodeId id) {
    network.set_receiver(id, [this, id](std::span<const std::byte> frame) {
      heard[id].push_back(std::to_string(std::to_integer<int>(frame[0])) + ' ' +
                          std::to_string(std::to_integer<int>(frame[1])));
    });
    const auto note = [this, id](const std::string& what) {
      return [this, id, what](NodeId peer) { heard[id].push_back(what + ' ' + std::to_string(peer)); };
    };
    streams.listen(id, {.on_writable = note("writable"), .on_reset = note("reset"), .on_refused = note("refused")});
  }
  // Ten bytes.
  bool send(NodeId from, NodeId to, int number) {
    VirtualStreams::Frame frame(10);
    frame[0] = static_cast<std::byte>(from), frame[1] = static_cast<std::byte>(number);
    return streams.send(from, to, frame);
  }
  void pass(Nanoseconds time) { queue.run_until(queue.now() + time); }
  std::vector<std::string> take(NodeId id) { return std::exchange(heard[id], {}); }

  EventQueue queue;
  VirtualNetwork network{queue, {.latency_min = kWay, .latency_max = kWay}, 3, 1};
  VirtualStreams streams;
  std::vector<std::string> heard[3];
};

using Lines = std::vector<std::string>;

TEST_F(VirtualStreamsTest, TheFirstFrameDialsAndTheOrderIsKept) {
  EXPECT_TRUE(send(0, 1, 1));
  EXPECT_TRUE(send(0, 1, 2));
  pass(3 * kWay - 1);
  EXPECT_EQ(take(1), Lines{});
  pass(1);
  EXPECT_EQ(take(1), (Lines{"0 1", "0 2"}));
  EXPECT_TRUE(send(0, 1, 3));
  pass(kWay);
  EXPECT_EQ(take(1), (Lines{"0 3"}));
}

TEST_F(VirtualStreamsTest, LatenessOfOneKeepsTheOthersBehindIt) {
  const Fault late{.kind = Fault::Kind::kDelay, .nodes = {}, .probability = 0.5, .time = 20 * kMillisecond};
  network.begin(late);
  Lines all;
  for (int i = 0; i < 50; ++i) {
    EXPECT_TRUE(send(0, 1, i));
    all.push_back("0 " + std::to_string(i));
    pass(30 * kMillisecond);
  }
  EXPECT_EQ(take(1), all);
}

TEST_F(VirtualStreamsTest, TwoThatBeginAtOnceHaveAConnectionEach) {
  send(0, 1, 1), send(1, 0, 2);
  pass(3 * kWay);
  EXPECT_EQ(take(1), (Lines{"0 1"}));
  EXPECT_EQ(take(0), (Lines{"1 2"}));
  const Fault reset{.kind = Fault::Kind::kReset, .nodes = {0}};
  streams.begin(reset);
  EXPECT_EQ(take(0).front(), "reset 1");
  EXPECT_EQ(take(1).front(), "reset 0");
}

TEST_F(VirtualStreamsTest, WhoDoesNotReadHoldsTheSenderBack) {
  send(0, 1, 0);
  pass(kMillisecond);
  take(1);
  streams.stop(1);
  int taken = 1;
  while (send(0, 1, taken)) ++taken;
  EXPECT_EQ(taken, 7) << "three in the kernels, four in the queue, the last of which fills it";
  pass(kSecond);
  EXPECT_EQ(take(0), kNothing);
  streams.go_on(1);
  EXPECT_EQ(take(1), (Lines{"0 1", "0 2", "0 3"}));
  pass(kMillisecond);
  EXPECT_EQ(take(0), (Lines{"writable 1"}));
  EXPECT_EQ(take(1), (Lines{"0 4", "0 5", "0 6", "0 7"}));
}

TEST_F(VirtualStreamsTest, WhoDoesNotReadForTooLongLosesTheConnectionAndReadsWhatHasCome) {
  for (int i = 0; i < 4; ++i) send(0, 1, i);
  pass(kMillisecond);
  take(0), take(1);
  streams.stop(1);
  for (int i = 4; i < 8; ++i) send(0, 1, i);
  pass(3 * kSecond);
  EXPECT_EQ(take(0), (Lines{"reset 1"})) << "nobody says that its process is gone";
  send(0, 1, 8);
  pass(100 * kMillisecond);
  streams.go_on(1);
  Lines all = take(1);
  std::ranges::sort(all);
  EXPECT_EQ(all, (Lines{"0 4", "0 5", "0 6", "0 8"})) << "of both connections, in any order; what was queued is lost";
}

TEST_F(VirtualStreamsTest, ABrokenConnectionLosesWhatIsOnItsWay) {
  send(0, 1, 1);
  pass(kMillisecond);
  take(1);
  send(0, 1, 2);
  const Fault reset{.kind = Fault::Kind::kReset, .nodes = {1}};
  streams.begin(reset);
  EXPECT_EQ(take(0).front(), "reset 1");
  send(0, 1, 3);
  pass(5 * kMillisecond + 3 * kWay - 1);
  EXPECT_EQ(take(1), kNothing) << "the next dial waits";
  pass(1);
  EXPECT_EQ(take(1), (Lines{"0 3"}));
}

TEST_F(VirtualStreamsTest, TheHostOfAProcessThatEndedRefuses) {
  send(0, 1, 1);
  pass(kMillisecond);
  take(1);
  streams.end(1);
  pass(kWay);
  EXPECT_EQ(take(0), (Lines{"reset 1"}));
  send(0, 1, 2);
  pass(6 * kMillisecond);
  EXPECT_EQ(take(0), (Lines{"refused 1"}));
  send(0, 1, 3);
  pass(40 * kMillisecond);
  EXPECT_EQ(take(0), kNothing) << "it waits longer and longer";
  start(1);
  pass(20 * kMillisecond);
  EXPECT_EQ(take(1), (Lines{"0 3"}));
}

TEST_F(VirtualStreamsTest, WhatAProcessSentBeforeItEndedStillComes) {
  send(0, 1, 1);
  pass(kMillisecond);
  take(1);
  send(0, 1, 2);
  streams.end(0);
  pass(kMillisecond);
  EXPECT_EQ(take(1), (Lines{"0 2"}));
  start(0);
  send(0, 1, 3);
  pass(kMillisecond);
  EXPECT_EQ(take(1), (Lines{"0 3"}));
}

TEST_F(VirtualStreamsTest, AConnectionStandsWhileNothingPassesForAWhile) {
  for (const NodeId to : {1, 2}) send(0, to, 1);
  pass(kMillisecond);
  take(1), take(2);
  const Fault stall{.kind = Fault::Kind::kStall, .nodes = {0, 1}};
  streams.begin(stall);
  for (const NodeId to : {1, 2}) send(0, to, 2), send(0, to, 3);
  pass(500 * kMillisecond);
  EXPECT_EQ(take(1), kNothing);
  EXPECT_EQ(take(2), (Lines{"0 2", "0 3"}));
  streams.heal(stall);
  pass(200 * kMillisecond);
  EXPECT_EQ(take(1), (Lines{"0 2", "0 3"})) << "all of it, at once";
  EXPECT_EQ(take(0), kNothing);
}

TEST_F(VirtualStreamsTest, NothingThatPassesForThreeSecondsBreaksItAndThenDialsAreInVain) {
  send(0, 1, 1);
  pass(kMillisecond);
  take(1);
  const Fault partition{.kind = Fault::Kind::kPartition, .nodes = {0}};
  network.begin(partition);
  send(0, 1, 2);
  pass(3 * kSecond - 1);
  EXPECT_EQ(take(0), kNothing);
  pass(1);
  EXPECT_EQ(take(0), (Lines{"reset 1"}));
  send(0, 1, 3);
  pass(3 * kSecond);
  EXPECT_EQ(take(0), kNothing) << "a dial that nobody answers says nothing of the process";
  network.heal(partition);
  send(0, 1, 4);
  pass(2 * kSecond);
  EXPECT_EQ(take(1), (Lines{"0 4"}));
}

TEST_F(VirtualStreamsTest, SlowReadersTakeTheirTime) {
  send(0, 1, 1);
  pass(kMillisecond);
  take(1);
  const Fault throttle{.kind = Fault::Kind::kThrottle, .nodes = {1}, .time = 10 * kMillisecond};
  streams.begin(throttle);
  for (int i = 2; i < 5; ++i) send(0, 1, i);
  pass(15 * kMillisecond);
  EXPECT_EQ(take(1), (Lines{"0 2", "0 3"}));
  streams.set_slowness(1, 50 * kMillisecond);
  pass(20 * kMillisecond);
  EXPECT_EQ(take(1), kNothing);
  pass(20 * kMillisecond);
  EXPECT_EQ(take(1), (Lines{"0 4"}));
}

}  // namespace
}  // namespace fibocast
