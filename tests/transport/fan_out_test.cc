// Fan-outs over UDP: frames for several nodes in one datagram.
#include "transport/fan_out.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/asio/ip/multicast.hpp>
#include <string>

#include "tests/transport/event_loop_test.h"
#include "transport/udp_transport.h"

namespace fibocast {
namespace {

using boost::asio::ip::udp;

class FanOutTest : public EventLoopTest {
 protected:
  struct Node {
    std::unique_ptr<UdpTransport> transport;
    std::vector<std::string> frames;
  };

  // Ports that this process has at the moment: nobody else uses the same group.
  void SetUp() override {
    udp::socket any(io, udp::endpoint(boost::asio::ip::address_v4::loopback(), 0));
    const std::uint16_t port = any.local_endpoint().port();
    group = {boost::asio::ip::address_v4(0xefff0000 + port), static_cast<std::uint16_t>(61'000 + port % 4'000)};
  }
  UdpSettings settings(NodeId self, bool hears) const {
    UdpSettings settings{.listen = {boost::asio::ip::address_v4::loopback(), 0}};
    if (hears) settings.fan_out = FanOut::Settings{.group = group, .self = self, .ask_again = ask_again};
    return settings;
  }
  void start(NodeId self, const UdpSettings& settings) {
    Node& node = nodes[self];
    node.transport = std::make_unique<UdpTransport>(io, settings);
    for (NodeId peer = 0; peer < nodes.size(); ++peer) {
      if (peer == self || !nodes[peer].transport) continue;
      node.transport->set_peer(peer, nodes[peer].transport->local_endpoint());
      nodes[peer].transport->set_peer(self, node.transport->local_endpoint());
    }
    Transport::Handlers handlers;
    handlers.on_frame = [&node](std::span<const std::byte> frame) {
      node.frames.push_back(text(frame));
      return true;
    };
    handlers.on_parts = [&node](std::span<const std::byte> head, std::span<const std::byte> payload) {
      node.frames.push_back(text(head) + text(payload));
      return true;
    };
    node.transport->start(std::move(handlers));
  }
  // Those in `deaf` know nothing of fan-outs.
  void start_all(std::size_t count, const std::vector<NodeId>& deaf = {}) {
    nodes.resize(count);
    for (NodeId i = 0; i < count; ++i) start(i, settings(i, std::ranges::find(deaf, i) == deaf.end()));
  }
  static std::span<const std::byte> bytes(const std::string& text) { return std::as_bytes(std::span(text)); }
  static std::string text(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  // From node 0 to all of these, in two pieces.
  void fan_out(const std::vector<NodeId>& to, const std::string& text) {
    for (const NodeId peer : to) {
      const std::string head = text + " for ", payload = std::to_string(peer);
      EXPECT_TRUE(nodes[0].transport->gather(peer, bytes(head), bytes(payload)));
    }
    nodes[0].transport->flush();
  }
  // The same payload to all of these.
  void gather(const std::vector<NodeId>& to, const std::string& payload) {
    for (const NodeId peer : to)
      EXPECT_TRUE(nodes[0].transport->gather(peer, bytes("for " + std::to_string(peer) + " "), bytes(payload)));
  }
  std::vector<NodeId> all_others() const {
    std::vector<NodeId> others;
    for (NodeId i = 1; i < nodes.size(); ++i) others.push_back(i);
    return others;
  }
  // All have got so many frames and there is nothing more to do: the answers to questions have come too.
  ::testing::AssertionResult all_have(std::size_t frames) {
    const auto result = run_until([&] {
      return std::all_of(nodes.begin() + 1, nodes.end(), [&](const Node& n) { return n.frames.size() >= frames; });
    });
    while (io.poll() > 0) continue;
    return result;
  }
  const TransportCounters& counters(NodeId node) { return nodes[node].transport->counters(); }

  udp::endpoint group;
  Nanoseconds ask_again = 3'600'000'000'000;
  std::vector<Node> nodes;
};

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
  ASSERT_TRUE(run_until([&] { return nodes[0].frames.size() == 1; })) << "taken for a frame, which it is not";
}

TEST(FanOutDatagram, IsReadAsItWasWritten) {
  const auto head =
      fan_out::encode({.from = 70'000, .token = 0x1122334455667788, .frames = 2, .receivers = 0x8001, .asks = true});
  std::vector<std::byte> datagram(head.begin(), head.end());
  for (const NodeId to : {3u, 65'536u}) {
    const auto entry = fan_out::encode_entry(to, to % 5);
    datagram.insert(datagram.end(), entry.begin(), entry.end());
    datagram.resize(datagram.size() + to % 5, static_cast<std::byte>(to % 5));
  }
  const auto read = fan_out::decode(datagram);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->head.from, 70'000u);
  EXPECT_EQ(read->head.token, 0x1122334455667788u);
  EXPECT_EQ(read->head.frames, 2u);
  EXPECT_EQ(read->head.receivers, 0x8001u);
  EXPECT_TRUE(read->head.asks);
  EXPECT_FALSE(read->head.shares);
  EXPECT_TRUE(read->payload.empty());
  std::vector<std::pair<NodeId, std::size_t>> frames;
  const auto note = [&](NodeId to, std::span<const std::byte> frame) { frames.emplace_back(to, frame.size()); };
  fan_out::for_each_frame(read->frames, note);
  EXPECT_EQ(frames, (std::vector<std::pair<NodeId, std::size_t>>{{3, 3}, {65'536, 1}}));
  EXPECT_FALSE(fan_out::decode_answer(datagram));
  for (std::size_t bytes = 0; bytes < datagram.size(); ++bytes)
    EXPECT_FALSE(fan_out::decode(std::span<const std::byte>(datagram).first(bytes))) << bytes;
  const auto sharing = fan_out::encode({.frames = 2, .shares = true});
  std::ranges::copy(sharing, datagram.begin());
  EXPECT_FALSE(fan_out::decode(datagram)) << "without a payload";
  datagram.push_back(std::byte{7});
  const auto shared = fan_out::decode(datagram);
  ASSERT_TRUE(shared);
  EXPECT_TRUE(shared->head.shares);
  EXPECT_EQ(shared->frames.size(), read->frames.size());
  ASSERT_EQ(shared->payload.size(), 1u);
  EXPECT_EQ(shared->payload[0], std::byte{7});
  std::ranges::copy(head, datagram.begin());
  EXPECT_FALSE(fan_out::decode(datagram)) << "something is left";
  const auto answer = fan_out::decode_answer(fan_out::encode(fan_out::Answer{.from = 9, .token = 8}));
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->from, 9u);
  EXPECT_EQ(answer->token, 8u);
}

}  // namespace
}  // namespace fibocast
