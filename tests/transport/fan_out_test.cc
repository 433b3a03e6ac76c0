// Fan-outs over UDP: frames for several nodes in one datagram.
#include <algorithm>
#include <boost/asio/ip/multicast.hpp>
#include <string>

#include "tests/transport/fan_out_nodes.h"

namespace fibocast {
namespace {

using boost::asio::ip::udp;

TEST_F(FanOutTest, LeavesInOneDatagramOnceAllHaveAnswered) {
  start_all(6);
  fan_out(all_others(), "first");
  ASSERT_TRUE(all_have(1));
  EXPECT_EQ(counters(0).fan_outs, 0u);
  fan_out(all_others(), "second");
  ASSERT_TRUE(all_have(2));
  EXPECT_EQ(counters(0).fan_outs, 1u);
  EXPECT_EQ(counters(0).frames_sent, 10u);
  for (const NodeId i : all_others()) {
    const std::string name = std::to_string(i);
    EXPECT_EQ(nodes[i].frames, (std::vector<std::string>{"first for " + name, "second for " + name}));
    EXPECT_EQ(counters(i).frames_received, 2u);
  }
}

TEST_F(FanOutTest, WhoHasASocketOfItsOwnToTheSenderStillAnswersFromTheAddressThatIsKnown) {
  start_all(4);
  for (int i = 0; i < 50; ++i)
    for (const NodeId node : all_others()) EXPECT_TRUE(nodes[node].transport->send(0, bytes("alone"), {}));
  ASSERT_TRUE(run_until([&] { return nodes[0].frames.size() == 150; }));
  fan_out(all_others(), "first");
  ASSERT_TRUE(all_have(1));
  fan_out(all_others(), "second");
  ASSERT_TRUE(all_have(2));
  EXPECT_EQ(counters(0).fan_outs, 1u);
}

TEST_F(FanOutTest, EachGroupOfManyNodesGetsItsOwn) {
  start_all(kFanOutNodes + 4);
  for (std::size_t i = 0; i < 3; ++i) {
    fan_out(all_others(), std::to_string(i));
    ASSERT_TRUE(all_have(i + 1));
  }
  EXPECT_EQ(counters(0).fan_outs, 4u);
  for (const NodeId i : all_others()) EXPECT_EQ(nodes[i].frames.back(), "2 for " + std::to_string(i));
}

TEST_F(FanOutTest, WhoDoesNotHearGetsItsFramesAlone) {
  start_all(6, {3});
  fan_out(all_others(), "first");
  ASSERT_TRUE(all_have(1));
  fan_out(all_others(), "second");
  ASSERT_TRUE(all_have(2));
  EXPECT_EQ(counters(0).fan_outs, 1u);
  EXPECT_EQ(nodes[3].frames.back(), "second for 3");
  EXPECT_EQ(nodes[3].frames.size(), 2u);
}

TEST_F(FanOutTest, FewFramesGoAlone) {
  start_all(9);
  fan_out(all_others(), "first");
  ASSERT_TRUE(all_have(1));
  fan_out({1, 2}, "two");
  EXPECT_EQ(counters(0).fan_outs, 0u);
  fan_out({1, 2, 3}, "three");
  EXPECT_EQ(counters(0).fan_outs, 1u);
  ASSERT_TRUE(run_until([&] { return nodes[1].frames.size() == 3 && nodes[3].frames.size() == 2; }));
  EXPECT_EQ(nodes[3].frames.back(), "three for 3");
}

// Neither who sent it, nor who gets nothing of it, has to read a fan-out.
TEST_F(FanOutTest, OthersSocketsDoNotTakeIt) {
  start_all(12);
  fan_out(all_others(), "first");
  ASSERT_TRUE(all_have(1));
  const std::uint64_t sender = counters(0).bytes_received, other = counters(9).bytes_received;
  fan_out({1, 2, 3, 8, 10, 11}, "not for 9");
  ASSERT_TRUE(run_until([&] { return nodes[11].frames.size() == 2 && nodes[8].frames.size() == 2; }));
  while (io.poll() > 0) continue;
  EXPECT_EQ(counters(0).bytes_received, sender);
  EXPECT_EQ(counters(9).bytes_received, other);
  EXPECT_EQ(counters(9).kernel_drops, 0u) << "it is not lost, it is not wanted";
}

TEST_F(FanOutTest, WhoGoesDeafIsFoundOut) {
  ask_again = 0;  // each time
  start_all(6);
  fan_out(all_others(), "first");
  ASSERT_TRUE(all_have(1));
  const UdpSettings again{.listen = nodes[2].transport->local_endpoint()};
  nodes[2].transport->stop();
  nodes[2].frames.clear();
  start(2, again);
  for (unsigned i = 0; i <= kMostUnanswered; ++i) {
    fan_out(all_others(), "lost");
    ASSERT_TRUE(run_until([&] { return nodes[1].frames.size() == i + 2; }));
    while (io.poll() > 0) continue;
  }
  EXPECT_TRUE(nodes[2].frames.empty());
  fan_out(all_others(), "alone");
  ASSERT_TRUE(run_until([&] { return !nodes[2].frames.empty(); }));
  EXPECT_EQ(nodes[2].frames, std::vector<std::string>{"alone for 2"});
  EXPECT_EQ(counters(0).fan_outs, kMostUnanswered + 2u) << "the others still hear";
}

// Nodes start one after the other. Only a question a second counts against those who do not answer.
TEST_F(FanOutTest, WhoIsMissedIsAskedSooner) {
  constexpr Nanoseconds kSecond = 1'000'000'000, kStep = 1'000'000;
  udp::socket ours(io, {boost::asio::ip::address_v4::loopback(), 0});
  udp::socket theirs(io, {boost::asio::ip::address_v4::loopback(), 0});
  FanOut us(ours, {.group = group}), hearer(theirs, {.group = group, .self = 1});
  ASSERT_TRUE(us.joined() && hearer.joined());
  Nanoseconds now = 0;
  const auto questions_within = [&](Nanoseconds duration, const std::vector<NodeId>& who_answers) {
    std::size_t questions = 0;
    for (const Nanoseconds end = now + duration; now < end; now += kStep) {
      for (const NodeId peer : {1u, 2u, 3u}) us.gather(peer, bytes("frame"), {});
      us.flush([now] { return now; }, [](NodeId, std::span<const std::byte>) {});
      std::byte datagram[1000];
      for (ssize_t length; (length = recv(hearer.socket().native_handle(), datagram, sizeof datagram, 0)) > 0;) {
        const auto parts = fan_out::decode(std::span(datagram).first(static_cast<std::size_t>(length)));
        if (!parts || !parts->head.asks) continue;
        ++questions;
        for (const NodeId peer : who_answers) us.on_answer(peer, parts->head.token);
      }
    }
    return questions;
  };
  EXPECT_EQ(questions_within(kStep, {1, 2}), 1u);
  EXPECT_EQ(questions_within(kSecond - kStep, {}), 6u) << "after 1/64 s, and twice as long each time";
  for (const NodeId peer : {1u, 2u}) EXPECT_TRUE(us.hears(peer));
  EXPECT_FALSE(us.hears(3));
  EXPECT_EQ(questions_within(10 * kSecond, {1, 2}), 10u);
  EXPECT_EQ(questions_within(kSecond, {1, 2, 3}), 1u);
  EXPECT_TRUE(us.hears(3));
  EXPECT_EQ(questions_within(10 * kSecond, {1, 2, 3}), 10u);
}

TEST_F(FanOutTest, WhatFollowsAloneDoesNotOvertake) {
  start_all(5);
  for (std::size_t i = 0; i < 2; ++i) {
    fan_out(all_others(), std::to_string(i));
    ASSERT_TRUE(all_have(i + 1));
  }
  // Here, as what is sent to one goes after what was gathered for it; there, as fan-outs are looked for first.
  for (const NodeId peer : all_others()) nodes[0].transport->gather(peer, bytes("gathered"), {});
  EXPECT_EQ(counters(0).fan_outs, 1u);
  nodes[0].transport->send(4, bytes("alone"), {});
  EXPECT_EQ(counters(0).fan_outs, 2u);
  ASSERT_TRUE(run_until([&] { return nodes[4].frames.size() == 4; }));
  EXPECT_EQ(nodes[4].frames[2], "gathered");
  EXPECT_EQ(nodes[4].frames[3], "alone");
}

// Who looks for one datagram at a time, as calls do that follow each other, sees both.
TEST_F(FanOutTest, NeitherSocketIsForgottenForTheOther) {
  start_all(4);
  fan_out(all_others(), "first");
  ASSERT_TRUE(all_have(1));
  Node& node = nodes[1];
  const auto polls_until = [&](const std::string& frame) {
    int polls = 0;
    for (; std::ranges::find(node.frames, frame) == node.frames.end() && polls < 200; ++polls)
      EXPECT_TRUE(node.transport->poll());
    return polls;
  };
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(nodes[2].transport->send(1, bytes("alone"), {}));
  fan_out(all_others(), "together");
  EXPECT_LT(polls_until("together for 1"), 40);
  while (node.transport->poll()) continue;
  node.frames.clear();
  for (int i = 0; i < 100; ++i) fan_out(all_others(), "together");
  EXPECT_TRUE(nodes[2].transport->send(1, bytes("alone"), {}));
  EXPECT_LT(polls_until("alone"), 40);
}

TEST_F(FanOutTest, WhatHasNoRoomGoesInTheNextOneOrAlone) {
  start_all(5);
  fan_out(all_others(), "first");
  ASSERT_TRUE(all_have(1));
  const std::string half(kMostFanOutBytes / 8, 'h'), more(kMostFanOutBytes, 'm');
  for (int i = 0; i < 3; ++i)
    for (const NodeId peer : all_others()) nodes[0].transport->gather(peer, bytes(half), {});
  nodes[0].transport->gather(1, bytes(more), {});
  nodes[0].transport->flush();
  ASSERT_TRUE(run_until([&] { return nodes[1].frames.size() == 5 && nodes[4].frames.size() == 4; }));
  EXPECT_GE(counters(0).fan_outs, 1u);
  EXPECT_TRUE(nodes[1].frames.back() == more);
  for (const NodeId peer : all_others()) EXPECT_TRUE(nodes[peer].frames[3] == half) << peer;
}

TEST_F(FanOutTest, OnlyForSeveralPeersOfThisHost) {
  start_all(3);
  fan_out(all_others(), "first");
  ASSERT_TRUE(all_have(1));
  fan_out({1, 2, 1, 2}, "four frames, and nobody was asked");
  EXPECT_EQ(counters(0).fan_outs, 0u);
  UdpTransport far(io, settings(0, true));
  for (NodeId peer = 1; peer < 9; ++peer) far.set_peer(peer, {boost::asio::ip::make_address("192.0.2.1"), 7'000});
  udp::socket first(io, udp::v4());
  EXPECT_NO_THROW(first.bind(group)) << "nobody has joined, who would have taken the port";
}

// Whoever can send to the group is heard by all: what is not from a node's own address changes nothing.
TEST_F(FanOutTest, StrangersAreNotBelieved) {
  start_all(5, {1, 2, 3, 4});
  fan_out(all_others(), "first");
  ASSERT_TRUE(all_have(1));
  udp::socket stranger(io, udp::endpoint(boost::asio::ip::address_v4::loopback(), 0));
  const auto to_group = [&](std::span<const std::byte> datagram) {
    stranger.send_to(boost::asio::buffer(datagram.data(), datagram.size()), group);
  };
  stranger.set_option(boost::asio::ip::multicast::outbound_interface(boost::asio::ip::address_v4::loopback()));
  const auto head = fan_out::encode({.from = 1, .token = 7, .frames = 1, .receivers = 0xffff, .asks = true});
  const auto entry = fan_out::encode_entry(0, 4);
  std::vector<std::byte> datagram(head.begin(), head.end());
  datagram.insert(datagram.end(), entry.begin(), entry.end());
  to_group(datagram);  // its length is wrong
  datagram.resize(datagram.size() + 4);
  to_group(datagram);
  ASSERT_TRUE(run_until([&] { return counters(0).malformed == 1; }));
  while (io.poll() > 0) continue;
  EXPECT_TRUE(nodes[0].frames.empty());
  EXPECT_EQ(stranger.available(), 0u) << "no answer";
  const auto answer = fan_out::encode(fan_out::Answer{.from = 1, .token = 7});
  stranger.send_to(boost::asio::buffer(answer), nodes[0].transport->local_endpoint());
  ASSERT_TRUE(run_until([&] { return counters(0).malformed == 2; }));
  EXPECT_TRUE(nodes[0].frames.empty());
}

}  // namespace
}  // namespace fibocast
