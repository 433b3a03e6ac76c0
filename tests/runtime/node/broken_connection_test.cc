// Nodes over TCP whose connections break: whose process has ended is found at once, for its host refuses; and nobody is
// taken for dead only because what lies between the hosts breaks connections.
#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <vector>

#include "runtime/node/peer_message.h"
#include "tests/runtime/node/workers.h"
#include "transport/frame.h"

namespace fibocast {
namespace {

ClusterSettings over_streams(std::uint32_t nodes) {
  ClusterSettings settings = busy_cluster_of(nodes);
  settings.streams.used = true;
  settings.network.latency_min = settings.network.latency_max = 100 * kMicrosecond;
  return settings;
}

TEST(BrokenConnection, ToAProcessThatEndedIsRefusedAndItIsLostSoonThoughNobodyWaitsForIt) {
  VirtualCluster cluster(over_streams(4));
  cluster.start_all();
  ASSERT_TRUE(cluster.connect_all());
  cluster.run_until(10 * kSecond);
  const Fault crash{.kind = Fault::Kind::kCrash, .nodes = {2}};
  cluster.begin(crash);
  cluster.run_until(cluster.now() + 100 * kMillisecond);
  for (const NodeId id : {0, 1, 3}) EXPECT_EQ(cluster.node(id).node().peer_belief(2), Belief::kLost) << id;
}

TEST(BrokenConnection, ThatIsMadeAgainChangesNothing) {
  Workers w(over_streams(3), GroupPolicy::kSurvivors);
  ASSERT_TRUE(w.run_until_each(w.all_but({}), 20, kSecond));
  const Fault reset{.kind = Fault::Kind::kReset, .nodes = {0, 1, 2}};
  for (int i = 0; i < 20; ++i) {
    w.cluster.begin(reset);
    ASSERT_TRUE(w.run_until_each(w.all_but({}), 2, 100 * kMillisecond)) << i;
  }
  EXPECT_EQ(w.failures(w.all_but({})), 0u);
}

// It would be alone, as those whose processes are dead count for no majority, and the others would go on as well.
TEST(BrokenConnection, IsNoSignThatAProcessEnded) {
  for (const NodeId apart : {0u, 1u, 2u}) {
    Workers w(over_streams(3), GroupPolicy::kSurvivors);
    ASSERT_TRUE(w.run_until_each(w.all_but({}), 20, kSecond));
    const Fault reset{.kind = Fault::Kind::kReset, .nodes = {apart}},
        partition{.kind = Fault::Kind::kPartition, .nodes = {apart}};
    w.begin(partition);
    w.cluster.begin(reset);
    EXPECT_FALSE(w.run_until_each({apart}, 3, 200 * kMillisecond)) << "alone";
    w.cluster.heal(partition);
    EXPECT_TRUE(w.run_until_each(w.all_but({}), 20, 3 * kSecond)) << apart;
    EXPECT_EQ(w.failures(w.all_but({})), 0u) << apart;
    for (NodeId id = 0; id < 3; ++id) EXPECT_EQ(w.info(id).live, 3u) << apart;
  }
}

// Of what answers the leader who stops them: node 3 says nothing, and node 1 that it has installed a later epoch, of
// itself alone, which has not gone.
bool tell_of_another_list(NodeId from, NodeId to, VirtualNetwork::Datagram& datagram) {
  std::optional<Frame> frame = decode_frame(datagram);
  if (to != 0 || !frame || frame->type != FrameType::kDataSmall) return true;
  std::optional<PeerMessage> m = decode_peer_message(frame->body);
  if (!m || m->type != PeerMessageType::kEpochStopped || m->piece.empty()) return true;
  if (from != 1) return from != 3;
  std::vector<std::byte> piece(m->piece.begin(), m->piece.end());
  piece.back() = std::byte{2};  // its rank
  m->piece = piece;
  m->epoch += 1, m->arrived = false;
  std::array<std::byte, kMaxPeerMessage> body;
  std::array<std::byte, kMaxHeadBytes> head;
  frame->body = std::span(body).first(encode_peer_message(*m, body));
  const std::size_t bytes = encode_frame_head(*frame, head);
  datagram.assign(head.begin(), head.begin() + static_cast<std::ptrdiff_t>(bytes));
  return true;
}

// The trees that run are among the members of the epoch before: a call that waits for the window waits for these.
TEST(EpochLeader, ThatWasToldOfALaterListKeepsItsTreesUntilItInstallsAnother) {
  Workers w(busy_cluster_of(6), GroupPolicy::kSurvivors);
  const Fault first{.kind = Fault::Kind::kCrash, .nodes = {5}}, crash{.kind = Fault::Kind::kCrash, .nodes = {4}};
  w.begin(first);
  ASSERT_TRUE(w.run_until_each(w.all_but({5}), 20, kSecond));
  const Generation far = w.info(0).next_generation + 1'000'000;
  const Asked asked = w.cluster.barrier(0, w.info(0).id, far, w.cluster.now() + 3 * kSecond);
  ASSERT_EQ(asked.admission, Admission::kTaken);
  w.cluster.network().set_filter(tell_of_another_list);
  w.begin(crash);
  EXPECT_TRUE(w.cluster.run_until(w.cluster.now() + 4 * kSecond, [&] { return w.cluster.answer(asked.cookie); }));
}

}  // namespace
}  // namespace fibocast
