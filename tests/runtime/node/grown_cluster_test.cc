// The cluster's file is read anew while a daemon is stopped: those that read it meanwhile have given it up, and are
// refused by its former file once it goes on. It reads the file too, and all are one cluster again.
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

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

// Their hellos were on the way when both read the file: each was refused by the other for its former one, and neither
// asked again (seed 4517 --changes).
TEST(GrownCluster, ConnectsTwoThatReadTheFileWhileTheyMeet) {
  for (const double lost : {0.0, 0.3}) {
    ClusterSettings settings = slow_readers(lost);
    settings.nodes = 2;
    settings.network.latency_min = settings.network.latency_max = 10 * kMillisecond;
    VirtualCluster cluster(settings);
    cluster.start_all();
    for (const NodeId id : {0u, 1u})
      cluster.at(5 * kMillisecond, [&cluster, id] { cluster.node(id).adopt_cluster(2, kDigest); });
    EXPECT_TRUE(cluster.connect_all()) << lost;
  }
}

// Members that call one multicast after the other in a group of all nodes: no message of these tells how far they are.
class Callers {
 public:
  Callers(Team& team, GroupId group) : team_(team), group_(group) {}

  void begin(NodeId id, Generation first = 0) {
    members_.push_back({id, first, 0});
    call(members_.back());
  }
  // Until every one of them has been through with the generations below `last`. False: it takes too long.
  bool go_on(Generation last) {
    const auto is_through = [last](const Member& m) { return m.generation >= last; };
    return team_.cluster.run_until(team_.in(60 * kSecond), [&] {
      for (Member& m : members_)
        if (team_.cluster.answer(m.cookie) != nullptr && !is_through(m)) ++m.generation, call(m);
      return std::ranges::all_of(members_, is_through);
    });
  }
  Verdict last_verdict(std::size_t member) const {
    const Member& m = members_[member];
    return team_.verdict(team_.cluster.answer(m.cookie) != nullptr ? m.cookie : m.before);
  }

 private:
  static constexpr NodeId kRoot = 1;
  struct Member {
    NodeId id;
    Generation generation;
    std::uint64_t cookie, before = 0;
  };
  void call(Member& m) {
    const Nanoseconds deadline = team_.in(kSecond);
    const Asked asked = m.id == kRoot ? team_.cluster.send_multicast(m.id, group_, kRoot, m.generation, deadline,
                                                                     pattern(m.generation, 9))
                                      : team_.cluster.receive_multicast(m.id, group_, kRoot, m.generation, deadline);
    EXPECT_EQ(asked.admission, Admission::kTaken);
    m.before = std::exchange(m.cookie, asked.cookie);
  }

  Team& team_;
  GroupId group_;
  std::vector<Member> members_;
};

// Before that it does not know the group, and how far they are was told it in vain: nobody said it again, and the
// window stood for ever (seed 311 --changes).
TEST(GrownCluster, TellsWhoReadsTheFileLateHowFarTheOthersAre) {
  for (NodeId late = 0; late < 4; ++late) {
    Team team(slow_readers(0));
    for (NodeId id = 0; id < 4; ++id)
      if (id != late) team.cluster.node(id).adopt_cluster(4, kDigest), team.open(id);
    Callers callers(team, team.group);
    for (NodeId id = 0; id < 4; ++id)
      if (id != late) callers.begin(id);
    ASSERT_TRUE(callers.go_on(7)) << late;
    EXPECT_NE(callers.last_verdict(0), Verdict::kOk) << late;
    team.cluster.node(late).adopt_cluster(4, kDigest);
    callers.begin(late, team.cluster.open(late, "all").generation);
    EXPECT_TRUE(callers.go_on(40)) << late;
    for (std::size_t member = 0; member < 4; ++member)
      EXPECT_EQ(callers.last_verdict(member), Verdict::kOk) << late << " " << member;
  }
}

// Nor will it ever be through with a generation of that group: calls waited for the window, and what was passed by
// stayed in the table of requests for ever (seed 715 --changes).
TEST(GrownCluster, DoesNotWaitForWhoKnowsTheNewFileOnly) {
  for (NodeId newer = 0; newer < 4; ++newer) {
    Team team(slow_readers(0), {newer});
    for (const NodeId id : team.up) team.cluster.node(id).adopt_cluster(4, kDigest);
    team.cluster.node(newer).adopt_cluster(4, kDigest);
    team.cluster.node(newer).start();
    ASSERT_TRUE(team.cluster.run_until(team.in(10 * kSecond),
                                       [&] { return team.cluster.node(newer).node().connected_peers() == 3; }));
    Callers callers(team, team.group);
    for (const NodeId id : team.up) callers.begin(id);
    EXPECT_TRUE(callers.go_on(30)) << newer;
    team.cluster.run_until(team.in(5 * kSecond));
    for (const NodeId id : team.up) EXPECT_EQ(team.cluster.node(id).node().tables().requests, 0u) << newer << " " << id;
  }
}

// It was started again before, and is greeted once more after it has read the file: as the one it is.
TEST(GrownCluster, LeavesWhatWaitsToBeCollectedWhereTheFileIsRead) {
  Team team(slow_readers(0));
  team.cluster.node(1).stop();
  team.cluster.node(1).restart(77'000);
  team.cluster.run_until(team.in(3 * kSecond));
  GroupDefinition pair;
  pair.name = "pair";
  pair.members.add_run({0, 2});
  ASSERT_TRUE(team.wait({team.cluster.create(0, pair).cookie}));
  const GroupId group = group_id(pair.name);
  const Asked sent = team.cluster.send_multicast(0, group, 0, 0, team.in(5 * kSecond), pattern(1, 9));
  ASSERT_TRUE(team.wait({sent.cookie}));
  team.cluster.node(1).adopt_cluster(4, kDigest);
  team.cluster.run_until(team.in(kSecond));
  const Membership m = team.cluster.open(1, pair.name);
  EXPECT_EQ(m.generation, 0u);
  const Asked received = team.cluster.receive_multicast(1, group, 0, m.generation, team.in(kSecond));
  ASSERT_TRUE(team.wait({received.cookie}));
  EXPECT_EQ(team.verdict(received.cookie), Verdict::kOk);
}

}  // namespace
}  // namespace fibocast
