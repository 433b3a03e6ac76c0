// More names of groups than a node's table has places: those that nobody uses make place, and go on where they were.
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "firmware_sim/random.h"
#include "tests/runtime/node/team.h"

namespace fibocast {
namespace {

ClusterSettings few_places(std::uint32_t nodes) {
  ClusterSettings settings = cluster_of(nodes);
  settings.limits.groups = 3, settings.limits.dormant_groups = 64;
  settings.node.suspicion = kSecond;
  return settings;
}

std::uint64_t set_aside(const Team& team, NodeId id) {
  return team.cluster.node(id).node().counters().groups_set_aside;
}

// All open it and call one barrier by the number that they are told.
void pass_barrier(Team& team, const std::string& name, Generation wanted) {
  std::vector<std::uint64_t> calls;
  for (const NodeId id : team.up) {
    const Membership m = team.cluster.open(id, name);
    ASSERT_EQ(m.admission, Admission::kTaken) << name;
    EXPECT_EQ(m.generation, wanted) << name << " at " << id;
    calls.push_back(team.cluster.barrier(id, m.group, m.generation, team.in(5 * kSecond)).cookie);
  }
  ASSERT_TRUE(team.wait(calls)) << name;
  team.expect_all(calls, Verdict::kOk);
}

TEST(DormantGroup, NamesAreUsedWithoutEnd) {
  Team team(few_places(4));
  for (int i = 0; i < 200; ++i) pass_barrier(team, "job " + std::to_string(i), 0);
  for (const NodeId id : team.up) EXPECT_EQ(set_aside(team, id), 200u - 2) << "one place is that of `all`";
  team.expect_nothing_held();
}

TEST(DormantGroup, GoesOnWhereItWas) {
  Team team(few_places(4));
  for (Generation round = 0; round < 12; ++round)
    for (const char* name : {"a", "b", "c", "d", "e"}) pass_barrier(team, name, round);
  EXPECT_GT(set_aside(team, 0), 30u);
}

// Who has it open calls it by its id, and its own numbers go on.
TEST(DormantGroup, ComesBackForWhoHasItOpen) {
  Team team(few_places(3));
  for (int i = 0; i < 8; ++i) pass_barrier(team, "job " + std::to_string(i), 0);
  const auto calls = team.barrier_everywhere(0, team.in(5 * kSecond));
  ASSERT_TRUE(team.wait(calls));
  team.expect_all(calls, Verdict::kOk);
  for (int i = 8; i < 16; ++i) pass_barrier(team, "job " + std::to_string(i), 0);
  const auto bytes = std::vector<std::byte>(50'000, std::byte{7});
  const std::uint64_t sender = team.send_multicast(1, 1, bytes), one = team.receive_multicast(0, 1, 1),
                      two = team.receive_multicast(2, 1, 1);
  ASSERT_TRUE(team.wait({sender, one, two}));
  EXPECT_EQ(team.cluster.answer(one)->payload, bytes);
  EXPECT_EQ(team.cluster.answer(two)->payload, bytes);
}

TEST(DormantGroup, IsTheSameOneForWhoNumbersItsCalls) {
  Team team(few_places(2));
  const auto definition = [&](NodeId id) {
    const Node& node = team.cluster.node(id).node();
    for (std::uint32_t i = 0; i < node.group_count(); ++i)
      if (node.group_info(i).id == team.group) return node.group_info(i).definition;
    return 0u;
  };
  const std::uint32_t before = definition(0);
  for (int i = 0; i < 8; ++i) pass_barrier(team, "job " + std::to_string(i), 0);
  EXPECT_EQ(definition(0), 0u) << "it is set aside";
  Call c;
  c.group = team.group, c.generation = 0, c.definition = before, c.deadline = team.in(kSecond);
  EXPECT_EQ(team.cluster.call(0, c).admission, Admission::kTaken);
  EXPECT_EQ(definition(0), before);
}

TEST(DormantGroup, IsNoneThatIsUsedOrWasCreated) {
  Team team(few_places(2));
  GroupDefinition made;
  made.name = "made", made.members.add_run({0, 2});
  ASSERT_TRUE(team.wait({team.cluster.create(0, made).cookie}));
  const std::uint64_t waits = team.barrier(0, 0, team.in(30 * kSecond));
  const Membership used = team.cluster.open(0, "used");
  const std::uint64_t other = team.cluster.barrier(0, used.group, 0, team.in(30 * kSecond)).cookie;
  EXPECT_EQ(team.cluster.open(0, "next").admission, Admission::kManyGroups);
  const std::uint64_t there = team.barrier(1, 0, team.in(30 * kSecond));
  ASSERT_TRUE(team.wait({waits, there}));
  EXPECT_EQ(team.verdict(other), Verdict::kPending);
  EXPECT_EQ(team.cluster.open(0, "next").admission, Admission::kTaken);
  Call c;
  c.group = team.group, c.generation = 1, c.deadline = team.in(kSecond);
  EXPECT_EQ(team.cluster.call(0, c).admission, Admission::kTaken) << "`next` is not used, and makes place";
  Call next;
  next.group = default_group_id("next", 0);
  EXPECT_EQ(team.cluster.call(0, next).admission, Admission::kWouldBlock);
}

TEST(DormantGroup, BeginsAnewWhenItWasRemoved) {
  Team team(few_places(3));
  for (Generation g = 0; g < 3; ++g) pass_barrier(team, "gate", g);
  for (int i = 0; i < 8; ++i) pass_barrier(team, "job " + std::to_string(i), 0);
  EXPECT_EQ(team.cluster.node(1).remove_group("gate"), Admission::kTaken);
  EXPECT_EQ(team.cluster.node(1).remove_group("never"), Admission::kUnknownGroup);
  team.cluster.run_until(team.in(kSecond));
  pass_barrier(team, "gate", 0);
}

// Members that are started again know nothing of those that the others have set aside. With sixteen places none is.
TEST(DormantGroup, TakesInMembersThatAreStartedAgain) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    ClusterSettings settings = few_places(4);
    if (seed > 5) settings.limits.groups = 16;
    settings.seed = seed, settings.faults = {loss(0.02), duplicates(0.1)};
    settings.network.latency_min = 5 * kMicrosecond, settings.network.latency_max = 50 * kMicrosecond;
    Team team(settings);
    Random random(seed);
    for (int round = 0; round < 100; ++round) {
      if (random.below(4) == 0) {
        const auto anew = static_cast<NodeId>(random.below(4));
        team.cluster.run_until(team.in(kSecond));
        team.cluster.node(anew).stop();
        team.cluster.node(anew).restart(1'000u * (round + 2u));
        ASSERT_TRUE(team.cluster.run_until(team.in(20 * kSecond),
                                           [&] { return team.cluster.node(anew).node().connected_peers() == 3; }));
      }
      const std::string name = "name " + std::to_string(random.below(8));
      std::vector<std::uint64_t> calls;
      for (const NodeId id : team.up) {
        Membership m;
        const auto opens = [&] { return (m = team.cluster.open(id, name)).admission != Admission::kWouldBlock; };
        ASSERT_TRUE(team.cluster.run_until(team.in(5 * kSecond), opens)) << "others are told of its groups first";
        ASSERT_EQ(m.admission, Admission::kTaken);
        calls.push_back(team.cluster.barrier(id, m.group, std::nullopt, team.in(20 * kSecond)).cookie);
      }
      ASSERT_TRUE(team.wait(calls)) << "seed " << seed << " round " << round;
      for (const std::uint64_t call : calls)
        ASSERT_EQ(team.verdict(call), Verdict::kOk) << "seed " << seed << " round " << round;
    }
  }
}

// Each node goes through the same barriers of eight names at its own pace, whatever is lost on the way.
TEST(DormantGroup, IsThereInTimeWhateverIsLost) {
  constexpr int kBarriers = 300;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    ClusterSettings settings = few_places(5);
    settings.seed = seed;
    settings.faults = {loss(0.05), duplicates(0.1)};
    settings.network.latency_min = 10 * kMicrosecond, settings.network.latency_max = 500 * kMicrosecond;
    Team team(settings);
    std::vector<int> done(team.up.size(), 0);
    std::vector<std::uint64_t> waits(team.up.size(), 0);
    const auto name_of = [&](int i) {
      return "name " + std::to_string(Random(seed * 1'000 + static_cast<std::uint64_t>(i)).below(8));
    };
    const auto call_next = [&](NodeId id) {
      const Membership m = team.cluster.open(id, name_of(done[id]));
      ASSERT_EQ(m.admission, Admission::kTaken);
      waits[id] = team.cluster.barrier(id, m.group, m.generation, team.in(30 * kSecond)).cookie;
    };
    for (const NodeId id : team.up) call_next(id);
    const bool ended = team.cluster.run_until(team.in(600 * kSecond), [&] {
      for (const NodeId id : team.up) {
        if (done[id] == kBarriers || !team.cluster.answer(waits[id])) continue;
        EXPECT_EQ(team.verdict(waits[id]), Verdict::kOk)
            << "seed " << seed << " node " << id << " barrier " << done[id];
        if (++done[id] < kBarriers) call_next(id);
      }
      return std::ranges::all_of(done, [](int n) { return n == kBarriers; });
    });
    ASSERT_TRUE(ended) << "seed " << seed;
    EXPECT_GT(set_aside(team, 2), 100u);
  }
}

}  // namespace
}  // namespace fibocast
