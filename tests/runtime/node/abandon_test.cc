// Applications that die in an operation: lost for that generation, unless somebody comes back in time.
#include "runtime/node/abandon.h"

#include <gtest/gtest.h>

#include "tests/runtime/node/team.h"

namespace fibocast {
namespace {

constexpr Nanoseconds kGrace = 500 * kMillisecond;

ClusterSettings with_grace(std::uint32_t nodes, Nanoseconds grace = kGrace) {
  ClusterSettings settings = cluster_of(nodes);
  settings.node.client_grace = grace;
  return settings;
}

void pass_time(Team& team, Nanoseconds duration) { team.cluster.run_until(team.in(duration)); }

// All but the last node call; what they are told when the caller at node `dead` dies.
std::vector<std::uint64_t> die_in_a_barrier(Team& team, NodeId dead, Generation generation) {
  std::vector<std::uint64_t> cookies;
  for (NodeId id = 0; id + 1 < team.cluster.size(); ++id)
    cookies.push_back(team.barrier(id, generation, team.in(30 * kSecond)));
  pass_time(team, 10 * kMillisecond);
  team.cluster.node(dead).abandon_call(cookies[dead]);
  return cookies;
}

class DeadCaller : public testing::TestWithParam<NodeId> {};

TEST_P(DeadCaller, IsLostToAllAfterTheGraceAndItsNodeLivesOn) {
  const NodeId dead = GetParam();
  Team team(with_grace(5));
  auto cookies = die_in_a_barrier(team, dead, 0);
  const std::uint64_t dead_one = cookies[dead];
  cookies.erase(cookies.begin() + dead);
  pass_time(team, kGrace - 20 * kMillisecond);
  for (const std::uint64_t cookie : cookies) EXPECT_EQ(team.verdict(cookie), Verdict::kPending);
  ASSERT_TRUE(team.wait(cookies, 200 * kMillisecond));
  cookies.push_back(team.barrier(4, 0, team.in(30 * kSecond)));  // too late, and told the same
  ASSERT_TRUE(team.wait(cookies, kMillisecond));
  for (const std::uint64_t cookie : cookies) {
    EXPECT_EQ(team.verdict(cookie), Verdict::kCallerLost);
    EXPECT_EQ(team.done(cookie).ranks, only(dead));
  }
  EXPECT_EQ(team.verdict(dead_one), Verdict::kPending);  // nobody is there to be told
  EXPECT_EQ(team.cluster.node(dead).node().counters().callers_lost, 1u);
  const auto next = team.barrier_everywhere(1, team.in(kSecond));
  ASSERT_TRUE(team.wait(next));
  team.expect_all(next, Verdict::kOk);
}

TEST_P(DeadCaller, ThatComesBackInTimeIsNotLost) {
  const NodeId dead = GetParam();
  Team team(with_grace(5));
  auto cookies = die_in_a_barrier(team, dead, 0);
  pass_time(team, kGrace / 2);
  EXPECT_EQ(team.cluster.open(dead, "all").generation, 0u);  // where it was
  cookies[dead] = team.barrier(dead, 0, team.in(30 * kSecond));
  pass_time(team, 2 * kGrace);
  for (const std::uint64_t cookie : cookies) EXPECT_EQ(team.verdict(cookie), Verdict::kPending);
  cookies.push_back(team.barrier(4, 0, team.in(kSecond)));
  ASSERT_TRUE(team.wait(cookies));
  team.expect_all(cookies, Verdict::kOk);
  EXPECT_EQ(team.cluster.node(dead).node().counters().callers_lost, 0u);
}

INSTANTIATE_TEST_SUITE_P(Node, DeadCaller, testing::Values(0, 2, 3));

TEST(Abandon, WithoutGraceAtOnce) {
  Team team(with_grace(3, 0));
  const auto cookies = die_in_a_barrier(team, 1, 0);
  ASSERT_TRUE(team.wait({cookies[0]}, 10 * kMillisecond));
  EXPECT_EQ(team.verdict(cookies[0]), Verdict::kCallerLost);
}

TEST(Abandon, TheLabelOfTheDeadIsToldToAll) {
  Team team(with_grace(4));
  const std::vector<std::uint64_t> others = {team.barrier(0, 0, team.in(30 * kSecond)),
                                             team.barrier(3, 0, team.in(30 * kSecond))};
  team.cluster.node(1).abandon_call(team.barrier(1, 0, team.in(30 * kSecond)), "nightly");
  ASSERT_TRUE(team.wait(others, kGrace + 100 * kMillisecond));
  const std::uint64_t late = team.barrier(2, 0, team.in(30 * kSecond));
  ASSERT_TRUE(team.wait({late}));
  for (const std::uint64_t cookie : {others[0], others[1], late})
    EXPECT_EQ(team.cluster.answer(cookie)->event.label.view(), "nightly");
}

TEST(Abandon, WhatIsOverWithinTheGraceIsOkAndItsAnswerIsKept) {
  Team team(with_grace(3));
  const auto bytes = pattern(1, 5'000);
  const std::uint64_t dead = team.receive_multicast(1, 0, 0);
  team.cluster.node(1).abandon_call(dead);
  const std::uint64_t sender = team.send_multicast(0, 0, bytes), other = team.receive_multicast(2, 0, 0);
  ASSERT_TRUE(team.wait({sender, other}));
  team.expect_all({sender, other}, Verdict::kOk);
  const std::uint64_t back = team.receive_multicast(1, 0, 0);
  ASSERT_TRUE(team.wait({back}, kMillisecond));
  EXPECT_EQ(team.verdict(back), Verdict::kOk);
  EXPECT_EQ(team.cluster.answer(back)->payload, bytes);
  team.expect_nothing_held();
}

TEST(Abandon, AKeptAnswerThatNobodyFetchesIsReleased) {
  Team team(with_grace(3));
  team.cluster.node(1).abandon_call(team.receive_multicast(1, 0, 0));
  const std::uint64_t sender = team.send_multicast(0, 0, pattern(1, 5'000)), other = team.receive_multicast(2, 0, 0);
  ASSERT_TRUE(team.wait({sender, other}));
  team.expect_nothing_held();
  const auto next = team.barrier_everywhere(1, team.in(kSecond));
  ASSERT_TRUE(team.wait(next));
  team.expect_all(next, Verdict::kOk);
}

TEST(Abandon, ACallThatTheWindowHeldIsLostWhenItsGenerationOpens) {
  Team team(with_grace(2));
  const Generation ahead = Limits::simulated().open_generations;
  std::vector<std::uint64_t> first, second;
  for (Generation g = 0; g <= ahead; ++g) first.push_back(team.barrier(0, g, team.in(30 * kSecond)));
  team.cluster.node(0).abandon_call(first.back());
  pass_time(team, 2 * kGrace);
  for (Generation g = 0; g <= ahead; ++g) second.push_back(team.barrier(1, g, team.in(20 * kSecond)));
  ASSERT_TRUE(team.wait(second, 5 * kSecond));
  for (Generation g = 0; g < ahead; ++g) EXPECT_EQ(team.verdict(second[g]), Verdict::kOk) << g;
  EXPECT_EQ(team.verdict(second[ahead]), Verdict::kCallerLost);
  EXPECT_EQ(team.done(second[ahead]).ranks, only(0));
}

TEST(Abandon, AShellThatDiesIsLostAndAnotherTakesItsPlace) {
  Team team(with_grace(2));
  const std::uint64_t waits = team.barrier(0, std::nullopt, team.in(30 * kSecond));
  team.cluster.node(1).abandon_call(team.barrier(1, std::nullopt, team.in(30 * kSecond)));
  ASSERT_TRUE(team.wait({waits}));
  pass_time(team, 10 * kMillisecond);  // over at node 1 too: nobody takes a place in what is over
  EXPECT_EQ(team.verdict(waits), Verdict::kOk);
  const std::uint64_t dead = team.barrier(1, std::nullopt, team.in(30 * kSecond));
  team.cluster.node(1).abandon_call(dead);
  const std::uint64_t again = team.barrier(1, std::nullopt, team.in(30 * kSecond));
  pass_time(team, 2 * kGrace);
  const std::uint64_t other = team.barrier(0, std::nullopt, team.in(30 * kSecond));
  ASSERT_TRUE(team.wait({again, other}));
  team.expect_all({again, other}, Verdict::kOk);
  EXPECT_EQ(team.done(again).generation, 1u);
}

// A group that goes on without lost members repeats its barrier: who had called and died is lost to that one as well.
TEST(Abandon, InAGroupThatLosesAMemberMeanwhile) {
  for (const Nanoseconds crash_at : {kGrace / 2, kGrace - 30 * kMillisecond, kGrace + kMillisecond}) {
    Team team(with_grace(5));
    GroupDefinition d;
    d.name = "work", d.policy = GroupPolicy::kSurvivors, d.plan = with_grace(5).node.plan;
    d.members.add_run({0, 5});
    ASSERT_TRUE(team.wait({team.cluster.create(0, d).cookie}));
    team.group = team.cluster.open(0, "work").group;
    const std::uint64_t first = team.barrier(0, 0, team.in(30 * kSecond)),
                        dead = team.barrier(1, 0, team.in(30 * kSecond));
    team.cluster.node(1).abandon_call(dead);
    pass_time(team, crash_at);
    team.cluster.node(4).stop();
    pass_time(team, 5 * kSecond);
    const std::uint64_t second = team.barrier(2, 0, team.in(5 * kSecond)),
                        third = team.barrier(3, 0, team.in(5 * kSecond));
    ASSERT_TRUE(team.wait({first, second, third}));
    for (const std::uint64_t cookie : {first, second, third}) {
      EXPECT_EQ(team.verdict(cookie), Verdict::kCallerLost) << crash_at;
      EXPECT_EQ(team.done(cookie).ranks, only(1)) << crash_at;
    }
    EXPECT_EQ(team.cluster.node(1).node().counters().callers_lost, 1u);
  }
}

// ---- several participants at one node

struct Pairs {
  Pairs() : team(with_grace(2)) {
    for (NodeId id = 0; id < 2; ++id) group = team.cluster.open(id, "pairs", 2).group;
  }
  std::uint64_t barrier(NodeId id, std::uint32_t client) {
    Call call;
    call.group = group, call.generation = 0, call.deadline = team.in(30 * kSecond), call.client = client;
    return team.cluster.call(id, call).cookie;
  }
  Team team;
  GroupId group = 0;
};

TEST(AbandonInPairs, TheOtherParticipantDoesNotTakeThePlace) {
  Pairs pairs;
  const std::uint64_t dead = pairs.barrier(0, 1);
  pass_time(pairs.team, kMillisecond);
  pairs.team.cluster.node(0).abandon_call(dead, {}, 2);
  pass_time(pairs.team, kMillisecond);
  const std::uint64_t other = pairs.barrier(0, 2), there = pairs.barrier(1, 1);
  ASSERT_TRUE(pairs.team.wait({other, there}, 2 * kGrace));
  for (const std::uint64_t cookie : {other, there}) {
    EXPECT_EQ(pairs.team.verdict(cookie), Verdict::kCallerLost);
    EXPECT_EQ(pairs.team.done(cookie).ranks, only(0));
  }
}

TEST(AbandonInPairs, WhoCameSinceThenDoesAndNobodyIsReleasedTooSoon) {
  Pairs pairs;
  const std::uint64_t dead = pairs.barrier(0, 1);
  pass_time(pairs.team, kMillisecond);
  pairs.team.cluster.node(0).abandon_call(dead, {}, 2);
  pass_time(pairs.team, kMillisecond);
  const std::uint64_t back = pairs.barrier(0, 3);
  const std::uint64_t one = pairs.barrier(1, 1), two = pairs.barrier(1, 2);
  pass_time(pairs.team, 2 * kGrace);
  for (const std::uint64_t cookie : {back, one, two}) EXPECT_EQ(pairs.team.verdict(cookie), Verdict::kPending);
  const std::uint64_t other = pairs.barrier(0, 2);
  ASSERT_TRUE(pairs.team.wait({back, one, two, other}));
  pairs.team.expect_all({back, one, two, other}, Verdict::kOk);
}

}  // namespace
}  // namespace fibocast
