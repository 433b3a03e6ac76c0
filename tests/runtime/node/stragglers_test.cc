// Who came last to a barrier, in virtual time: what every member is told, and what is counted.
#include "runtime/node/stragglers.h"

#include <string>

#include "tests/runtime/node/team.h"

namespace fibocast {
namespace {

constexpr Nanoseconds kLate = 200 * kMillisecond;
constexpr Nanoseconds kLatency = 50 * kMicrosecond;  // of every link: a message's whole time
constexpr Nanoseconds kWays = 8 * kLatency;          // more than any word needs in a group of 16

struct ShapeCase {
  std::string name;
  AlgorithmChoice choice;
  std::uint32_t nodes;
};

class StragglerOf : public testing::TestWithParam<ShapeCase> {
 protected:
  static ClusterSettings settings() {
    ClusterSettings c = cluster_of(GetParam().nodes);
    c.network = {kLatency, kLatency, 0};
    set_choice(c.node.plan, Operation::kBarrier, 0, GetParam().choice);
    return c;
  }
  // All call now, `late` by kLate later.
  static std::vector<std::uint64_t> barrier(Team& team, Generation generation, const std::vector<Rank>& late) {
    std::vector<std::uint64_t> cookies;
    const Nanoseconds start = team.in(kMillisecond);
    for (NodeId id : team.up) {
      Call c;
      c.group = team.group;
      c.generation = generation;
      c.deadline = team.in(10 * kSecond);
      const bool is_late = std::find(late.begin(), late.end(), id) != late.end();
      c.not_before = start + (is_late ? kLate : 0);
      cookies.push_back(team.cluster.call(id, c).cookie);
    }
    EXPECT_TRUE(team.wait(cookies));
    team.expect_all(cookies, Verdict::kOk);
    return cookies;
  }
  static std::span<const SlowRank> table(const Team& team, NodeId id) {
    return team.cluster.node(id).node().group_info(0).slowest;
  }
};

TEST_P(StragglerOf, EveryMemberIsToldWhoWasLateAndByHowMuch) {
  Team team(settings());
  for (Rank late = 0; late < GetParam().nodes; ++late)
    for (const std::uint64_t cookie : barrier(team, late, {late})) {
      const Straggler straggler = team.done(cookie).straggler;
      EXPECT_EQ(straggler.rank, late);
      EXPECT_GE(straggler.late_by, kLate - kWays);
      EXPECT_LE(straggler.late_by, kLate + kWays);
    }
}

TEST_P(StragglerOf, WhereNobodyIsLateItIsAMatterOfMessageTimes) {
  Team team(settings());
  for (const std::uint64_t cookie : barrier(team, 0, {})) {
    EXPECT_LT(team.done(cookie).straggler.rank, GetParam().nodes);
    EXPECT_LE(team.done(cookie).straggler.late_by, kWays);
  }
}

// Without either of them it would not have ended much sooner.
TEST_P(StragglerOf, OfTwoThatAreLateNeitherIsLateByMuch) {
  if (GetParam().nodes < 4) return;
  Team team(settings());
  for (const std::uint64_t cookie : barrier(team, 0, {1, 3})) {
    const Straggler straggler = team.done(cookie).straggler;
    EXPECT_TRUE(straggler.rank == 1 || straggler.rank == 3) << straggler.rank;
    EXPECT_LE(straggler.late_by, kWays);
  }
}

TEST_P(StragglerOf, IsCountedInEveryMembersTable) {
  Team team(settings());
  const Rank last = GetParam().nodes - 1;
  for (Generation g = 0; g < 10; ++g) barrier(team, g, {g % 3 == 0 ? last : 0});
  for (NodeId id : team.up) {
    EXPECT_EQ(team.cluster.node(id).node().counters().stragglers, 10u);
    const auto rows = table(team, id);
    ASSERT_EQ(rows.size(), 2u);
    for (const SlowRank& row : rows) {
      const std::uint32_t times = row.rank == last ? 4 : 6;
      EXPECT_EQ(row.times, times) << "rank " << row.rank;
      EXPECT_GE(row.total, times * (kLate - kWays));
      EXPECT_LE(row.total, times * (kLate + kWays));
      EXPECT_GE(row.largest * times, row.total);
      EXPECT_LE(row.largest, kLate + kWays);
      EXPECT_EQ(row.unseen, 0);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, StragglerOf,
                         testing::Values(ShapeCase{"trees", {Algorithm::kTrees}, 16},
                                         ShapeCase{"binomial", {Algorithm::kTrees, TreeKind::kBinomial}, 16},
                                         ShapeCase{"sequential", {Algorithm::kTrees, TreeKind::kSequential}, 16},
                                         ShapeCase{"pair", {Algorithm::kTrees}, 2},
                                         ShapeCase{"dissemination", {Algorithm::kDissemination, {}, 2}, 16},
                                         ShapeCase{"dissemination_of_13", {Algorithm::kDissemination, {}, 3}, 13},
                                         ShapeCase{"combine", {Algorithm::kCombineEager}, 16}),
                         [](const auto& info) { return info.param.name; });

// Along a chain of two the numbers are plain: rank 1 calls 200 ms later, its word is one latency under way.
TEST(Straggler, TheWayOfTheWordIsPartOfTheTime) {
  ClusterSettings settings = cluster_of(2);
  settings.network = {kLatency, kLatency, 0};
  Team team(settings);
  const std::uint64_t root = team.barrier(0, 0, team.in(kSecond));
  team.cluster.run_until(team.in(kLate));
  const std::uint64_t child = team.barrier(1, 0, team.in(kSecond));
  ASSERT_TRUE(team.wait({root, child}));
  for (const std::uint64_t cookie : {root, child}) {
    EXPECT_EQ(team.done(cookie).straggler.rank, 1u);
    EXPECT_EQ(team.done(cookie).straggler.late_by, kLate + kLatency);
  }
}

TEST(Straggler, ThereIsNoneOfOneRankOfAFailureOrOfOtherOperations) {
  Team one(cluster_of(1));
  const auto alone = one.barrier_everywhere(0, one.in(kSecond));
  ASSERT_TRUE(one.wait(alone));
  EXPECT_EQ(one.done(alone[0]).straggler.rank, kNoRank);

  Team two(cluster_of(2));
  const std::uint64_t failed = two.barrier(1, 0, two.in(kSecond));
  ASSERT_TRUE(two.wait({failed}));
  EXPECT_EQ(two.verdict(failed), Verdict::kDeadlineExceeded);
  const std::vector<std::uint64_t> sent{two.send_multicast(0, 1, {}), two.receive_multicast(1, 0, 1)};
  ASSERT_TRUE(two.wait(sent));
  for (const std::uint64_t cookie : {failed, sent[0], sent[1]})
    EXPECT_EQ(two.done(cookie).straggler.rank, kNoRank) << cookie;
  EXPECT_EQ(two.cluster.node(0).node().counters().stragglers, 0u);
}

// ---- the table

TEST(SlowestRanks, AreFoundInATableThatIsTooSmallForAll) {
  std::array<SlowRank, 3> rows;
  std::uint32_t used = 0;
  for (Rank round = 0; round < 40; ++round) {
    stragglers::count(rows, used, {100 + round, 10});  // each of many once, by little
    stragglers::count(rows, used, {7, 30});
  }
  ASSERT_EQ(used, 3u);
  const auto found = std::find_if(rows.begin(), rows.end(), [](const SlowRank& row) { return row.rank == 7; });
  ASSERT_NE(found, rows.end());
  EXPECT_EQ(found->times, 40u);
  EXPECT_EQ(found->total, 1200);
  EXPECT_EQ(found->largest, 30);
  EXPECT_EQ(found->unseen, 0);
}

TEST(SlowestRanks, ANewcomerIsNotTakenForBetterThanItMayBe) {
  std::array<SlowRank, 2> rows;
  std::uint32_t used = 0;
  stragglers::count(rows, used, {1, 50});
  stragglers::count(rows, used, {2, 20});
  stragglers::count(rows, used, {3, 5});  // in the place of rank 2
  EXPECT_EQ(rows[1].rank, 3u);
  EXPECT_EQ(rows[1].times, 1u);
  EXPECT_EQ(rows[1].total, 5);
  EXPECT_EQ(rows[1].unseen, 20);
  stragglers::count({}, used, {3, 5});  // no table is wanted
  EXPECT_EQ(used, 2u);
}

}  // namespace
}  // namespace fibocast
