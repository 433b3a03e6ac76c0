// What a member that was started again is told of operations that the one it was before took part in.
#include <gtest/gtest.h>

#include "tests/runtime/node/team.h"

namespace fibocast {
namespace {

ClusterSettings few(std::uint32_t nodes) {
  ClusterSettings settings = cluster_of(nodes);
  settings.node.suspicion = kSecond;
  settings.network.latency_min = 10 * kMicrosecond, settings.network.latency_max = 100 * kMicrosecond;
  return settings;
}

// A shell comes before the node has heard from anybody how far the group is, and others have the barrier before on
// record. Nobody else calls for a while.
TEST(FormerLife, ReleasesNobodyFromTheNextBarrier) {
  for (NodeId anew = 0; anew < 5; ++anew) {
    Team team(few(5));
    for (Generation g = 0; g < 2; ++g) ASSERT_TRUE(team.wait(team.barrier_everywhere(g, team.in(5 * kSecond))));
    team.cluster.run_until(team.in(kSecond));
    team.cluster.node(anew).stop();
    team.cluster.node(anew).restart(77'000);
    team.open(anew);
    std::vector<std::uint64_t> calls = {team.barrier(anew, std::nullopt, team.in(30 * kSecond))};
    team.cluster.run_until(team.in(10 * kSecond));
    EXPECT_EQ(team.verdict(calls[0]), Verdict::kPending) << anew;
    for (const NodeId id : team.up)
      if (id != anew) calls.push_back(team.barrier(id, std::nullopt, team.in(15 * kSecond)));
    ASSERT_TRUE(team.wait(calls));
    team.expect_all(calls, Verdict::kOk);
  }
}

// The root of the tree and another one: nobody to whom its messages went remembers them.
TEST(FormerLife, ReleasesNobodyWhereSeveralWereStartedAgain) {
  for (NodeId other = 1; other < 5; ++other) {
    Team team(few(5));
    for (Generation g = 0; g < 2; ++g) ASSERT_TRUE(team.wait(team.barrier_everywhere(g, team.in(5 * kSecond))));
    team.cluster.run_until(team.in(kSecond));
    for (const NodeId anew : {NodeId{0}, other}) team.cluster.node(anew).stop();
    for (const NodeId anew : {NodeId{0}, other}) team.cluster.node(anew).restart(77'000 + 1'000 * anew);
    std::vector<std::uint64_t> calls;
    for (const NodeId anew : {NodeId{0}, other}) {
      team.open(anew);
      calls.push_back(team.barrier(anew, std::nullopt, team.in(30 * kSecond)));
    }
    team.cluster.run_until(team.in(10 * kSecond));
    for (const std::uint64_t call : calls) EXPECT_EQ(team.verdict(call), Verdict::kPending) << other;
    for (const NodeId id : team.up)
      if (id != 0 && id != other) calls.push_back(team.barrier(id, std::nullopt, team.in(15 * kSecond)));
    ASSERT_TRUE(team.wait(calls));
    team.expect_all(calls, Verdict::kOk);
  }
}

// Its release was on its way when it crashed: who asks is told OK all the same, as it has arrived in its present life.
TEST(FormerLife, IsNotMeantWhereTheMemberThatAsksWasThere) {
  Team team(few(3));
  team.cluster.node(1).stop();
  team.cluster.node(1).restart(77'000);
  ASSERT_TRUE(team.cluster.run_until(team.in(10 * kSecond),
                                     [&] { return team.cluster.node(1).node().connected_peers() == 2; }));
  team.cluster.run_until(team.in(kSecond));
  team.open(1);
  const auto calls = team.barrier_everywhere(0, team.in(5 * kSecond));
  ASSERT_TRUE(team.wait(calls));
  team.expect_all(calls, Verdict::kOk);
  const std::uint64_t again = team.barrier(1, 0, team.in(5 * kSecond));
  ASSERT_TRUE(team.wait({again}));
  EXPECT_EQ(team.verdict(again), Verdict::kOk);
}

}  // namespace
}  // namespace fibocast
