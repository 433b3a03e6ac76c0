// New plans for groups that go on: no operation ends for them, and all members have the same one.
#include "runtime/node/replan.h"

#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <string>
#include <tuple>

#include "runtime/node/peer_message.h"
#include "tests/runtime/node/workers.h"
#include "transport/frame.h"

namespace fibocast {
namespace {

// Trees of another shape for each number.
Plan plan_number(std::uint64_t number) {
  Plan plan;
  plan.distribution = {.kind = TreeKind::kFibo, .s = 1 + number % 5, .r = 1 + number % 7};
  plan.reduction = {.kind = TreeKind::kFibo, .s = 1 + number % 7, .r = 1 + number % 5};
  return plan;
}

class Replan : public testing::TestWithParam<GroupPolicy> {
 protected:
  Asked begin(Workers& w, NodeId at, const Plan& plan) {
    const Asked asked = w.cluster.replan(at, "work", plan);
    EXPECT_EQ(asked.admission, Admission::kTaken);
    return asked;
  }
  // True: the new plan was taken by all.
  bool replan(Workers& w, NodeId at, const Plan& plan) {
    const Asked asked = begin(w, at, plan);
    EXPECT_TRUE(
        w.cluster.run_until(w.cluster.now() + 60 * kSecond, [&] { return w.cluster.answer(asked.cookie) != nullptr; }));
    const Answer* answer = w.cluster.answer(asked.cookie);
    return answer != nullptr && answer->event.done.verdict == Verdict::kOk;
  }
  void expect_plan(const Workers& w, const std::vector<NodeId>& ids, const Plan& plan) {
    for (const NodeId id : ids) EXPECT_EQ(w.info(id).plan, plan) << id;
  }
};

// Between two releases at rank 0, of all so far.
class Gaps {
 public:
  explicit Gaps(const Workers& w) : w_(w), last_(w.cluster.now()), ok_(w.workers[0].ok) {}
  void look() {
    if (w_.workers[0].ok == ok_) return;
    longest_ = std::max(longest_, w_.cluster.now() - last_);
    last_ = w_.cluster.now(), ok_ = w_.workers[0].ok;
  }
  Nanoseconds longest() const { return longest_; }

 private:
  const Workers& w_;
  Nanoseconds last_, longest_ = 0;
  std::uint64_t ok_;
};

// A change waits for the barrier that is under way and takes as long as another one: hold, drain, install and go are
// three and a half round trips, a barrier of 16 up to five.
TEST_P(Replan, TwoHundredTimesUnderContinuousBarriers) {
  Workers w(busy_cluster_of(16), GetParam());
  ASSERT_TRUE(w.run_until_each(w.all_but({}), 20, kSecond));
  const std::uint64_t before = w.workers[0].ok;
  Gaps calm(w);
  w.cluster.run_until(w.cluster.now() + kSecond, [&] { return calm.look(), false; });
  Gaps changing(w);
  for (std::uint64_t number = 0; number < 200; ++number) {
    const Asked asked = begin(w, number % 16, plan_number(number));
    ASSERT_TRUE(w.cluster.run_until(w.cluster.now() + kSecond, [&] {
      changing.look();
      return w.cluster.answer(asked.cookie) != nullptr;
    })) << number;
    EXPECT_EQ(w.cluster.answer(asked.cookie)->event.done.verdict, Verdict::kOk);
    const Nanoseconds pause = static_cast<Nanoseconds>(number % 13) * kMillisecond;
    w.cluster.run_until(w.cluster.now() + pause, [&] { return changing.look(), false; });
  }
  EXPECT_GT(w.workers[0].ok - before, 1000u);
  EXPECT_LT(changing.longest(), 3 * calm.longest());
  ASSERT_TRUE(w.run_until_each(w.all_but({}), 20, kSecond));
  expect_plan(w, w.all_but({}), plan_number(199));
  EXPECT_EQ(w.failures(w.all_but({})), 0u);
}

TEST_P(Replan, OfAGroupThatDoesNothing) {
  Workers w(busy_cluster_of(8), GetParam());
  w.run_for(20 * kMillisecond);
  w.deadline = kMillisecond / 10;  // nobody comes far
  for (std::uint64_t number = 0; number < 20; ++number) ASSERT_TRUE(replan(w, number % 8, plan_number(number)));
  expect_plan(w, w.all_but({}), plan_number(19));
}

// At any moment of the change, the one that leads it or another one: who is left, or all when it is back, have one
// plan.
TEST_P(Replan, AMemberDiesMeanwhile) {
  for (Nanoseconds after = 0; after < 12 * kMillisecond; after += FIBOCAST_SANITIZED ? 2'700'000 : 900'000)
    for (const NodeId dead : {0u, 5u, 9u}) {
      Workers w(busy_cluster_of(16, static_cast<std::uint64_t>(after)), GetParam());
      ASSERT_TRUE(w.run_until_each(w.all_but({}), 20, kSecond));
      begin(w, 5, plan_number(3));
      w.run_for(after);
      const Fault crash{.kind = Fault::Kind::kCrash, .nodes = {dead}};
      w.begin(crash);
      const std::vector<NodeId> others = w.all_but({dead});
      w.run_for(100 * kMillisecond);
      if (GetParam() == GroupPolicy::kSurvivors) {
        EXPECT_TRUE(w.run_until_each(others, 5, 5 * kSecond)) << dead << " after " << after;
        EXPECT_EQ(w.failures(others), 0u) << dead << " after " << after;
        expect_plan(w, others, w.info(others.front()).plan);
      }
      w.cluster.heal(crash);
      EXPECT_TRUE(w.run_until_each(w.all_but({}), 5, 20 * kSecond)) << dead << " after " << after;
      expect_plan(w, w.all_but({}), w.info(0).plan);
    }
}

// One message names the lost, says how all generations end, and brings the plan.
TEST(ReplanMessage, TheLargestOneFits) {
  PeerMessage m;
  m.type = PeerMessageType::kEpochInstall;
  for (Rank rank = 0; rank < 2 * RankSet::kMaxRuns; rank += 2) m.ranks.add(rank);
  const std::vector<std::byte> outcomes(std::size_t{3} * Limits{}.open_generations);
  m.piece = outcomes;
  m.plan = plan_number(3);
  m.let_go = 7;
  std::array<std::byte, kMaxPeerMessage> bytes;
  const std::size_t size = encode_peer_message(m, bytes);
  const auto back = decode_peer_message(std::span(bytes).first(size));
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(back->plan, m.plan);
  EXPECT_EQ(back->let_go, m.let_go);
  EXPECT_EQ(back->ranks, m.ranks);
}

// Who is asked to hold for a later change while it leads one of its own gives that up, and still decides how operations
// end that a member does not come to.
TEST(TwoReplans, OneThatIsGivenUpLeavesItsLeaderFreeToDecide) {
  for (Nanoseconds between = 0; between <= kMillisecond; between += 200'000) {
    Workers w(busy_cluster_of(3, static_cast<std::uint64_t>(between)), GroupPolicy::kAll);
    ASSERT_TRUE(w.run_until_each(w.all_but({}), 5, kSecond));
    const Fault pause{.kind = Fault::Kind::kPause, .nodes = {2}}, crash{.kind = Fault::Kind::kCrash, .nodes = {1}};
    w.begin(pause);
    const Asked first = w.cluster.replan(0, "work", plan_number(1));
    w.run_for(between);
    const Asked second = w.cluster.replan(1, "work", plan_number(2));
    EXPECT_TRUE(w.cluster.run_until(w.cluster.now() + 60 * kSecond, [&] {
      return w.cluster.answer(first.cookie) != nullptr && w.cluster.answer(second.cookie) != nullptr;
    })) << between;
    w.begin(crash);
    const auto ended = [&] { return w.failures({0}) + w.workers[0].ok; };
    EXPECT_TRUE(w.cluster.run_until(w.cluster.now() + 5 * kSecond, [&, before = ended()] { return ended() > before; }))
        << between << ": nobody but rank 0 is left to decide";
    w.cluster.heal(pause);
    w.cluster.heal(crash);
    EXPECT_TRUE(w.run_until_each(w.all_but({}), 5, 20 * kSecond)) << between;
  }
}

// A member is lost while the plan changes: calls of the others end at once. They count all the same, so that its own
// calls do not wait for those when it is back.
TEST(Replans, WhoCallsWhileAMemberIsLostInAChangeHasCalled) {
  for (Nanoseconds after = 0; after < 6 * kMillisecond; after += 300'000) {
    VirtualCluster cluster(busy_cluster_of(3, static_cast<std::uint64_t>(after)));
    cluster.start_all();
    ASSERT_TRUE(cluster.connect_all());
    GroupDefinition d;
    d.name = "work";
    d.members.add_run({0, 3});
    const auto answered = [&](std::uint64_t cookie, Nanoseconds limit) {
      return cluster.run_until(cluster.now() + limit, [&] { return cluster.answer(cookie) != nullptr; });
    };
    ASSERT_TRUE(answered(cluster.create(0, d).cookie, kSecond));
    GroupId group = 0;
    for (const NodeId id : {0u, 1u, 2u}) group = cluster.open(id, "work").group;
    cluster.replan(0, "work", plan_number(1));
    cluster.run_until(cluster.now() + after);
    const Fault pause{.kind = Fault::Kind::kPause, .nodes = {2}};
    cluster.begin(pause);
    cluster.run_until(cluster.now() + 3 * kSecond);
    const auto receive = [&](NodeId id, Generation g) {
      return cluster.receive_multicast(id, group, 1, g, cluster.now() + 60 * kSecond).cookie;
    };
    for (Generation g = 0; g < 3; ++g) {
      const Asked sent = cluster.send_multicast(1, group, 1, g, cluster.now() + 60 * kSecond, pattern(g, 10));
      ASSERT_TRUE(answered(receive(0, g), 5 * kSecond)) << after;
      ASSERT_TRUE(answered(sent.cookie, 5 * kSecond)) << after;
    }
    cluster.heal(pause);
    for (Generation g = 0; g < 3; ++g) EXPECT_TRUE(answered(receive(2, g), 10 * kSecond)) << g << " after " << after;
  }
}

// A member is lost while the new plan is being installed: nobody goes over to it before that one is back. Each of the
// others calls barriers with numbers of its own.
class InstalledPlan : public testing::TestWithParam<std::tuple<NodeId, Fault::Kind, Generation>> {
 protected:
  InstalledPlan() : cluster(settings()), fault{.kind = std::get<1>(GetParam()), .nodes = {lost}} {
    cluster.start_all();
    EXPECT_TRUE(cluster.connect_all());
    GroupDefinition d;
    d.name = "work";
    d.members.add_run({0, 3});
    EXPECT_TRUE(answered(cluster.create(0, d).cookie));
    for (NodeId id = 0; id < 3; ++id) group = cluster.open(id, "work").group;
    std::size_t installed = 0;
    cluster.network().set_filter([&](NodeId, NodeId, VirtualNetwork::Datagram& datagram) {
      const std::optional<Frame> frame = decode_frame(datagram);
      const auto m = frame ? decode_peer_message(frame->body) : std::nullopt;
      const bool says_so = m && m->type == PeerMessageType::kEpochInstalled;
      installed += says_so;
      return !says_so;
    });
    command = cluster.replan(0, "work", plan_number(1)).cookie;
    EXPECT_TRUE(cluster.run_until(cluster.now() + kSecond, [&] { return installed >= 2; }));
    cluster.begin(fault);
    cluster.network().set_filter(nullptr);
    cluster.run_until(cluster.now() + 3 * kSecond);
  }
  static ClusterSettings settings() {
    ClusterSettings settings = busy_cluster_of(3);
    settings.node.client_grace = 0;
    return settings;
  }
  bool answered(std::uint64_t cookie) {
    return cluster.run_until(cluster.now() + 100 * kMillisecond, [&] { return cluster.answer(cookie) != nullptr; });
  }
  Asked barrier(NodeId id, Generation g) { return cluster.barrier(id, group, g, cluster.now() + 60 * kSecond); }
  void expect_lost(NodeId id, Generation g) {
    const Asked asked = barrier(id, g);
    ASSERT_EQ(asked.admission, Admission::kTaken) << id << " generation " << g;
    ASSERT_TRUE(answered(asked.cookie)) << id << " generation " << g;
    EXPECT_EQ(cluster.answer(asked.cookie)->event.done.verdict, Verdict::kPeerLost) << id << " generation " << g;
  }

  Plan plan_at(NodeId id) {
    const Node& node = cluster.node(id).node();
    for (std::uint32_t i = 0; i < node.group_count(); ++i)
      if (node.group_info(i).name == "work") return node.group_info(i).plan;
    return {};
  }

  const NodeId lost = std::get<0>(GetParam());
  VirtualCluster cluster;
  const Fault fault;
  GroupId group = 0;
  std::uint64_t command = 0;
};

// There is no room to keep all that they have called until it is back. Then all go on where the one is that is
// furthest.
TEST_P(InstalledPlan, DoesNotKeepTheOthersFromCallingWhileAMemberIsLost) {
  const NodeId ahead = 1, behind = 2 - lost;
  std::array<Generation, 3> next{};
  const Generation calls = std::get<2>(GetParam());
  while (next[ahead] < calls && !HasFatalFailure()) expect_lost(ahead, next[ahead]++);
  while (next[behind] < 3 && !HasFatalFailure()) expect_lost(behind, next[behind]++);
  EXPECT_EQ(cluster.open(ahead, "work").generation, calls);
  cluster.heal(fault);
  cluster.run_until(cluster.now() + 3 * kSecond);
  next[lost] = cluster.open(lost, "work").generation;
  std::array<std::uint64_t, 3> asked{}, ok{};
  const Nanoseconds end = cluster.now() + 20 * kSecond;
  while (cluster.now() < end && std::ranges::min(ok) < 5) {
    for (NodeId id = 0; id < 3; ++id) {
      const Answer* answer = asked[id] == 0 ? nullptr : cluster.answer(asked[id]);
      if (asked[id] != 0 && answer == nullptr) continue;
      if (answer != nullptr) ok[id] += answer->event.done.verdict == Verdict::kOk, ++next[id];
      const Asked call = barrier(id, next[id]);
      ASSERT_EQ(call.admission, Admission::kTaken) << id;
      asked[id] = call.cookie;
    }
    cluster.run_until(cluster.now() + kMillisecond);
  }
  EXPECT_GE(std::ranges::min(ok), 5u);
  EXPECT_GE(std::ranges::min(next), calls);
}

// It is tried no longer; who was missing is named.
TEST_P(InstalledPlan, EndsItsCommandInTimeThoughAMemberIsLost) {
  if (lost == 0) return;  // who would be told is lost
  cluster.run_until(cluster.now() + NodeSettings{}.group_patience);
  const Answer* answer = cluster.answer(command);
  ASSERT_NE(answer, nullptr);
  EXPECT_EQ(answer->event.done.verdict, Verdict::kRefused);
  EXPECT_TRUE(answer->event.done.ranks.index_of(lost) != kNoRank && answer->event.done.ranks.size() == 1);
  cluster.heal(fault);
  cluster.run_until(cluster.now() + 5 * kSecond);
  for (NodeId id = 0; id < 3; ++id) EXPECT_EQ(plan_at(id), plan_number(1)) << id;
}

// An application dies meanwhile, before its call counts: the others are told of the member, and so is everybody later.
TEST_P(InstalledPlan, NamesTheLostMemberAndNoCaller) {
  Call c;
  c.group = group, c.generation = 0, c.deadline = kNever, c.not_before = cluster.now() + kSecond;
  cluster.node(1).abandon_call(cluster.call(1, c).cookie);
  expect_lost(2 - lost, 0);
  cluster.heal(fault);
  cluster.run_until(cluster.now() + 3 * kSecond);
  EXPECT_EQ(cluster.open(lost, "work").generation, 1u) << "it is told how the first one ended";
  const std::uint64_t back = barrier(lost, 0).cookie;
  ASSERT_TRUE(cluster.run_until(cluster.now() + 5 * kSecond, [&] { return cluster.answer(back) != nullptr; }));
  EXPECT_EQ(cluster.answer(back)->event.done.verdict, Verdict::kPeerLost);
  EXPECT_EQ(cluster.answer(back)->event.done.ranks.index_of(lost), 0u);
}

INSTANTIATE_TEST_SUITE_P(Lost, InstalledPlan,
                         testing::Combine(testing::Values(NodeId{0}, NodeId{2}),
                                          testing::Values(Fault::Kind::kCrash, Fault::Kind::kPause),
                                          testing::Values(5, 7, 9, 14, 100)),  // half of the table are 6
                         [](const auto& info) {
                           return std::string(std::get<0>(info.param) == 0 ? "Leader" : "Another") +
                                  (std::get<1>(info.param) == Fault::Kind::kCrash ? "Dies" : "Stops") +
                                  std::to_string(std::get<2>(info.param));
                         });

TEST_P(Replan, WhatCannotBeIsRefused) {
  Workers w(busy_cluster_of(4), GetParam());
  ASSERT_TRUE(w.run_until_each(w.all_but({}), 5, kSecond));
  EXPECT_EQ(w.cluster.replan(0, "nobody's", plan_number(1)).admission, Admission::kUnknownGroup);
  EXPECT_EQ(w.cluster.replan(0, "all", plan_number(1)).admission, Admission::kUnknownGroup) << "nobody created it";
  const std::vector<TreeTableEntry> table(4);
  Plan given;
  given.distribution.kind = TreeKind::kGiven;
  given.given = TreeTable(table);
  EXPECT_EQ(w.cluster.replan(0, "work", given).admission, Admission::kNoPlan);
  begin(w, 0, plan_number(1));
  EXPECT_EQ(w.cluster.replan(0, "work", plan_number(2)).admission, Admission::kWouldBlock) << "one at a time";
}

INSTANTIATE_TEST_SUITE_P(Policies, Replan, testing::Values(GroupPolicy::kAll, GroupPolicy::kSurvivors),
                         [](const auto& info) { return info.param == GroupPolicy::kAll ? "All" : "Survivors"; });

}  // namespace
}  // namespace fibocast
