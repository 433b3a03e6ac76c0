// The cluster's file is read anew while a daemon is stopped: those that read it meanwhile have given it up, and are
// refused by its former file once it goes on. It reads the file too, and all are one cluster again.
#include <gtest/gtest.h>

#include "tests/runtime/node/team.h"

namespace fibocast {
namespace {

constexpr std::uint64_t kDigest = 77;  // of the new file
constexpr NodeId kStopped = 2;

ClusterSettings three(double lost) {
  ClusterSettings settings = cluster_of(3);
  settings.node.suspicion = kSecond;
  if (lost > 0) settings.faults.push_back(loss(lost));
  return settings;
}

bool all_connected(const Team& team) {
  for (const NodeId id : team.up)
    if (team.cluster.node(id).node().connected_peers() != 2) return false;
  return true;
}

TEST(GrownCluster, TakesInAMemberThatWasStoppedWhileTheOthersReadTheFile) {
  for (const double lost : {0.0, 0.2}) {
    Team team(three(lost));
    const Fault stop{.kind = Fault::Kind::kPause, .nodes = {kStopped}};
    team.cluster.begin(stop);
    team.cluster.run_until(team.in(5 * kSecond));
    for (const NodeId id : {0u, 1u}) team.cluster.node(id).adopt_cluster(3, kDigest);
    team.cluster.run_until(team.in(kSecond));
    team.cluster.heal(stop);
    team.cluster.run_until(team.in(300 * kMillisecond));
    team.cluster.node(kStopped).adopt_cluster(3, kDigest);
    EXPECT_TRUE(team.cluster.run_until(team.in(15 * kSecond), [&] { return all_connected(team); })) << lost;
    std::vector<std::uint64_t> cookies;
    GroupId group = 0;
    for (const NodeId id : team.up) group = team.cluster.open(id, "all/again").group;
    for (const NodeId id : team.up) cookies.push_back(team.cluster.barrier(id, group, 0, team.in(10 * kSecond)).cookie);
    ASSERT_TRUE(team.wait(cookies, 5 * kSecond));
    team.expect_all(cookies, Verdict::kOk);
  }
}

}  // namespace
}  // namespace fibocast
