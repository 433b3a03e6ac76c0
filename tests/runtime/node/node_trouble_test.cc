// Node when something is wrong: members that do not come, peers of another cluster, datagrams that make no sense.
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <vector>

#include "runtime/node/peer_message.h"
#include "tests/runtime/node/team.h"
#include "transport/frame.h"

namespace fibocast {
namespace {

// ---- a member is missing

class WithOneDown : public testing::TestWithParam<NodeId> {};

TEST_P(WithOneDown, EverybodyLearnsExactlyWhoIsMissing) {
  const NodeId missing = GetParam();
  Team team(cluster_of(5), {missing});
  const Nanoseconds deadline = team.in(kSecond);
  const auto cookies = team.barrier_everywhere(0, deadline);
  // One suspicion time (2 s) for the silent node; one more where it is the coordinator itself.
  ASSERT_TRUE(team.wait(cookies, kSecond + (missing == 0 ? 2 : 1) * 2'100 * kMillisecond));
  for (std::uint64_t cookie : cookies) {
    EXPECT_EQ(team.verdict(cookie), Verdict::kDeadlineExceeded);
    EXPECT_EQ(team.done(cookie).ranks, only(missing));
    EXPECT_GE(team.cluster.answer(cookie)->at, deadline);
  }
}

TEST_P(WithOneDown, WhoComesLaterGetsTheVerdictAndJoinsTheNext) {
  const NodeId missing = GetParam();
  Team team(cluster_of(5), {missing});
  const auto cookies = team.barrier_everywhere(0, team.in(kSecond));
  ASSERT_TRUE(team.wait(cookies));
  team.cluster.node(missing).start();
  team.up.push_back(missing);
  team.open(missing);
  const std::uint64_t late = team.barrier(missing, 0, team.in(20 * kSecond));
  ASSERT_TRUE(team.wait({late}));
  EXPECT_EQ(team.verdict(late), Verdict::kDeadlineExceeded);
  EXPECT_EQ(team.done(late).ranks, only(missing));
  const auto next = team.barrier_everywhere(1, team.in(20 * kSecond));
  ASSERT_TRUE(team.wait(next));
  team.expect_all(next, Verdict::kOk);
}

INSTANTIATE_TEST_SUITE_P(Rank, WithOneDown, testing::Values(0, 3, 4));

TEST(Deadline, OfALaterCallJoinsTheGenerationThatIsOpen) {
  Team team(cluster_of(3), {2});
  const auto cookies = team.barrier_everywhere(0, team.in(kSecond));
  ASSERT_TRUE(team.wait(cookies));
  team.cluster.node(2).start();
  team.up.push_back(2);
  team.open(2);
  ASSERT_TRUE(team.cluster.connect_all());
  team.cluster.run_until(team.in(kSecond));  // the verdict has reached it
  std::vector<std::uint64_t> next;
  for (NodeId id : team.up) next.push_back(team.barrier(id, std::nullopt, team.in(5 * kSecond)));
  ASSERT_TRUE(team.wait(next));
  for (std::uint64_t cookie : next) {
    EXPECT_EQ(team.verdict(cookie), Verdict::kOk);
    EXPECT_EQ(team.done(cookie).generation, 1u);
  }
}

TEST(Deadline, NamesWhoIsThereButHasNotCalled) {
  Team team(cluster_of(4));
  std::vector<std::uint64_t> cookies;
  for (NodeId id : {0u, 1u, 3u}) cookies.push_back(team.barrier(id, 0, team.in(kSecond)));
  ASSERT_TRUE(team.wait(cookies, kSecond + 100 * kMillisecond));  // nobody is silent: no suspicion to wait for
  for (std::uint64_t cookie : cookies) {
    EXPECT_EQ(team.verdict(cookie), Verdict::kDeadlineExceeded);
    EXPECT_EQ(team.done(cookie).ranks, only(2));
  }
  const std::uint64_t late = team.barrier(2, 0, team.in(kSecond));
  ASSERT_TRUE(team.wait({late}, kMillisecond));
  EXPECT_EQ(team.verdict(late), Verdict::kDeadlineExceeded);
}

TEST(Deadline, OfTheHastiestMemberCountsForAll) {
  Team team(cluster_of(3));
  const std::uint64_t patient = team.barrier(0, 0, team.in(100 * kSecond));
  const std::uint64_t hasty = team.barrier(1, 0, team.in(100 * kMillisecond));
  ASSERT_TRUE(team.wait({patient, hasty}, kSecond));
  team.expect_all({patient, hasty}, Verdict::kDeadlineExceeded);
}

TEST(Deadline, OfACallForAGenerationLongAgoIsStale) {
  Team team(cluster_of(2));
  const Generation many = Limits::simulated().open_generations + 3;
  for (Generation g = 0; g < many; ++g) {
    const auto cookies = team.barrier_everywhere(g, team.in(kSecond));
    ASSERT_TRUE(team.wait(cookies));
  }
  const std::uint64_t late = team.barrier(1, 0, team.in(kSecond));
  ASSERT_TRUE(team.wait({late}, 0));
  EXPECT_EQ(team.verdict(late), Verdict::kStale);
}

TEST(Deadline, OfAMulticastWhoseSenderIsDown) {
  Team team(cluster_of(3), {0});
  std::vector<std::uint64_t> cookies;
  for (NodeId id : team.up)
    cookies.push_back(team.cluster.receive_multicast(id, team.group, 0, 0, team.in(kSecond)).cookie);
  ASSERT_TRUE(team.wait(cookies, 6 * kSecond));
  for (std::uint64_t cookie : cookies) EXPECT_NE(team.verdict(cookie), Verdict::kOk);
}

// ---- peers and datagrams that do not belong here

TEST(Strangers, OfAnotherClusterAreRefusedWithTheirDigest) {
  ClusterSettings settings = cluster_of(3);
  settings.node.cluster_digest = 0x1111;
  settings.adjust = [](NodeSettings& s) {
    if (s.self == 2) s.cluster_digest = 0x2222;
  };
  VirtualCluster cluster(settings);
  cluster.start_all();
  cluster.run_until(3 * kSecond);
  EXPECT_EQ(cluster.node(0).node().peer_state(1), ChannelState::kConnected);
  EXPECT_NE(cluster.node(0).node().peer_state(2), ChannelState::kConnected);
  EXPECT_NE(cluster.node(2).node().peer_state(0), ChannelState::kConnected);
  int refusals = 0;
  for (const Answer& a : cluster.peer_events()) {
    if (a.event.kind != Event::Kind::kPeerRefused) continue;
    ++refusals;
    EXPECT_EQ(a.event.peer_digest, a.node == 2 ? 0x1111u : 0x2222u);
  }
  EXPECT_GE(refusals, 2);
}

TEST(Garbage, IsCountedAndHarmsNothing) {
  Team team(cluster_of(2));
  const std::uint64_t before = team.cluster.node(0).node().counters().malformed;
  for (std::uint64_t i = 0; i < 100; ++i) team.cluster.network().deliver(0, pattern(i, i * 13));
  EXPECT_EQ(team.cluster.node(0).node().counters().malformed, before + 100);
  const auto cookies = team.barrier_everywhere(0, team.in(kSecond));
  ASSERT_TRUE(team.wait(cookies));
  team.expect_all(cookies, Verdict::kOk);
}

TEST(Garbage, ThatBeginsLikeAFrameHarmsNothing) {
  Team team(cluster_of(3));
  Random random(5);
  VirtualCluster& cluster = team.cluster;
  // Every datagram once more, with one byte changed, to whom it was meant for.
  cluster.network().set_filter([&](NodeId, NodeId to, VirtualNetwork::Datagram& datagram) {
    VirtualNetwork::Datagram bad = datagram;
    bad[random.below(8)] ^= std::byte(1 + random.below(255));
    cluster.at(cluster.now(), [&cluster, to, bad] { cluster.network().deliver(to, bad); });
    return true;
  });
  for (Generation g = 0; g < 5; ++g) {
    const auto cookies = team.barrier_everywhere(g, team.in(5 * kSecond));
    ASSERT_TRUE(team.wait(cookies));
    team.expect_all(cookies, Verdict::kOk);
  }
  cluster.network().set_filter(nullptr);
}

// ---- messages that a peer should not have sent

// Turns the next application message of node 1 into `forged`, in a frame that the channel cannot tell from a right one.
void forge_next_message(VirtualCluster& cluster, const PeerMessage& forged) {
  cluster.network().set_filter([forged](NodeId from, NodeId, VirtualNetwork::Datagram& datagram) {
    std::optional<Frame> frame = decode_frame(datagram);
    if (from != 1 || !frame || frame->type != FrameType::kDataSmall) return true;
    const std::optional<PeerMessage> message = decode_peer_message(frame->body);
    if (!message || message->type != PeerMessageType::kMessage) return true;
    std::array<std::byte, kMaxPeerMessage> body;
    frame->body = std::span(body).first(encode_peer_message(forged, body));
    frame->payload_length = 0;
    std::array<std::byte, kMaxHeadBytes> head;
    const std::size_t bytes = encode_frame_head(*frame, head);
    datagram.assign(head.begin(), head.begin() + static_cast<std::ptrdiff_t>(bytes));
    return true;
  });
  cluster.send(1, 0, 1, {});
  cluster.run_until(cluster.now() + kSecond);
  cluster.network().set_filter(nullptr);
}

PeerMessage token(const Team& team, Generation generation) {
  PeerMessage m;
  m.type = PeerMessageType::kTransfer;
  m.choice = {Algorithm::kTrees};
  m.group = team.group;
  m.generation = generation;
  m.source = 1;
  return m;
}

struct Forgery {
  const char* name;
  std::function<void(const Team&, PeerMessage&)> change;
  std::uint64_t NodeCounters::*counter;
};

class Forged : public testing::TestWithParam<Forgery> {};

TEST_P(Forged, IsCountedAndChangesNothing) {
  Team team(cluster_of(2));
  for (Generation g = 0; g < 6; ++g) ASSERT_TRUE(team.wait(team.barrier_everywhere(g, team.in(kSecond))));
  const std::uint64_t before = team.cluster.node(0).node().counters().*GetParam().counter;
  PeerMessage message = token(team, 6);
  GetParam().change(team, message);
  const std::uint64_t waiting = team.barrier(0, 6, team.in(5 * kSecond));
  forge_next_message(team.cluster, message);
  EXPECT_EQ(team.cluster.node(0).node().counters().*GetParam().counter, before + 1);
  EXPECT_EQ(team.verdict(waiting), Verdict::kPending);
  const std::uint64_t last = team.barrier(1, 6, team.in(5 * kSecond));
  ASSERT_TRUE(team.wait({waiting, last}));
  team.expect_all({waiting, last}, Verdict::kOk);
}

INSTANTIATE_TEST_SUITE_P(
    Messages, Forged,
    testing::Values(Forgery{"stale", [](const Team&, PeerMessage& m) { m.generation = 2; }, &NodeCounters::stale},
                    Forgery{"future", [](const Team&, PeerMessage& m) { m.generation = 60; }, &NodeCounters::future},
                    Forgery{"unknown_group", [](const Team&, PeerMessage& m) { m.group = group_id("no such"); },
                            &NodeCounters::unknown_group},
                    Forgery{"four_billion_ranks",
                            [](const Team&, PeerMessage& m) {
                              m.type = PeerMessageType::kVerdict;
                              m.verdict = Verdict::kPeerLost;
                              m.ranks.add_run({0, kNoRank});
                            },
                            &NodeCounters::malformed}),
    [](const auto& info) { return info.param.name; });

// The one forgery that must work, or the checks above would prove nothing.
TEST(Forgeries, ATokenInTimeReleasesTheBarrier) {
  Team team(cluster_of(2));
  const std::uint64_t waiting = team.barrier(0, 0, team.in(5 * kSecond));
  forge_next_message(team.cluster, token(team, 0));
  EXPECT_EQ(team.verdict(waiting), Verdict::kOk);
}

// Found by fuzzing: it ended the node.
TEST(Forgeries, AStreamThatIsAnnouncedTwiceIsTakenOnce) {
  for (const std::uint32_t stream : {0u, 7u}) {
    ClusterSettings settings = cluster_of(2);
    settings.limits.message_credit = 4;
    Team team(settings);
    PeerMessage announce;
    announce.type = PeerMessageType::kMessageAnnounce;
    announce.total_bytes = 100'000, announce.stream = stream;
    forge_next_message(team.cluster, announce);
    forge_next_message(team.cluster, announce);
    EXPECT_EQ(team.cluster.node(0).node().counters().malformed, stream == 0 ? 2u : 1u);
    const auto cookies = team.barrier_everywhere(0, team.in(5 * kSecond));
    ASSERT_TRUE(team.wait(cookies));
    team.expect_all(cookies, Verdict::kOk);
  }
}

// Found by fuzzing: the application was given memory that nobody had written.
TEST(Forgeries, DataThatNeverCameDoNotEndWell) {
  ClusterSettings settings = cluster_of(2);
  settings.limits.message_credit = 4;
  Team team(settings);
  const std::uint64_t waiting = team.receive_multicast(0, 1, 0);
  PeerMessage announce = token(team, 0);
  announce.type = PeerMessageType::kAnnounce;
  announce.operation = Operation::kMulticast, announce.root = 1;
  announce.total_bytes = 2562, announce.segment_bytes = 1586, announce.stream = 1;
  forge_next_message(team.cluster, announce);
  announce.type = PeerMessageType::kVerdict, announce.verdict = Verdict::kOk;
  forge_next_message(team.cluster, announce);
  EXPECT_EQ(team.verdict(waiting), Verdict::kStale);
}

TEST(Forgeries, AStragglerThatIsNoMemberIsNotBelieved) {
  for (const Straggler forged : {Straggler{2, 5}, Straggler{kNoRank, 5}}) {
    Team team(cluster_of(2));
    const std::uint64_t waiting = team.barrier(0, 0, team.in(5 * kSecond));
    PeerMessage message = token(team, 0);
    message.straggler = forged;
    forge_next_message(team.cluster, message);
    ASSERT_EQ(team.verdict(waiting), Verdict::kOk);
    EXPECT_EQ(team.done(waiting).straggler.rank, kNoRank);
    EXPECT_TRUE(team.cluster.node(0).node().group_info(0).slowest.empty());
  }
}

}  // namespace
}  // namespace fibocast
