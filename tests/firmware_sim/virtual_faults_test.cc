// What a host in virtual time does to a node that pauses, crashes, is slow, or whose clock jumps.
#include <algorithm>

#include "tests/runtime/node/team.h"

namespace fibocast {
namespace {

using Kind = Fault::Kind;

std::size_t restarts_seen(const VirtualCluster& cluster, NodeId by, NodeId of) {
  return static_cast<std::size_t>(std::ranges::count_if(cluster.peer_events(), [&](const Answer& a) {
    return a.node == by && a.event.kind == Event::Kind::kPeerRestarted && a.event.peer == of;
  }));
}

// Datagrams that this node sends from now on.
class SentBy {
 public:
  SentBy(VirtualCluster& cluster, NodeId node) {
    cluster.network().set_filter([this, node](NodeId from, NodeId, VirtualNetwork::Datagram&) {
      count_ += from == node ? 1 : 0;
      return true;
    });
  }
  std::uint64_t count() const { return count_; }

 private:
  std::uint64_t count_ = 0;
};

// ---- pause

TEST(Pause, NothingIsSentAndWhatCameIsHeardAtTheEnd) {
  Team team(cluster_of(3));
  const SentBy sent(team.cluster, 1);
  const Fault pause{.kind = Kind::kPause, .nodes = {1}};
  const std::uint64_t own = team.barrier(1, 0, team.in(60 * kSecond));
  const std::uint64_t before = sent.count();
  team.cluster.begin(pause);
  EXPECT_FALSE(team.cluster.node(1).running());
  const std::vector<std::uint64_t> others = {team.barrier(0, 0, team.in(60 * kSecond)),
                                             team.barrier(2, 0, team.in(60 * kSecond))};
  EXPECT_FALSE(team.wait({own}, 1'500 * kMillisecond));
  EXPECT_EQ(sent.count(), before);
  team.cluster.heal(pause);
  EXPECT_TRUE(team.cluster.node(1).running());
  EXPECT_GT(sent.count(), before);
  ASSERT_TRUE(team.wait({own, others[0], others[1]}, kSecond));
  team.expect_all({own, others[0], others[1]}, Verdict::kOk);
  EXPECT_EQ(restarts_seen(team.cluster, 0, 1), 0u);
}

TEST(Pause, ASocketKeeps256Datagrams) {
  Team team(cluster_of(2));
  const Fault pause{.kind = Kind::kPause, .nodes = {1}};
  const auto malformed = [&] { return team.cluster.node(1).node().counters().malformed; };
  const std::uint64_t before = malformed();
  team.cluster.begin(pause);
  for (std::uint64_t i = 0; i < 300; ++i) team.cluster.network().deliver(1, pattern(i, 20));
  EXPECT_EQ(malformed(), before);
  team.cluster.heal(pause);
  EXPECT_EQ(malformed(), before + 256);
}

TEST(Pause, OfANodeThatIsDownIsNone) {
  Team team(cluster_of(2), {1});
  const Fault pause{.kind = Kind::kPause, .nodes = {1}};
  team.cluster.begin(pause);
  team.cluster.node(1).start();
  EXPECT_TRUE(team.cluster.node(1).running());
  team.cluster.heal(pause);
  EXPECT_TRUE(team.cluster.connect_all());
}

// ---- crash

TEST(Crash, AndRestartIsANewIncarnationWithNothingInMemory) {
  Team team(cluster_of(3));
  const Fault crash{.kind = Kind::kCrash, .nodes = {2}};
  const std::uint64_t former = team.barrier(2, 0, team.in(5 * kSecond));
  team.cluster.begin(crash);
  EXPECT_FALSE(team.cluster.node(2).started());
  team.cluster.run_until(team.in(100 * kMillisecond));
  team.cluster.heal(crash);
  EXPECT_TRUE(team.cluster.node(2).running());
  ASSERT_TRUE(team.cluster.connect_all());
  team.cluster.run_until(team.in(100 * kMillisecond));
  EXPECT_EQ(restarts_seen(team.cluster, 0, 2), 1u);
  EXPECT_EQ(restarts_seen(team.cluster, 1, 2), 1u);
  team.open(2);
  ASSERT_TRUE(team.wait(team.barrier_everywhere(0, team.in(20 * kSecond))));  // which its former life had begun
  const auto cookies = team.barrier_everywhere(1, team.in(20 * kSecond));
  ASSERT_TRUE(team.wait(cookies));
  team.expect_all(cookies, Verdict::kOk);
  team.cluster.run_until(team.in(10 * kSecond));
  EXPECT_EQ(team.cluster.answer(former), nullptr);
  EXPECT_EQ(team.cluster.node(2).buffers_held(), 0u);
}

TEST(Crash, SilencesTheNode) {
  Team team(cluster_of(3));
  const SentBy sent(team.cluster, 2);
  const Fault crash{.kind = Kind::kCrash, .nodes = {2}};
  team.cluster.begin(crash);
  team.cluster.run_until(team.in(5 * kSecond));
  EXPECT_EQ(sent.count(), 0u);
}

TEST(Crash, MayOverlapAnother) {
  Team team(cluster_of(2));
  const Fault first{.kind = Kind::kCrash, .nodes = {1}}, second{.kind = Kind::kCrash, .nodes = {1}};
  team.cluster.begin(first);
  team.cluster.run_until(team.in(kMillisecond));
  team.cluster.begin(second);
  team.cluster.run_until(team.in(kMillisecond));
  team.cluster.heal(first);
  EXPECT_TRUE(team.cluster.node(1).running());
  team.cluster.run_until(team.in(kSecond));
  team.cluster.heal(second);  // up already: it stays who it is
  team.cluster.run_until(team.in(kSecond));
  EXPECT_EQ(restarts_seen(team.cluster, 0, 1), 1u);
  EXPECT_TRUE(team.cluster.connect_all());
}

TEST(Crash, EndsAPause) {
  Team team(cluster_of(2));
  const Fault pause{.kind = Kind::kPause, .nodes = {1}}, crash{.kind = Kind::kCrash, .nodes = {1}};
  team.cluster.begin(pause);
  team.cluster.network().deliver(1, pattern(1, 20));
  team.cluster.begin(crash);
  team.cluster.heal(crash);
  EXPECT_TRUE(team.cluster.node(1).running());
  EXPECT_EQ(team.cluster.node(1).node().counters().malformed, 0u);  // what waited is gone, too
  team.cluster.heal(pause);
  EXPECT_TRUE(team.cluster.connect_all());
}

// ---- slow

TEST(Slow, EverythingItHearsComesLate) {
  Team team(cluster_of(2));
  const Fault slow{.kind = Kind::kSlow, .nodes = {1}, .time = 5 * kMillisecond};
  const auto barrier_takes = [&](Generation generation) {
    const Nanoseconds begin = team.cluster.now();
    EXPECT_TRUE(team.wait(team.barrier_everywhere(generation, team.in(10 * kSecond))));
    return team.cluster.now() - begin;
  };
  EXPECT_LT(barrier_takes(0), kMillisecond);
  team.cluster.begin(slow);
  const Nanoseconds late = barrier_takes(1);
  EXPECT_GE(late, 5 * kMillisecond);
  EXPECT_LT(late, 50 * kMillisecond);
  team.cluster.heal(slow);
  team.cluster.run_until(team.in(kSecond));
  EXPECT_LT(barrier_takes(2), kMillisecond);
}

// ---- a clock that jumps

// How long node 0's barrier waits in vain if its clock jumps meanwhile.
Nanoseconds wait_in_vain(Nanoseconds jump) {
  Team team(cluster_of(2));
  const Nanoseconds begin = team.cluster.now();
  const std::uint64_t cookie = team.barrier(0, 0, team.in(10 * kSecond));
  team.cluster.run_until(team.in(kSecond));
  const Fault ahead{.kind = Kind::kClockJump, .nodes = {0}, .time = jump};
  if (jump > 0) team.cluster.begin(ahead);
  EXPECT_TRUE(team.wait({cookie}));
  EXPECT_EQ(team.verdict(cookie), Verdict::kDeadlineExceeded);
  return team.cluster.now() - begin;
}

TEST(ClockJump, BringsADeadlineForwardByJustThat) {
  const Nanoseconds usual = wait_in_vain(0);
  EXPECT_GE(usual, 10 * kSecond);
  EXPECT_EQ(wait_in_vain(4 * kSecond), usual - 4 * kSecond);
  EXPECT_LT(wait_in_vain(20 * kSecond), 2 * kSecond);  // over at once
}

TEST(ClockJump, ApplicationsLiveByTheClustersClock) {
  Team team(cluster_of(2));
  const Fault ahead{.kind = Kind::kClockJump, .nodes = {0}, .time = 3'600 * kSecond};
  team.cluster.begin(ahead);
  team.cluster.run_until(team.in(kSecond));
  const Nanoseconds called = team.cluster.now();
  const std::uint64_t early = team.barrier(0, 0, team.in(10 * kSecond));
  team.cluster.run_until(team.in(2 * kSecond));
  const std::uint64_t late = team.barrier(1, 0, team.in(10 * kSecond));
  ASSERT_TRUE(team.wait({early, late}));
  EXPECT_EQ(team.verdict(early), Verdict::kOk);
  EXPECT_EQ(team.done(early).arrived_at, called);
  EXPECT_GE(team.done(early).activated_at, called + 2 * kSecond);
  EXPECT_LE(team.done(early).activated_at, team.cluster.now());
}

// ---- by hand, and by time

TEST(Faults, BeginAndHealByHand) {
  Team team(cluster_of(2));
  const Fault lost = loss(1);
  team.cluster.begin(lost);
  const auto cookies = team.barrier_everywhere(0, team.in(60 * kSecond));
  EXPECT_FALSE(team.wait(cookies, 500 * kMillisecond));
  EXPECT_GT(team.cluster.network().counters().lost, 0u);
  team.cluster.heal(lost);
  ASSERT_TRUE(team.wait(cookies, 5 * kSecond));
  team.expect_all(cookies, Verdict::kOk);
}

TEST(Faults, BeginAndHealAtTheirTimesAndTheListenerIsTold) {
  ClusterSettings settings = cluster_of(3);
  settings.faults = {{.kind = Kind::kPause, .begins = 2 * kSecond, .heals = 3 * kSecond, .nodes = {1, 2}},
                     {.kind = Kind::kClockJump, .begins = 4 * kSecond, .nodes = {0}, .time = kSecond},
                     {.kind = Kind::kPartition, .begins = 5 * kSecond, .nodes = {0}}};
  VirtualCluster cluster(settings);
  std::vector<std::tuple<Nanoseconds, Kind, bool>> told;
  cluster.set_fault_listener(
      [&](const Fault& fault, bool begins) { told.emplace_back(cluster.now(), fault.kind, begins); });
  cluster.start_all();
  cluster.run_until(2'500 * kMillisecond);
  EXPECT_TRUE(cluster.node(0).running());
  EXPECT_FALSE(cluster.node(1).running() || cluster.node(2).running());
  cluster.run_until(10 * kSecond);
  EXPECT_TRUE(cluster.node(1).running());
  const std::uint64_t lost = cluster.network().counters().lost;
  cluster.network().send(0, 1, VirtualNetwork::Datagram(20));
  EXPECT_EQ(cluster.network().counters().lost, lost + 1);  // the partition is there
  const std::vector<std::tuple<Nanoseconds, Kind, bool>> expected = {
      {2 * kSecond, Kind::kPause, true}, {3 * kSecond, Kind::kPause, false}, {4 * kSecond, Kind::kClockJump, true}};
  EXPECT_EQ(told, expected);  // of nodes only
}

}  // namespace
}  // namespace fibocast
