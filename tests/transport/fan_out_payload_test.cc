// Large payloads that several nodes get: in one datagram, with what belongs to them.
#include <string>
#include <vector>

#include "tests/transport/fan_out_nodes.h"

namespace fibocast {
namespace {

TEST_F(FanOutTest, ALargePayloadLeavesOnceForAll) {
  start_all(6, {3});
  EXPECT_FALSE(nodes[0].transport->shares_payloads(1)) << "it has not been asked yet";
  fan_out(all_others(), "first");
  ASSERT_TRUE(all_have(1));
  EXPECT_TRUE(nodes[0].transport->shares_payloads(1));
  EXPECT_FALSE(nodes[0].transport->shares_payloads(3));
  const std::uint64_t before = counters(0).bytes_sent;
  const std::string large(kLoopbackPayload, 'l');
  gather(all_others(), large);
  nodes[0].transport->flush();
  ASSERT_TRUE(all_have(2));
  EXPECT_EQ(counters(0).fan_outs, 1u);
  EXPECT_LT(counters(0).bytes_sent - before, 2 * kLoopbackPayload + 1000) << "once for all, and once for who is deaf";
  for (const NodeId i : all_others()) EXPECT_TRUE(nodes[i].frames.back() == "for " + std::to_string(i) + " " + large);
}

TEST_F(FanOutTest, EachPayloadHasADatagramOfItsOwn) {
  start_all(5);
  fan_out(all_others(), "first");
  ASSERT_TRUE(all_have(1));
  const std::string a(5'000, 'a'), b(5'000, 'b'), c(kLeastSharedPayload - 1, 'c');
  gather({1, 2}, a);
  for (const NodeId peer : {3, 4}) gather({peer}, b);
  EXPECT_EQ(counters(0).fan_outs, 1u) << "a payload waits for those that get the same, not for another one";
  nodes[0].transport->flush();
  EXPECT_EQ(counters(0).fan_outs, 2u);
  gather(all_others(), c);
  nodes[0].transport->flush();
  ASSERT_TRUE(all_have(3));
  for (const NodeId i : all_others()) {
    const std::string name = "for " + std::to_string(i) + " ";
    EXPECT_EQ(nodes[i].frames,
              (std::vector<std::string>{"first for " + std::to_string(i), name + (i < 3 ? a : b), name + c}));
  }
}

// What it takes to know what a payload is comes with it.
TEST_F(FanOutTest, SmallFramesLeaveWithAPayloadForTheSameNodes) {
  start_all(6);
  fan_out(all_others(), "first");
  ASSERT_TRUE(all_have(1));
  const std::string large(kLoopbackPayload, 'l');
  for (const NodeId peer : {1u, 2u}) nodes[0].transport->gather(peer, bytes("about it"), {});
  gather({1, 2, 3}, large);
  nodes[0].transport->gather(3, bytes("of something else"), {});
  nodes[0].transport->flush();
  EXPECT_EQ(counters(0).fan_outs, 1u);
  EXPECT_EQ(counters(0).frames_sent, 11u);
  ASSERT_TRUE(run_until([&] { return nodes[2].frames.size() == 3 && nodes[3].frames.size() == 3; }));
  EXPECT_EQ(nodes[2].frames[1], "about it");
  EXPECT_TRUE(nodes[2].frames[2] == "for 2 " + large);
  EXPECT_EQ(nodes[3].frames[1], "of something else");
  EXPECT_TRUE(nodes[3].frames[2] == "for 3 " + large);
}

// Who gets a datagram copies all of it.
TEST_F(FanOutTest, NoPayloadGoesToOthersForTheirSmallFrames) {
  start_all(6);
  fan_out(all_others(), "first");
  ASSERT_TRUE(all_have(1));
  const std::string large(kLoopbackPayload, 'l'), much(kMostSharingHeads / 4, 'm');
  for (const NodeId peer : {1u, 2u, 5u}) nodes[0].transport->gather(peer, bytes("small"), {});
  gather({1, 2, 3}, large);
  nodes[0].transport->flush();
  EXPECT_EQ(counters(0).fan_outs, 2u);
  ASSERT_TRUE(run_until([&] { return nodes[2].frames.size() == 3 && nodes[5].frames.size() == 2; }));
  EXPECT_LT(counters(5).bytes_received, kLoopbackPayload);
  for (const NodeId peer : all_others()) nodes[0].transport->gather(peer, bytes(much), {});
  gather(all_others(), large);
  nodes[0].transport->flush();
  EXPECT_EQ(counters(0).fan_outs, 4u) << "it has no room for so much";
  ASSERT_TRUE(run_until([&] { return nodes[2].frames.size() == 5 && nodes[5].frames.size() == 4; }));
  EXPECT_TRUE(nodes[5].frames[2] == much);
}

TEST_F(FanOutTest, SmallFramesAreNotLostWithAPayloadThatTheSystemRefuses) {
  start_all(6);
  fan_out(all_others(), "first");
  ASSERT_TRUE(all_have(1));
  const std::string too_large(70'000, 'l');  // for any datagram
  for (const NodeId peer : all_others()) nodes[0].transport->gather(peer, bytes("about it"), {});
  gather(all_others(), too_large);
  nodes[0].transport->flush();
  EXPECT_EQ(counters(0).send_errors, 5u);
  EXPECT_EQ(counters(0).fan_outs, 1u);
  ASSERT_TRUE(all_have(2));
  for (const NodeId i : all_others()) EXPECT_EQ(nodes[i].frames.back(), "about it");
}

}  // namespace
}  // namespace fibocast
