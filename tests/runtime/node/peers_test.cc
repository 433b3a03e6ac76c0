// Nodes that have fewer channels than peers: they are made at first use, and who finds none left is held back.
#include "runtime/node/peers.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/runtime/node/team.h"

namespace fibocast {
namespace {

// Started, but not connected.
struct Few {
  Few(std::uint32_t nodes, std::uint32_t channels) : cluster(settings(nodes, channels)) {
    cluster.start_all();
    pass(kSecond);
    for (NodeId id = 0; id < nodes; ++id) group = cluster.open(id, "all").group;
  }

  static ClusterSettings settings(std::uint32_t nodes, std::uint32_t channels) {
    ClusterSettings s = cluster_of(nodes);
    s.limits.channels = channels;
    return s;
  }
  void pass(Nanoseconds duration) { cluster.run_until(cluster.now() + duration); }
  const Node& node(NodeId id) const { return cluster.node(id).node(); }
  std::vector<std::uint64_t> barrier(const std::vector<NodeId>& callers, Generation generation) {
    std::vector<std::uint64_t> cookies;
    for (const NodeId id : callers)
      cookies.push_back(cluster.barrier(id, group, generation, cluster.now() + kSecond).cookie);
    pass(20 * kSecond);
    return cookies;
  }
  void expect(const std::vector<std::uint64_t>& cookies, Verdict verdict, const RankSet& ranks) {
    for (const std::uint64_t cookie : cookies) {
      ASSERT_TRUE(cluster.answer(cookie)) << cookie;
      EXPECT_EQ(cluster.answer(cookie)->event.done.verdict, verdict) << cookie;
      EXPECT_EQ(cluster.answer(cookie)->event.done.ranks, ranks) << cookie;
    }
  }
  bool hears(NodeId to, std::uint64_t tag) {
    const std::uint64_t cookie = cluster.receive(to, tag).cookie;
    pass(kSecond);
    return cluster.answer(cookie) != nullptr;
  }

  VirtualCluster cluster;
  GroupId group = 0;
};

TEST(Peers, HaveNoChannelBeforeItsFirstUse) {
  Few few(16, 6);
  for (NodeId id = 0; id < 16; ++id) EXPECT_EQ(few.node(id).connected_peers(), 0u);
  EXPECT_EQ(few.cluster.send(3, 9, kTag, pattern(1, 100)), Admission::kTaken);
  EXPECT_TRUE(few.hears(9, kTag));
  EXPECT_EQ(few.node(3).peer_state(9), ChannelState::kConnected);
  EXPECT_EQ(few.node(9).peer_state(3), ChannelState::kConnected);
  EXPECT_EQ(few.node(9).peer_state(4), ChannelState::kClosed);
  EXPECT_EQ(few.node(9).peer_counters(4), nullptr);
  EXPECT_EQ(few.node(9).connected_peers(), 1u);
}

TEST(Peers, AreOnlyThoseOfTheTree) {
  Few few(16, 6);
  std::vector<NodeId> all;
  for (NodeId id = 0; id < 16; ++id) all.push_back(id);
  for (const Generation generation : {0u, 1u, 2u}) few.expect(few.barrier(all, generation), Verdict::kOk, {});
  std::uint32_t ends = 0;
  for (const NodeId id : all) {
    ends += few.node(id).connected_peers();
    EXPECT_EQ(few.node(id).counters().channels_full, 0u);
  }
  EXPECT_EQ(ends, 2u * 15);
}

// Each node has as many as it has peers, and none of them before: the verdict is found as if all had been connected.
TEST(Peers, AreReachedForAVerdict) {
  Few few(7, 6);
  few.expect(few.barrier({0, 1, 2, 4, 5, 6}, 0), Verdict::kDeadlineExceeded, only(3));
  few.cluster.node(0).stop();
  few.expect(few.barrier({1, 2, 3, 4, 5, 6}, 1), Verdict::kDeadlineExceeded, only(0));
}

TEST(Peers, BeyondThePoolAreHeldBackAndCounted) {
  Few few(6, 2);
  EXPECT_EQ(few.cluster.send(0, 1, kTag, pattern(1, 10)), Admission::kTaken);
  EXPECT_EQ(few.cluster.send(0, 2, kTag, pattern(2, 5000)), Admission::kTaken);
  EXPECT_EQ(few.node(0).counters().channels_full, 0u);
  EXPECT_EQ(few.cluster.send(0, 3, kTag, pattern(3, 10)), Admission::kWouldBlock);
  EXPECT_EQ(few.node(0).counters().channels_full, 1u);
  EXPECT_TRUE(few.hears(1, kTag));
  EXPECT_TRUE(few.hears(2, kTag));
  // What a stranger sends is thrown away.
  EXPECT_EQ(few.cluster.send(4, 0, kTag, pattern(4, 10)), Admission::kTaken);
  EXPECT_FALSE(few.hears(0, kTag));
  EXPECT_GT(few.node(0).counters().channels_full, 1u);
  EXPECT_EQ(few.node(4).peer_state(0), ChannelState::kConnecting);
  // Those within go on.
  EXPECT_EQ(few.cluster.send(2, 0, kTag + 1, pattern(5, 10)), Admission::kTaken);
  EXPECT_TRUE(few.hears(0, kTag + 1));
}

TEST(Peers, BeyondThePoolDoNotKeepAnOperationFromItsEnd) {
  Few few(6, 2);
  // The last leaf's two channels go to others than its parent.
  EXPECT_EQ(few.cluster.send(5, 3, kTag, pattern(1, 10)), Admission::kTaken);
  EXPECT_EQ(few.cluster.send(5, 4, kTag, pattern(2, 10)), Admission::kTaken);
  few.pass(kSecond);
  const auto cookies = few.barrier({0, 1, 2, 3, 4, 5}, 0);
  for (const std::uint64_t cookie : cookies) {
    ASSERT_TRUE(few.cluster.answer(cookie)) << cookie;
    EXPECT_EQ(few.cluster.answer(cookie)->event.done.verdict, Verdict::kDeadlineExceeded) << cookie;
  }
  EXPECT_GT(few.node(5).counters().channels_full, 0u);
  for (NodeId id = 0; id < 6; ++id) EXPECT_FALSE(few.cluster.node(id).stuck());
}

}  // namespace
}  // namespace fibocast
