// Node, in virtual time: the operations themselves, on a network that behaves and on one that does not.
#include "runtime/node/node.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "tests/runtime/node/team.h"

namespace fibocast {
namespace {

class BarrierOf : public testing::TestWithParam<std::uint32_t> {};

TEST_P(BarrierOf, ReleasesAllAtOnceAndAgain) {
  Team team(cluster_of(GetParam()));
  for (Generation g = 0; g < 20; ++g) {
    const auto cookies = team.barrier_everywhere(g, team.in(10 * kSecond));
    ASSERT_TRUE(team.wait(cookies)) << "generation " << g;
    team.expect_all(cookies, Verdict::kOk);
    for (std::uint64_t cookie : cookies) EXPECT_EQ(team.done(cookie).generation, g);
  }
  team.expect_nothing_held();
}

TEST_P(BarrierOf, HoldsEverybodyBackForTheLast) {
  Team team(cluster_of(GetParam()));
  std::vector<std::uint64_t> cookies;
  for (NodeId id : team.up) {
    if (!cookies.empty()) {
      EXPECT_FALSE(team.wait({cookies.front()}, 50 * kMillisecond)) << "released before node " << id << " came";
    }
    cookies.push_back(team.barrier(id, 0, team.in(20 * kSecond)));
  }
  ASSERT_TRUE(team.wait(cookies));
  team.expect_all(cookies, Verdict::kOk);
}

TEST_P(BarrierOf, PassesALossyNetwork) {
  ClusterSettings settings = cluster_of(GetParam());
  settings.network = {kMillisecond, 2 * kMillisecond, kMillisecond};
  settings.faults = {loss(0.1),
                     duplicates(0.1),
                     {.kind = Fault::Kind::kDelay, .nodes = {}, .probability = 0.02, .time = 20 * kMillisecond}};
  Team team(settings);
  for (Generation g = 0; g < 20; ++g) {
    const auto cookies = team.barrier_everywhere(g, team.in(60 * kSecond));
    ASSERT_TRUE(team.wait(cookies)) << "generation " << g;
    team.expect_all(cookies, Verdict::kOk);
  }
}

INSTANTIATE_TEST_SUITE_P(Nodes, BarrierOf, testing::Values(1, 2, 3, 19));

TEST(Barrier, CountsEveryParticipantOfANode) {
  Team team(cluster_of(2));
  for (NodeId id : team.up) EXPECT_EQ(team.cluster.open(id, "all/pairs", 2).admission, Admission::kTaken);
  const GroupId pairs = team.cluster.open(0, "all/pairs", 2).group;
  std::vector<std::uint64_t> cookies;
  for (NodeId id : {0u, 0u, 1u}) cookies.push_back(team.cluster.barrier(id, pairs, 0, team.in(9 * kSecond)).cookie);
  EXPECT_FALSE(team.wait({cookies[0]}, kSecond));
  cookies.push_back(team.cluster.barrier(1, pairs, 0, team.in(9 * kSecond)).cookie);
  ASSERT_TRUE(team.wait(cookies));
  team.expect_all(cookies, Verdict::kOk);
}

TEST(Barrier, WithoutAGenerationJoinsTheOpenOne) {
  Team team(cluster_of(3));
  for (Generation g = 0; g < 3; ++g) {
    std::vector<std::uint64_t> cookies;
    for (NodeId id : team.up) cookies.push_back(team.barrier(id, std::nullopt, team.in(kSecond)));
    ASSERT_TRUE(team.wait(cookies));
    for (std::uint64_t cookie : cookies) EXPECT_EQ(team.done(cookie).generation, g);
  }
}

TEST(Barrier, CountsMessagesThatComeBeforeTheLocalCall) {
  Team team(cluster_of(2));
  const std::uint64_t child = team.barrier(1, 0, team.in(10 * kSecond));
  team.cluster.run_until(team.in(kSecond));
  EXPECT_EQ(team.cluster.node(0).node().counters().early, 1u);
  const std::uint64_t root = team.barrier(0, 0, team.in(10 * kSecond));
  ASSERT_TRUE(team.wait({child, root}));
  team.expect_all({child, root}, Verdict::kOk);
}

TEST(Barrier, StartsNotBeforeTheInstantThatWasAsked) {
  Team team(cluster_of(3));
  const Nanoseconds start = team.in(5 * kMillisecond);
  std::vector<std::uint64_t> cookies;
  for (NodeId id : team.up) {
    Call c;
    c.group = team.group;
    c.generation = 0;
    c.deadline = team.in(10 * kSecond);
    c.not_before = start;
    cookies.push_back(team.cluster.call(id, c).cookie);
  }
  ASSERT_TRUE(team.wait(cookies));
  team.expect_all(cookies, Verdict::kOk);
  for (std::uint64_t cookie : cookies) EXPECT_EQ(team.cluster.answer(cookie)->at, start);  // a network without latency
}

// Every size class: nothing, eager, just eager, just not, several fragments, several segments.
TEST(Multicast, CarriesEverySizeFromEveryRoot) {
  ClusterSettings settings = cluster_of(5);
  settings.node.plan.segment_bytes = 10'000;
  Team team(settings);
  const std::uint32_t eager = settings.limits.eager_bytes;
  Generation g = 0;
  for (std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{eager} - 1, std::size_t{eager},
                           std::size_t{eager} + 1, std::size_t{10'000}, std::size_t{300'001}}) {
    const Rank root = g % 5;
    const std::vector<std::byte> bytes = pattern(g, size);
    std::vector<std::uint64_t> cookies;
    for (NodeId id : team.up)
      cookies.push_back(id == root ? team.send_multicast(id, g, bytes) : team.receive_multicast(id, root, g));
    ASSERT_TRUE(team.wait(cookies)) << size << " bytes";
    team.expect_all(cookies, Verdict::kOk);
    for (NodeId id : team.up) {
      const std::vector<std::byte>& got = team.cluster.answer(cookies[id])->payload;
      EXPECT_TRUE(got == (id == root ? std::vector<std::byte>{} : bytes)) << size << " bytes at " << id;
    }
    ++g;
  }
  team.expect_nothing_held();
}

// The receiver's leave is waited for by what is beyond the first bytes only.
TEST(Multicast, BeginsAheadOfItsGrant) {
  constexpr std::uint32_t kBytes = 5'000;
  for (const std::uint32_t ahead : {0u, kBytes - 1, kBytes}) {
    ClusterSettings settings = cluster_of(2);
    settings.network = {kMillisecond, kMillisecond};
    settings.node.ahead_bytes = ahead;
    Team team(settings);
    team.cluster.run_until(team.in(kSecond));
    const Nanoseconds start = team.in(0);
    const std::uint64_t receiver = team.receive_multicast(1, 0, 0);
    const std::uint64_t sender = team.send_multicast(0, 0, pattern(1, kBytes));
    ASSERT_TRUE(team.wait({receiver, sender}));
    EXPECT_EQ(team.cluster.answer(receiver)->at - start, ahead == kBytes ? kMillisecond : 3 * kMillisecond);
    EXPECT_EQ(team.cluster.answer(receiver)->payload, pattern(1, kBytes));
    team.expect_nothing_held();
  }
}

// Whoever passes it on must keep it for as long as that takes.
TEST(Multicast, OnlyALeafThatWaitsGetsItWhereItsCallerWantsIt) {
  ClusterSettings settings = cluster_of(4);
  settings.node.plan.distribution = {.kind = TreeKind::kKary, .arity = 1};  // 0 -> 1 -> 2 -> 3
  Team team(settings);
  for (const std::size_t size : {std::size_t{100}, std::size_t{50'000}}) {
    const std::uint64_t before = team.cluster.node(3).places();
    const Generation generation = size == 100 ? 0 : 1;
    std::vector<std::uint64_t> cookies;
    for (const NodeId id : {1u, 2u, 3u}) cookies.push_back(team.receive_multicast(id, 0, generation));
    cookies.push_back(team.send_multicast(0, generation, pattern(1, size)));
    ASSERT_TRUE(team.wait(cookies));
    for (const NodeId id : {0u, 1u, 2u}) EXPECT_EQ(team.cluster.node(id).places(), 0u) << "node " << id;
    EXPECT_EQ(team.cluster.node(3).places(), before + 1);
    EXPECT_EQ(team.cluster.answer(cookies[2])->payload, pattern(1, size));
  }
  const std::uint64_t sender = team.send_multicast(0, 2, pattern(1, 50'000));
  ASSERT_TRUE(team.wait({sender}));
  team.cluster.run_until(team.in(kSecond));
  for (const NodeId id : {1u, 2u, 3u}) ASSERT_TRUE(team.wait({team.receive_multicast(id, 0, 2)}));
  EXPECT_EQ(team.cluster.node(3).places(), 2u) << "it was there before anybody asked for it";
  team.expect_nothing_held();
}

TEST(Multicast, ArrivesBeforeAnybodyAskedForIt) {
  Team team(cluster_of(4));
  const std::vector<std::byte> bytes = pattern(1, 50'000);
  const std::uint64_t sender = team.send_multicast(2, 0, bytes);
  team.cluster.run_until(team.in(kSecond));
  EXPECT_EQ(team.verdict(sender), Verdict::kOk);
  for (NodeId id : {0u, 1u, 3u}) {
    const std::uint64_t cookie = team.receive_multicast(id, 2, 0);
    ASSERT_TRUE(team.wait({cookie}));
    EXPECT_EQ(team.cluster.answer(cookie)->payload, bytes);
  }
  team.expect_nothing_held();
}

TEST(Multicast, OfEightMebibytesSurvivesFivePercentLoss) {
  ClusterSettings settings = cluster_of(4);
  settings.network.latency_max = 100 * kMicrosecond;
  settings.faults = {loss(0.05)};
  settings.node.plan.segment_bytes = 65'536;
  Team team(settings);
  const std::vector<std::byte> bytes = pattern(7, 8 << 20);
  std::vector<std::uint64_t> cookies;
  cookies.push_back(team.send_multicast(0, 0, bytes));
  for (NodeId id : {1u, 2u, 3u}) cookies.push_back(team.receive_multicast(id, 0, 0));
  ASSERT_TRUE(team.wait(cookies));
  team.expect_all(cookies, Verdict::kOk);
  for (int i : {1, 2, 3}) EXPECT_TRUE(team.cluster.answer(cookies[i])->payload == bytes) << "node " << i;
  team.expect_nothing_held();
}

// Members call different operations in one generation: nobody may wait for ever.
TEST(Operations, ThatDifferInOneGenerationAreAMismatchForAll) {
  Team team(cluster_of(3));
  std::vector<std::uint64_t> cookies{team.barrier(0, 0, team.in(5 * kSecond)), team.barrier(1, 0, team.in(5 * kSecond)),
                                     team.send_multicast(2, 0, pattern(1, 10))};
  ASSERT_TRUE(team.wait(cookies));
  EXPECT_EQ(team.verdict(cookies[0]), Verdict::kMismatch);
  EXPECT_EQ(team.verdict(cookies[1]), Verdict::kMismatch);
  const auto next = team.barrier_everywhere(1, team.in(5 * kSecond));
  ASSERT_TRUE(team.wait(next));
  team.expect_all(next, Verdict::kOk);
}

// The sender was through before: who wanted something else will not come for the payload any more.
TEST(Operations, ThatDifferFromWhatWasHandedOutHoldUpNobody) {
  for (const bool numbered : {false, true}) {
    Team team(cluster_of(3));
    const auto number = [&](Generation g) { return numbered ? std::optional(g) : std::nullopt; };
    const Asked sent = team.cluster.send_multicast(0, team.group, 0, number(0), team.in(5 * kSecond), pattern(1, 10));
    ASSERT_TRUE(team.wait({sent.cookie}));
    team.cluster.run_until(team.in(kSecond));
    const std::vector<std::uint64_t> wrong{team.barrier(1, number(0), team.in(5 * kSecond)),
                                           team.barrier(2, number(0), team.in(5 * kSecond))};
    ASSERT_TRUE(team.wait(wrong));
    team.expect_all(wrong, Verdict::kMismatch);
    for (Generation g = 1; g < 40; ++g) {  // more than can be open at a time
      std::vector<std::uint64_t> right;
      for (const NodeId id : team.up) right.push_back(team.barrier(id, number(g), team.in(5 * kSecond)));
      ASSERT_TRUE(team.wait(right));
      team.expect_all(right, Verdict::kOk);
    }
    team.expect_nothing_held();
  }
}

TEST(Groups, AreCreatedWithTheirOwnMembersAndPlan) {
  Team team(cluster_of(5));
  GroupDefinition odd;
  odd.name = "odd";
  odd.members.add(1);
  odd.members.add(3);
  odd.plan.segment_bytes = 1'000;
  const Asked created = team.cluster.create(3, odd);
  ASSERT_EQ(created.admission, Admission::kTaken);
  ASSERT_TRUE(team.wait({created.cookie}));
  EXPECT_EQ(team.verdict(created.cookie), Verdict::kOk);
  const GroupId id = group_id("odd");
  std::vector<std::uint64_t> cookies;
  for (NodeId member : {1u, 3u}) {
    const Membership m = team.cluster.open(member, "odd");
    EXPECT_EQ(m.group, id);
    cookies.push_back(team.cluster.barrier(member, id, m.generation, team.in(kSecond)).cookie);
  }
  ASSERT_TRUE(team.wait(cookies));
  team.expect_all(cookies, Verdict::kOk);
}

TEST(Groups, RefuseWhatCannotBe) {
  Team team(cluster_of(2));
  EXPECT_EQ(team.cluster.barrier(0, 12345, 0, kNever).admission, Admission::kUnknownGroup);
  EXPECT_EQ(team.cluster.receive_multicast(0, team.group, 2, 0, kNever).admission, Admission::kBadRank);
  EXPECT_EQ(team.cluster.open(0, "").admission, Admission::kBadName);
  EXPECT_EQ(team.cluster.open(0, std::string(kMaxGroupName + 1, 'x')).admission, Admission::kBadName);
  EXPECT_FALSE(team.cluster.node(0).node().fits_budget(1ull << 40));
}

GroupDefinition of_all(std::uint32_t nodes, std::string_view name) {
  GroupDefinition d;
  d.name = name;
  d.members.add_run({0, nodes});
  return d;
}

// Its creator still waits for a member when another one removes it.
TEST(Groups, RemovedWhileTheyAreCreatedAnswerTheirCreator) {
  Team team(cluster_of(3), {2});
  const Asked created = team.cluster.create(0, of_all(3, "short"));
  team.cluster.run_until(team.in(kSecond));
  EXPECT_EQ(team.cluster.node(1).remove_group("short"), Admission::kTaken);
  EXPECT_TRUE(team.wait({created.cookie}, kSecond));
  EXPECT_EQ(team.verdict(created.cookie), Verdict::kCancelled);
  EXPECT_EQ(team.cluster.node(0).node().tables().requests, 0u);
}

TEST(NodeMemory, IsBounded) {
  RecordProperty("tiny", std::to_string(Node::bytes_needed(Limits::tiny())));
  RecordProperty("simulated", std::to_string(Node::bytes_needed(Limits::simulated())));
  RecordProperty("server", std::to_string(Node::bytes_needed(Limits::server())));
  EXPECT_LE(Node::bytes_needed(Limits::tiny()), 64u * 1024);
  EXPECT_LE(Node::bytes_needed(Limits::simulated()), 100u * 1024);
}

}  // namespace
}  // namespace fibocast
