// The cluster's file is read anew while a daemon is stopped: those that read it meanwhile have given it up, and are
// refused by its former file once it goes on. It reads the file too, and all are one cluster again.
#include <gtest/gtest.h>

#include "tests/runtime/node/team.h"

namespace fibocast {
namespace {

constexpr std::uint64_t kDigest = 77;  // of the new file
constexpr NodeId kReadsLate = 1, kIsStopped = 2;

ClusterSettings slow_readers(double lost) {
  ClusterSettings settings = cluster_of(4);
  settings.node.suspicion = kSecond;
  if (lost > 0) settings.faults.push_back(loss(lost));
  return settings;
}

bool all_connected(const Team& team) {
  for (const NodeId id : team.up)
    if (team.cluster.node(id).node().connected_peers() != 3) return false;
  return true;
}

// `wait`: so long it goes on before it reads the file.
void expect_one_cluster_again(double lost, Nanoseconds wait) {
  Team team(slow_readers(lost));
  const Fault stop{.kind = Fault::Kind::kPause, .nodes = {kIsStopped}};
  team.cluster.begin(stop);
  for (const NodeId id : {0u, 3u}) team.cluster.node(id).adopt_cluster(4, kDigest);
  team.cluster.run_until(team.in(5 * kSecond));
  team.cluster.heal(stop);
  team.cluster.run_until(team.in(wait));
  for (const NodeId id : {kReadsLate, kIsStopped}) team.cluster.node(id).adopt_cluster(4, kDigest);
  EXPECT_TRUE(team.cluster.run_until(team.in(15 * kSecond), [&] { return all_connected(team); }))
      << lost << " " << wait;
  team.cluster.run_until(team.in(5 * kSecond));
  EXPECT_TRUE(all_connected(team)) << lost << " " << wait;
}

TEST(GrownCluster, TakesInAMemberThatWasStoppedWhileTheOthersReadTheFile) {
  for (const double lost : {0.0, 0.3})
    for (const Nanoseconds wait : {0, 1, 5, 20, 60, 120, 300, 700}) expect_one_cluster_again(lost, wait * kMillisecond);
}

}  // namespace
}  // namespace fibocast
