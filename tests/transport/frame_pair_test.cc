// Two frames for one node of this host in one datagram.
#include "transport/frame_pair.h"

#include <string>
#include <vector>

#include "tests/transport/fan_out_nodes.h"

namespace fibocast {
namespace {

using boost::asio::ip::udp;
using Frames = std::vector<std::string>;

class FramePairs : public FanOutTest {
 protected:
  // So many frames that each node in question has a socket of its own, and has answered if it does.
  void get_acquainted(const std::vector<NodeId>& with) {
    constexpr std::size_t kFrames = 20;
    for (std::size_t i = 0; i < kFrames; ++i)
      for (const NodeId peer : with) EXPECT_TRUE(nodes[0].transport->send(peer, bytes("before"), {}));
    for (const NodeId peer : with)
      ASSERT_TRUE(run_until([&] { return std::ranges::count(nodes[peer].frames, "before") == kFrames; }));
    while (io.poll() > 0) continue;
    for (const NodeId peer : with) nodes[peer].frames.clear();
  }
  void send(NodeId to, const std::string& head, const std::string& payload = "") {
    EXPECT_TRUE(nodes[0].transport->send(to, bytes(head), bytes(payload)));
  }
  void gather(NodeId to, const std::string& head, const std::string& payload = "") {
    EXPECT_TRUE(nodes[0].transport->gather(to, bytes(head), bytes(payload)));
  }
  ::testing::AssertionResult has(NodeId node, const Frames& frames) {
    if (!run_until([&] { return nodes[node].frames.size() >= frames.size(); }))
      return ::testing::AssertionFailure() << nodes[node].frames.size() << " frames came";
    while (io.poll() > 0) continue;
    if (nodes[node].frames == frames) return ::testing::AssertionSuccess();
    return ::testing::AssertionFailure() << nodes[node].frames.size() << " frames, not these " << frames.size();
  }
  const std::string large = std::string(kLoopbackPayload, 'l');
};

TEST_F(FramePairs, ASmallFrameLeavesWithALargeOne) {
  start_all(2);
  get_acquainted({1});
  const std::uint64_t before = counters(0).frames_sent;
  gather(1, "about ", "it");
  send(1, "here: ", large);
  EXPECT_TRUE(has(1, {"about it", "here: " + large}));
  EXPECT_EQ(counters(0).pairs, 1u);
  EXPECT_EQ(counters(0).frames_sent, before + 2);
  gather(1, "about it");
  send(1, large);
  EXPECT_TRUE(has(1, {"about it", "here: " + large, "about it", large})) << "a sealed one is in one piece";
  EXPECT_EQ(counters(0).pairs, 2u);
}

TEST_F(FramePairs, TheLargestFramesFit) {
  start_all(2);
  get_acquainted({1});
  const std::string small(FramePair::kMostSmall, 's'), head(FramePair::kMostHead, 'h');
  gather(1, small);
  send(1, head, large);
  EXPECT_TRUE(has(1, {small, head + large}));
  EXPECT_EQ(counters(0).pairs, 1u);
  gather(1, small + "s");
  send(1, head, large);
  gather(1, small);
  send(1, head + "h", large);
  EXPECT_TRUE(has(1, {small, head + large, small + "s", head + large, small, head + "h" + large}));
  EXPECT_EQ(counters(0).pairs, 1u) << "who is larger goes alone";
}

TEST_F(FramePairs, WhatNoLargeOneFollowsGoesAlone) {
  start_all(2);
  get_acquainted({1});
  gather(1, "one");
  gather(1, "two");
  nodes[0].transport->flush();
  EXPECT_TRUE(has(1, {"one", "two"}));
  gather(1, "three");
  send(1, "four", std::string(kLeastSharedPayload - 5, 'p'));
  EXPECT_TRUE(has(1, {"one", "two", "three", "four" + std::string(kLeastSharedPayload - 5, 'p')}));
  EXPECT_EQ(counters(0).pairs, 0u);
}

TEST_F(FramePairs, NothingWaitsForAnotherNodesFrames) {
  start_all(3);
  get_acquainted({1, 2});
  gather(1, "for 1");
  send(2, large);
  gather(1, "also for 1");
  gather(2, "for 2");
  send(1, large);
  EXPECT_TRUE(has(1, {"for 1", "also for 1", large}));
  EXPECT_TRUE(has(2, {large, "for 2"}));
  EXPECT_EQ(counters(0).pairs, 0u);
}

// Where there are fan-outs a frame is gathered for one of these, which few frames are not worth.
TEST_F(FramePairs, WhatWasGatheredForAFanOutLeavesWithALargeOneToo) {
  start_all(5);
  get_acquainted(all_others());
  fan_out(all_others(), "first");
  ASSERT_TRUE(all_have(1));
  gather(1, "about it");
  gather(2, "and for 2");
  send(2, large);
  EXPECT_TRUE(has(1, {"first for 1", "about it"}));
  EXPECT_TRUE(has(2, {"first for 2", "and for 2", large}));
  EXPECT_EQ(counters(0).pairs, 1u);
}

TEST_F(FramePairs, WhoKnowsNothingOfThemGetsEachFrameAlone) {
  start_all(2, {1});
  for (int i = 0; i < 3; ++i) {
    get_acquainted({1});
    gather(1, "about it");
    send(1, large);
    EXPECT_TRUE(has(1, {"about it", large}));
    nodes[1].frames.clear();
  }
  EXPECT_EQ(counters(0).pairs, 0u);
}

TEST_F(FramePairs, AnAnswerToNoQuestionOfOursCountsForNothing) {
  start_all(2, {1});
  get_acquainted({1});
  for (const NodeId from : {1u, 7u})
    EXPECT_TRUE(nodes[1].transport->send(0, fan_out::encode(fan_out::Answer{from, 4711}), {}));
  EXPECT_TRUE(nodes[1].transport->send(0, bytes("done"), {}));
  ASSERT_TRUE(run_until([&] { return nodes[0].frames == Frames{"done"}; })) << "answers are no frames";
  EXPECT_EQ(counters(0).malformed, 2u);
  gather(1, "about it");
  send(1, large);
  EXPECT_TRUE(has(1, {"about it", large}));
  EXPECT_EQ(counters(0).pairs, 0u);
}

// Who follows at its address may know nothing of pairs.
TEST_F(FramePairs, WhoIsGoneIsTakenToKnowNothingOfThem) {
  start_all(2);
  get_acquainted({1});
  const udp::endpoint gone = nodes[1].transport->local_endpoint();
  nodes[1].transport->stop();
  send(1, "lost, and nobody knows yet");
  gather(1, "lost");
  send(1, large);
  EXPECT_EQ(counters(0).pairs, 0u);
  nodes[1].frames.clear();
  nodes[1].transport = std::make_unique<UdpTransport>(io, UdpSettings{.listen = gone});
  Transport::Handlers handlers;
  handlers.on_frame = [&](std::span<const std::byte> frame) {
    nodes[1].frames.push_back(text(frame));
    return true;
  };
  nodes[1].transport->start(std::move(handlers));
  get_acquainted({1});
  gather(1, "about it");
  send(1, large);
  EXPECT_TRUE(has(1, {"about it", large}));
  EXPECT_EQ(counters(0).pairs, 0u);
}

TEST_F(FramePairs, BytesThatAreNoneAreCounted) {
  start_all(2);
  auto nonsense = fan_out::encode(fan_out::Head{.from = 1, .frames = 3});
  EXPECT_TRUE(nodes[1].transport->send(0, nonsense, {}));
  ASSERT_TRUE(run_until([&] { return counters(0).malformed == 1; }));
  EXPECT_TRUE(nodes[0].frames.empty());
  const auto from_nobody = fan_out::encode(fan_out::Head{.from = 4'000'000'000, .asks = true});
  EXPECT_TRUE(nodes[1].transport->send(0, from_nobody, {}));
  EXPECT_TRUE(nodes[1].transport->send(0, bytes("next"), {}));
  ASSERT_TRUE(run_until([&] { return nodes[0].frames == Frames{"next"}; }));
  EXPECT_EQ(counters(0).frames_sent, 0u) << "nobody is answered";
}

}  // namespace
}  // namespace fibocast
