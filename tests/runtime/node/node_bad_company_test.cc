// Node where others misbehave or begin anew: messages to oneself without end, a peer that is started again while
// messages for it wait, a peer whose transport takes nothing, frames in somebody else's name.
#include <gtest/gtest.h>

#include "tests/runtime/node/team.h"

namespace fibocast {
namespace {

Admission send_empty_to_itself(Team& team) { return team.cluster.node(1).send_message(1, kTag, PayloadRange{}); }

class FullOfOwnMessages : public testing::TestWithParam<std::size_t> {};

TEST_P(FullOfOwnMessages, APeersMessageFindsItsPlace) {
  Team team(cluster_of(2));
  int taken = 0;
  while (taken < 100'000 && send_empty_to_itself(team) == Admission::kTaken) ++taken;
  EXPECT_EQ(taken, static_cast<int>(cluster_of(2).limits.requests));
  const std::vector<std::byte> message = pattern(7, GetParam());
  EXPECT_EQ(team.cluster.send(0, 1, kTag + 1, message), Admission::kTaken);
  const std::uint64_t cookie = team.cluster.receive(1, kTag + 1).cookie;
  ASSERT_TRUE(team.wait({cookie}));
  EXPECT_EQ(team.cluster.answer(cookie)->payload, message);
  EXPECT_EQ(team.cluster.node(1).node().counters().malformed, 0u);
  ASSERT_TRUE(team.wait({team.cluster.receive(1, kTag).cookie}));
  EXPECT_EQ(send_empty_to_itself(team), Admission::kTaken);  // one was taken, so there is room for one
  EXPECT_EQ(send_empty_to_itself(team), Admission::kWouldBlock);
}

INSTANTIATE_TEST_SUITE_P(Sizes, FullOfOwnMessages, testing::Values(100, 5000));

TEST(Restart, MessagesThatWaitReachTheNewIncarnation) {
  ClusterSettings settings = cluster_of(2);
  settings.limits.bulk_streams = 8, settings.limits.message_credit = 8, settings.limits.small_window = 32;
  Team team(settings);
  VirtualCluster& c = team.cluster;
  const Fault crash{.kind = Fault::Kind::kCrash, .nodes = {1}};
  c.begin(crash);
  for (const std::uint64_t tag : {5, 6}) EXPECT_EQ(c.send(0, 1, tag, pattern(1, 5000)), Admission::kTaken);  // streams
  EXPECT_EQ(c.send(0, 1, 5, {}), Admission::kTaken);  // waits for the stream of its tag, and all behind it
  for (const std::uint64_t tag : {7, 8}) EXPECT_EQ(c.send(0, 1, tag, pattern(tag, 5000)), Admission::kTaken);
  c.run_until(team.in(5 * kMillisecond));
  c.heal(crash);
  ASSERT_TRUE(c.run_until(team.in(10 * kSecond), [&] { return c.node(1).node().connected_peers() == 1; }));
  const std::uint64_t empty = c.receive(1, 5).cookie, seven = c.receive(1, 7).cookie, eight = c.receive(1, 8).cookie;
  ASSERT_TRUE(team.wait({empty, seven, eight}));
  EXPECT_EQ(c.answer(seven)->payload, pattern(7, 5000));
  EXPECT_EQ(c.answer(eight)->payload, pattern(8, 5000));
}

// What nobody here has read of former processes makes way: what a living one was told is on its way comes.
TEST_P(FullOfOwnMessages, WhatFormerProcessesLeftMakesWay) {
  ClusterSettings settings = cluster_of(2);
  settings.limits.message_credit = settings.limits.host_credit = 8, settings.limits.bulk_streams = 8;
  Team team(settings);
  VirtualCluster& c = team.cluster;
  constexpr std::uint64_t kLives = 5, kOfEach = 8;
  for (std::uint64_t life = 0; life < kLives; ++life) {
    if (life > 0) c.node(0).stop(), c.node(0).restart(70'000 * life);
    ASSERT_TRUE(c.run_until(team.in(10 * kSecond), [&] {
      return c.node(0).node().connected_peers() == 1 && c.node(1).node().connected_peers() == 1;
    }));
    for (std::uint64_t i = 0; i < kOfEach; ++i)
      EXPECT_EQ(c.send(0, 1, kTag, pattern(life * kOfEach + i, GetParam())), Admission::kTaken) << life << " " << i;
    c.run_until(team.in(3 * kSecond));
  }
  EXPECT_EQ(c.node(1).node().counters().malformed, 0u);
  const std::uint64_t dropped = c.node(1).node().counters().messages_unread;
  EXPECT_EQ(dropped, kLives * kOfEach - (2 * 8 + 8)) << "what there are places for";
  for (std::uint64_t i = dropped; i < kLives * kOfEach; ++i) {
    const std::uint64_t cookie = c.receive(1, kTag).cookie;
    ASSERT_TRUE(team.wait({cookie}, kSecond)) << i;
    EXPECT_TRUE(c.answer(cookie)->payload == pattern(i, GetParam())) << i;
  }
  team.expect_nothing_held();
}

TEST(Blocked, APeerThatTakesNothingDoesNotKeepTheHostAwake) {
  Team team(cluster_of(2));
  const Fault crash{.kind = Fault::Kind::kCrash, .nodes = {1}};
  team.cluster.node(0).set_writable(1, false);
  team.cluster.begin(crash);
  const std::uint64_t before = team.cluster.node(0).timer_calls();
  team.cluster.run_until(team.in(5 * kSecond));
  EXPECT_FALSE(team.cluster.node(0).stuck());
  EXPECT_LT(team.cluster.node(0).timer_calls() - before, 1'000u);
}

TEST(PlaceOf, FramesInNobodysOrOnesOwnNameHaveNone) {
  Team team(cluster_of(2));
  std::array<std::byte, FragmentBody::kBytes> body{};
  encode_fragment({.stream = 1}, body);
  for (const NodeId from : {0u, 2u, 0x7fffffffu}) {
    Frame frame;
    frame.type = FrameType::kDataBulk, frame.from = from, frame.to = 0, frame.body = body;
    frame.payload_length = 2000;
    std::vector<std::byte> head(kFrameHeaderBytes + body.size());
    encode_frame_head(frame, head);
    EXPECT_EQ(team.cluster.node(0).node().place_of(head, 2000).buffer, kNoBuffer) << from;
  }
}

}  // namespace
}  // namespace fibocast
