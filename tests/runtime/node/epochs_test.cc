// Groups that go on without members they lose: epochs, majorities, and members that come back.
#include "runtime/node/epochs.h"

#include <gtest/gtest.h>

#include "tests/runtime/node/workers.h"

namespace fibocast {
namespace {

Fault crash_of(std::vector<NodeId> nodes) { return {.kind = Fault::Kind::kCrash, .nodes = std::move(nodes)}; }

GroupDefinition survivors_of(std::uint32_t nodes) {
  GroupDefinition d;
  d.name = "work";
  d.members.add_run({0, nodes});
  d.policy = GroupPolicy::kSurvivors;
  return d;
}

// A group of all nodes, which have opened it.
GroupId survivors(VirtualCluster& cluster) {
  cluster.start_all();
  EXPECT_TRUE(cluster.connect_all());
  const Asked created = cluster.create(0, survivors_of(cluster.size()));
  EXPECT_TRUE(cluster.run_until(cluster.now() + kSecond, [&] { return cluster.answer(created.cookie) != nullptr; }));
  GroupId group = 0;
  for (NodeId id = 0; id < cluster.size(); ++id) group = cluster.open(id, "work").group;
  return group;
}

TEST(Survivors, GoOnWithoutADeadMember) {
  for (const NodeId dead : {15u, 7u, 1u, 0u}) {
    Workers w(busy_cluster_of(16), GroupPolicy::kSurvivors);
    const std::vector<NodeId> others = w.all_but({dead});
    ASSERT_TRUE(w.run_until_each(others, 20, kSecond));
    const Fault crash = crash_of({dead});
    w.begin(crash);
    EXPECT_TRUE(w.run_until_each(others, 2, 250 * kMillisecond)) << "without " << dead;
    EXPECT_EQ(w.failures(others), 0u) << "the barrier that was open goes on without " << dead;
    for (const NodeId id : others) EXPECT_EQ(w.info(id).live, 15u);
  }
}

// The barrier that waited for the dead one is repeated: that time is nobody's lateness.
TEST(Survivors, AreNotCalledLateForTheTimeInWhichADeadMemberWasWaitedFor) {
  Workers w(busy_cluster_of(3), GroupPolicy::kSurvivors);
  const std::vector<NodeId> others = w.all_but({2});
  ASSERT_TRUE(w.run_until_each(others, 20, kSecond));
  const Fault crash = crash_of({2});
  w.begin(crash);
  ASSERT_TRUE(w.run_until_each(others, 20, 5 * kSecond));
  for (const NodeId id : others) {
    EXPECT_FALSE(w.info(id).slowest.empty());
    for (const SlowRank& row : w.info(id).slowest) EXPECT_LT(row.largest, 20 * kMillisecond) << "rank " << row.rank;
  }
}

TEST(Survivors, GoOnWhileHalfOfThemDieOneByOne) {
  Workers w(busy_cluster_of(16), GroupPolicy::kSurvivors);
  std::vector<NodeId> dead;
  std::vector<Fault> crashes(14);
  for (NodeId id = 0; id < 14; ++id) {
    dead.push_back(id);
    crashes[id] = crash_of({id});
    w.begin(crashes[id]);
    ASSERT_TRUE(w.run_until_each(w.all_but(dead), 5, 5 * kSecond)) << "without " << id;
  }
  EXPECT_EQ(w.failures({14, 15}), 0u);
}

TEST(Survivors, GoOnWhenSeveralDieAtOnceAlsoWhileTheEpochChanges) {
  for (Nanoseconds apart = 0; apart < 100 * kMillisecond; apart += FIBOCAST_SANITIZED ? 13'100'000 : 3'100'000)
    for (const std::vector<NodeId>& dead : {std::vector<NodeId>{0, 1}, {1, 0}, {0, 7}, {12, 0}, {3, 2}}) {
      Workers w(busy_cluster_of(16, static_cast<std::uint64_t>(apart)), GroupPolicy::kSurvivors);
      w.run_for(20 * kMillisecond);
      const Fault first = crash_of({dead[0]}), second = crash_of({dead[1]});
      w.begin(first);
      w.run_for(apart);
      w.begin(second);
      const std::vector<NodeId> others = w.all_but(dead);
      ASSERT_TRUE(w.run_until_each(others, 10, 5 * kSecond)) << dead[0] << " " << dead[1] << " apart " << apart;
      EXPECT_EQ(w.failures(others), 0u) << dead[0] << " " << dead[1] << " apart " << apart;
    }
}

TEST(Survivors, AMemberThatComesBackIsInAgain) {
  for (const NodeId dead : {0u, 5u, 15u})
    for (const Nanoseconds down : {5 * kMillisecond, 300 * kMillisecond, 4 * kSecond}) {
      Workers w(busy_cluster_of(16), GroupPolicy::kSurvivors);
      const std::vector<NodeId> others = w.all_but({dead});
      ASSERT_TRUE(w.run_until_each(others, 20, kSecond));
      const Fault crash = crash_of({dead});
      w.begin(crash);
      w.run_for(down);
      w.cluster.heal(crash);
      EXPECT_TRUE(w.run_until_each(w.all_but({}), 20, 10 * kSecond)) << dead << " after " << down;
      EXPECT_EQ(w.failures(others), 0u) << dead << " after " << down;
      for (const NodeId id : w.all_but({})) EXPECT_EQ(w.info(id).live, 16u);
    }
}

TEST(Survivors, TheMinorityOfAPartitionIsToldAndIsInAgainAfterwards) {
  for (const std::vector<NodeId>& minority :
       {std::vector<NodeId>{10, 11, 12, 13, 14, 15}, {0, 1, 2, 3, 4, 5}, {1, 3, 5, 7, 9, 11}}) {
    Workers w(busy_cluster_of(16), GroupPolicy::kSurvivors);
    ASSERT_TRUE(w.run_until_each(w.all_but({}), 20, kSecond));
    const Fault partition{.kind = Fault::Kind::kPartition, .nodes = minority};
    w.begin(partition);
    const std::vector<NodeId> majority = w.all_but(minority);
    EXPECT_TRUE(w.run_until_each(majority, 20, 10 * kSecond));
    w.run_for(2 * kSecond);
    EXPECT_EQ(w.failures(majority), 0u);
    for (const NodeId id : minority) {
      EXPECT_GT(w.workers[id].failures[Verdict::kPartitioned], 0u) << id;
      EXPECT_TRUE(w.info(id).outside);
      EXPECT_EQ(w.workers[id].failures.size(), 1u) << "nothing but PARTITIONED";
    }
    w.cluster.heal(partition);
    EXPECT_TRUE(w.run_until_each(w.all_but({}), 20, 20 * kSecond));
    EXPECT_EQ(w.failures(majority), 0u);
    for (const NodeId id : w.all_but({})) EXPECT_EQ(w.info(id).live, 16u);
  }
}

// While the others wait for the slow one, who wants in asks around; it answers who lets it in all the same. And for how
// long it was away is not how long it has waited for this change.
TEST(Survivors, WhoWasOutsideForLongIsLetInAlsoWhereAMemberIsSlow) {
  for (const std::vector<NodeId>& minority : {std::vector<NodeId>{10, 11, 12, 13, 14, 15}, {0, 1}, {7}})
    for (Nanoseconds time = 30 * kMillisecond; time < 200 * kMillisecond; time += 30 * kMillisecond) {
      Workers w(busy_cluster_of(16), GroupPolicy::kSurvivors);
      const Fault slow{.kind = Fault::Kind::kSlow, .nodes = {5}, .time = time};
      const Fault partition{.kind = Fault::Kind::kPartition, .nodes = minority};
      w.begin(slow), w.begin(partition);
      w.pause = 10 * kSecond;  // they call again when they know that they are outside
      w.run_for(8 * kSecond);
      w.cluster.heal(partition);
      w.pause = 50 * kMillisecond;
      const auto are_in = [&] {  // told PARTITIONED, and then that the generation they asked for is over
        return std::ranges::all_of(minority, [&](NodeId id) { return w.workers[id].failures[Verdict::kStale] == 1; });
      };
      EXPECT_TRUE(w.cluster.run_until(w.cluster.now() + 20 * kSecond, are_in));
      EXPECT_TRUE(w.run_until_each(w.all_but({}), 1, kSecond)) << minority.size() << " outside, slow by " << time;
      EXPECT_EQ(w.failures(w.all_but(minority)), 0u);
      for (const NodeId id : minority) EXPECT_EQ(w.failures({id}), 2u) << id << ", slow by " << time;
    }
}

TEST(Survivors, OfTwoHalvesTheOneWithTheLowestRankGoesOn) {
  Workers w(busy_cluster_of(16), GroupPolicy::kSurvivors);
  const Fault partition{.kind = Fault::Kind::kPartition, .nodes = {1, 3, 5, 7, 9, 11, 13, 15}};
  w.begin(partition);
  const std::vector<NodeId> lowest = w.all_but(partition.nodes);
  EXPECT_TRUE(w.run_until_each(lowest, 20, 10 * kSecond));
  w.run_for(2 * kSecond);
  for (const NodeId id : partition.nodes) EXPECT_GT(w.workers[id].failures[Verdict::kPartitioned], 0u);
  w.cluster.heal(partition);
  EXPECT_TRUE(w.run_until_each(w.all_but({}), 20, 20 * kSecond));
}

TEST(Survivors, NobodyGoesOnWhereThereIsNoMajority) {
  Workers w(busy_cluster_of(15), GroupPolicy::kSurvivors);
  const Fault first{.kind = Fault::Kind::kPartition, .nodes = {0, 1, 2, 3, 4}};
  const Fault second{.kind = Fault::Kind::kPartition, .nodes = {5, 6, 7, 8, 9}};
  w.begin(first), w.begin(second);
  w.run_for(10 * kSecond);
  for (const NodeId id : w.all_but({})) EXPECT_GT(w.workers[id].failures[Verdict::kPartitioned], 0u) << id;
  w.cluster.heal(first), w.cluster.heal(second);
  EXPECT_TRUE(w.run_until_each(w.all_but({}), 20, 20 * kSecond));
}

// One member is silent, so that the definition is not over when the others, who have it, lose who defines the group.
TEST(Survivors, WhoDefinesAGroupIsAnsweredAlsoIfItGoesOnWithoutItMeanwhile) {
  VirtualCluster cluster(busy_cluster_of(5));
  cluster.start_all();
  ASSERT_TRUE(cluster.connect_all());
  const auto run_for = [&](Nanoseconds time) { cluster.run_until(cluster.now() + time); };
  const auto info = [&](NodeId id) {
    for (std::uint32_t i = 0; i < cluster.node(id).node().group_count(); ++i)
      if (cluster.node(id).node().group_info(i).name == "work") return cluster.node(id).node().group_info(i);
    return Node::GroupInfo{};
  };
  const Fault silence{.kind = Fault::Kind::kPause, .nodes = {4}},
      partition{.kind = Fault::Kind::kPartition, .nodes = {0}};
  cluster.begin(silence);
  GroupDefinition d;
  d.name = "work", d.policy = GroupPolicy::kSurvivors;
  d.members.add_run({0, 5});
  const Asked created = cluster.create(0, d);
  ASSERT_EQ(created.admission, Admission::kTaken);
  run_for(3 * kSecond);
  cluster.begin(partition);
  run_for(4 * kSecond);
  ASSERT_EQ(info(1).live, 3u);
  cluster.heal(partition);
  run_for(3 * kSecond);
  ASSERT_TRUE(info(0).outside);
  EXPECT_TRUE(cluster.answer(created.cookie) == nullptr) << "it waits for node 4 still";
  ASSERT_TRUE(cluster.run_until(cluster.now() + NodeSettings{}.group_patience,
                                [&] { return cluster.answer(created.cookie) != nullptr; }));
  const CallDone& done = cluster.answer(created.cookie)->event.done;
  EXPECT_EQ(done.verdict, Verdict::kRefused);
  EXPECT_EQ(done.ranks.size(), 1u);
  EXPECT_EQ(done.ranks.index_of(4), 0u);
  run_for(kSecond);
  for (const NodeId id : {1u, 2u, 3u}) EXPECT_EQ(info(id).id, 0u) << "node " << id << " has it still";
}

// The others are beyond what it hands out before it learns that: nobody takes that from it any more.
TEST(Survivors, WhoIsOutsideGivesUpWhatItHasHandedOut) {
  VirtualCluster cluster(busy_cluster_of(3));
  const GroupId group = survivors(cluster);
  const Fault pause{.kind = Fault::Kind::kPause, .nodes = {1}};
  cluster.begin(pause);
  const Nanoseconds deadline = cluster.now() + 60 * kSecond;
  const Asked a = cluster.receive_multicast(0, group, 1, 0, deadline);
  const Asked b = cluster.receive_multicast(2, group, 1, 0, deadline);
  ASSERT_TRUE(cluster.run_until(cluster.now() + 10 * kSecond, [&] {
    return cluster.answer(a.cookie) != nullptr && cluster.answer(b.cookie) != nullptr;
  }));
  EXPECT_EQ(cluster.answer(a.cookie)->event.done.verdict, Verdict::kPeerLost);
  cluster.heal(pause);
  EXPECT_EQ(cluster.send_multicast(1, group, 1, 0, deadline, pattern(1, 60'000)).admission, Admission::kTaken);
  cluster.run_until(cluster.now() + 10 * kSecond);
  EXPECT_EQ(cluster.node(1).node().payload_bytes_used(), 0u);
}

// What was decided while a member was outside, out of turn, is over for it as well when it joins: its callers are
// beyond that, and nobody would ask.
TEST(Survivors, WhoJoinsDoesNotWaitForWhatWasDecidedWithoutIt) {
  VirtualCluster cluster(busy_cluster_of(3));
  const GroupId group = survivors(cluster);
  const auto barrier = [&](NodeId id, Generation g, Nanoseconds limit) {
    return cluster.barrier(id, group, g, cluster.now() + limit).cookie;
  };
  const auto verdict = [&](std::uint64_t cookie) {
    cluster.run_until(cluster.now() + 60 * kSecond, [&] { return cluster.answer(cookie) != nullptr; });
    return cluster.answer(cookie) != nullptr ? cluster.answer(cookie)->event.done.verdict : Verdict::kPending;
  };
  const Fault pause{.kind = Fault::Kind::kPause, .nodes = {2}};
  cluster.begin(pause);
  const std::uint64_t open = barrier(0, 0, 100 * kSecond);
  cluster.run_until(cluster.now() + 5 * kSecond);
  EXPECT_EQ(verdict(barrier(0, 1, 20 * kMillisecond)), Verdict::kDeadlineExceeded);
  cluster.heal(pause);
  cluster.run_until(cluster.now() + kSecond);  // it hears that the group has gone on
  EXPECT_EQ(verdict(barrier(2, 2, 60 * kSecond)), Verdict::kStale) << "the group is at the first one yet";
  for (const std::uint64_t cookie : {open, barrier(1, 0, kSecond), barrier(2, 0, kSecond)})
    EXPECT_EQ(verdict(cookie), Verdict::kOk);
  for (Generation g = 2; g < 30; ++g) {
    const std::uint64_t called[] = {barrier(0, g, kSecond), barrier(1, g, kSecond), barrier(2, g, kSecond)};
    for (const std::uint64_t cookie : called) ASSERT_EQ(verdict(cookie), Verdict::kOk) << g;
  }
}

// Nobody here waits for a generation that all who live have passed: it ends all the same, or the window never moves.
TEST(Survivors, WhatAllOfThemPassedWhileOneWasLostEnds) {
  VirtualCluster cluster(busy_cluster_of(3));
  const GroupId group = survivors(cluster);
  const Fault crash = crash_of({2});
  cluster.begin(crash);
  Call passed;
  passed.group = group, passed.generation = 0;
  for (const NodeId id : {0u, 1u}) ASSERT_EQ(cluster.node(id).pass(passed), Admission::kTaken);
  for (Generation g = 1; g < 30; ++g) {
    const Asked called[] = {cluster.barrier(0, group, g, cluster.now() + 5 * kSecond),
                            cluster.barrier(1, group, g, cluster.now() + 5 * kSecond)};
    for (const Asked& asked : called) {
      cluster.run_until(cluster.now() + 10 * kSecond, [&] { return cluster.answer(asked.cookie) != nullptr; });
      ASSERT_NE(cluster.answer(asked.cookie), nullptr);
      ASSERT_EQ(cluster.answer(asked.cookie)->event.done.verdict, Verdict::kOk) << g;
    }
  }
}

// Those who are in have no majority and let nobody in. Who comes back is told so, as they are.
TEST(Survivors, WhoFindsNoMajorityToComeBackToIsTold) {
  VirtualCluster cluster(busy_cluster_of(5));
  const GroupId group = survivors(cluster);
  const Fault first = crash_of({4}), others{.kind = Fault::Kind::kPartition, .nodes = {0, 1, 2}};
  cluster.begin(first);
  const auto verdict = [&](NodeId id, Generation g) {
    const Asked asked = cluster.barrier(id, group, g, cluster.now() + 60 * kSecond);
    cluster.run_until(cluster.now() + 10 * kSecond, [&] { return cluster.answer(asked.cookie) != nullptr; });
    return cluster.answer(asked.cookie) != nullptr ? cluster.answer(asked.cookie)->event.done.verdict
                                                   : Verdict::kPending;
  };
  for (const NodeId id : {0u, 1u, 2u}) cluster.barrier(id, group, 0, cluster.now() + 60 * kSecond);
  ASSERT_EQ(verdict(3, 0), Verdict::kOk);
  cluster.begin(others);
  cluster.run_until(cluster.now() + 5 * kSecond);
  cluster.heal(first);
  const auto knows = [&] { return cluster.node(4).running() && cluster.node(4).node().group_count() > 0; };
  ASSERT_TRUE(cluster.run_until(cluster.now() + 10 * kSecond, knows));
  const Generation next = cluster.open(4, "work").generation;
  EXPECT_EQ(verdict(3, 1), Verdict::kPartitioned);
  EXPECT_EQ(verdict(4, next), Verdict::kPartitioned);
  EXPECT_EQ(verdict(4, next), Verdict::kPartitioned) << "each time";
  cluster.heal(others);
  cluster.run_until(cluster.now() + 5 * kSecond);
  EXPECT_FALSE(cluster.node(4).node().group_info(0).outside) << "nobody has called since";
}

// It was started again while the group was being made: it takes itself for a member, by the definition that it was
// told, and says nothing by which another one could know.
TEST(Survivors, WhoIsLeftOutAndOnlyListensIsTold) {
  for (Nanoseconds unheard = 5 * kMillisecond; unheard < 500 * kMillisecond; unheard += 15 * kMillisecond) {
    VirtualCluster cluster(busy_cluster_of(4));
    cluster.start_all();
    ASSERT_TRUE(cluster.connect_all());
    const Fault crash = crash_of({3}), one_way{.kind = Fault::Kind::kOneWay, .nodes = {0}};
    cluster.begin(one_way);
    const Asked created = cluster.create(0, survivors_of(4));
    cluster.run_until(cluster.now() + 5 * kMillisecond);
    cluster.begin(crash);
    cluster.run_until(cluster.now() + 5 * kMillisecond);
    cluster.heal(crash);
    cluster.run_until(cluster.now() + unheard);
    cluster.heal(one_way);
    ASSERT_TRUE(cluster.run_until(cluster.now() + 60 * kSecond, [&] { return cluster.answer(created.cookie); }));
    ASSERT_EQ(cluster.answer(created.cookie)->event.done.verdict, Verdict::kOk);
    const GroupId group = cluster.open(1, "work").group;
    const Generation next = cluster.open(3, "work").generation;
    const Asked asked = cluster.receive_multicast(3, group, 1, next, cluster.now() + 60 * kSecond);
    cluster.run_until(cluster.now() + kSecond);
    cluster.send_multicast(1, group, 1, next, cluster.now() + 60 * kSecond, pattern(1, 9));
    EXPECT_TRUE(cluster.run_until(cluster.now() + 5 * kSecond, [&] { return cluster.answer(asked.cookie) != nullptr; }))
        << unheard / kMillisecond;
  }
}

TEST(Quorum, GoesOnWithAtLeastSoMany) {
  Workers w(busy_cluster_of(16), GroupPolicy::kQuorum, 12);
  const Fault four = crash_of({0, 3, 6, 9});
  w.begin(four);
  const std::vector<NodeId> twelve = w.all_but(four.nodes);
  EXPECT_TRUE(w.run_until_each(twelve, 20, 5 * kSecond));
  EXPECT_EQ(w.failures(twelve), 0u);
  const Fault fifth = crash_of({15});
  w.begin(fifth);
  w.run_for(5 * kSecond);
  for (const NodeId id : w.all_but({0, 3, 6, 9, 15})) EXPECT_GT(w.workers[id].failures[Verdict::kPartitioned], 0u);
  w.cluster.heal(fifth);
  EXPECT_TRUE(w.run_until_each(twelve, 20, 10 * kSecond));
}

TEST(Policy, WhatCannotBeIsRefused) {
  VirtualCluster cluster(busy_cluster_of(4));
  cluster.start_all();
  ASSERT_TRUE(cluster.connect_all());
  GroupDefinition d;
  d.name = "work";
  d.members.add_run({0, 4});
  d.policy = GroupPolicy::kQuorum;
  for (const Rank quorum : {0u, 1u, 2u, 5u}) {
    d.quorum = quorum;
    EXPECT_EQ(cluster.create(0, d).admission, Admission::kBadPolicy) << quorum;
  }
  d.policy = GroupPolicy::kSurvivors, d.quorum = 3;
  EXPECT_EQ(cluster.create(0, d).admission, Admission::kBadPolicy);
  d.quorum = 0, d.routers = 1;
  EXPECT_EQ(cluster.create(0, d).admission, Admission::kBadPolicy);
  d.routers = 0;
  EXPECT_EQ(cluster.create(0, d).admission, Admission::kTaken);
}

}  // namespace
}  // namespace fibocast
