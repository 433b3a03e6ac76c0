// Nodes of two versions beside each other: the newer ones plan by an algorithm, define groups and name operations that
// the older ones do not know. All run this code: what the newer ones say to the older ones is changed on its way.
#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "runtime/node/judgement.h"
#include "tests/runtime/node/team.h"
#include "transport/frame.h"

namespace fibocast {
namespace {

constexpr std::uint32_t kMembers = 4;
constexpr AlgorithmChoice kNewest{Algorithm::kTrees,
                                  TreeKind::kBinomial};  // the newer ones' name for what stands below
constexpr std::byte kUnknownAlgorithm{77}, kUnknownCode{20};
constexpr AlgorithmChoice kOld{Algorithm::kTrees, TreeKind::kSequential};
constexpr std::size_t kChoiceAt = 18;       // in a message about an operation
constexpr Nanoseconds kSoon = 3 * kSecond;  // a suspicion time, and a verdict
constexpr Operation kPlannedByTrees[] = {Operation::kBarrier, Operation::kMulticast, Operation::kReduce,
                                         Operation::kAllreduce};

// Bit i: node i is newer.
using Newer = unsigned;
bool is_newer(Newer newer, NodeId id) { return (newer >> id & 1) != 0; }
RankSet older_of(Newer newer) {
  RankSet ranks;
  for (Rank r = 0; r < kMembers; ++r)
    if (!is_newer(newer, r)) ranks.add(r);
  return ranks;
}

ClusterSettings cluster_with(Newer newer) {
  ClusterSettings settings = cluster_of(kMembers);
  settings.limits.groups = 4;
  settings.adjust = [newer](NodeSettings& node) {
    for (const Operation operation : kPlannedByTrees)
      for (std::size_t size = 0; size < kSizeClasses && is_newer(newer, node.self); ++size)
        set_choice(node.plan, operation, size, kNewest);
  };
  return settings;
}

bool names_choice(PeerMessageType type) {
  using enum PeerMessageType;
  return type <= kVerdict || type == kDecline || type == kDoubt || type == kCompare;
}

// Changes the bodies of small messages from newer nodes to older ones.
using Change = std::function<void(const PeerMessage& m, std::span<std::byte> body)>;
void translate(VirtualCluster& cluster, Newer newer, Change change) {
  cluster.network().set_filter(
      [newer, change = std::move(change)](NodeId from, NodeId to, VirtualNetwork::Datagram& datagram) {
        const std::optional<Frame> frame = decode_frame(datagram);
        if (!frame || frame->type != FrameType::kDataSmall || !is_newer(newer, from) || is_newer(newer, to))
          return true;
        const std::optional<PeerMessage> message = decode_peer_message(frame->body);
        if (message) change(*message, std::span(datagram).subspan(kFrameHeaderBytes, frame->body.size()));
        return true;
      });
}

void name_what_is_unknown(VirtualCluster& cluster, Newer newer) {
  translate(cluster, newer, [](const PeerMessage& m, std::span<std::byte> body) {
    if (names_choice(m.type) && m.choice == kNewest) body[kChoiceAt] = kUnknownAlgorithm;
  });
}

struct Asks {
  Operation operation;
  Rank root;
  std::size_t bytes;
};

std::vector<std::uint64_t> call_everywhere(Team& team, const Asks& asks, Generation generation,
                                           AlgorithmChoice choice) {
  std::vector<std::uint64_t> cookies;
  for (const NodeId id : team.up) {
    Call call;
    call.group = team.group, call.operation = asks.operation, call.root = asks.root, call.choice = choice;
    call.generation = generation, call.deadline = team.in(60 * kSecond);
    if (combines(asks.operation)) call.type = ElementType::kInt32, call.op = CombineOperator::kSum;
    const bool brings = combines(asks.operation) || (asks.operation == Operation::kMulticast && id == asks.root);
    if (brings) call.payload = team.cluster.node(id).put_payload(pattern(1, asks.bytes)).value();
    const Asked asked = team.cluster.call(id, call);
    EXPECT_EQ(asked.admission, Admission::kTaken) << "node " << id;
    cookies.push_back(asked.cookie);
  }
  return cookies;
}

// Who has all that it waits for may be through before anybody says that he does not know how.
bool may_be_through(const Asks& asks, NodeId id, Newer newer) {
  if (asks.operation == Operation::kReduce) return id != asks.root;
  return is_push(asks.operation) && is_newer(newer, id);
}

void expect_told(Team& team, const Asks& asks, const std::vector<std::uint64_t>& cookies, Newer newer) {
  const RankSet older = older_of(newer);
  for (NodeId id = 0; id < kMembers; ++id) {
    const CallDone& done = team.done(cookies[id]);
    if (may_be_through(asks, id, newer) && done.verdict == Verdict::kOk) continue;
    EXPECT_EQ(done.verdict, Verdict::kMismatch) << "node " << id;
    EXPECT_TRUE(!done.ranks.empty() || asks.operation == Operation::kReduce) << "node " << id;
    EXPECT_EQ(joined(done.ranks, older), older) << "node " << id;
  }
}

// Twice what only the newer ones know, then what all know, and so on.
void expect_soon_over(Team& team, const Asks& asks, Newer newer) {
  for (Generation g = 0; g < 12; ++g) {
    const bool old = g % 3 == 2;
    const auto cookies = call_everywhere(team, asks, g, old ? kOld : AlgorithmChoice{});
    ASSERT_TRUE(team.wait(cookies, kSoon)) << static_cast<int>(asks.operation) << " of root " << asks.root << ", "
                                           << asks.bytes << " bytes, generation " << g;
    if (old)
      team.expect_all(cookies, Verdict::kOk);
    else
      expect_told(team, asks, cookies, newer);
  }
  team.expect_nothing_held();
}

class Versions : public testing::TestWithParam<Newer> {};

TEST_P(Versions, WhatSomeDoNotKnowEndsAtOnceForAll) {
  const Newer newer = GetParam();
  for (const Asks& asks : {Asks{Operation::kBarrier, 0, 0}, Asks{Operation::kAllreduce, 0, 8},
                           Asks{Operation::kReduce, 2, 8}, Asks{Operation::kAllreduce, 0, 200'000}}) {
    Team team(cluster_with(newer));
    name_what_is_unknown(team.cluster, newer);
    expect_soon_over(team, asks, newer);
  }
}

TEST_P(Versions, WhatIsHandedOutInAnUnknownWayHoldsUpNobody) {
  const Newer newer = GetParam();
  for (Rank root = 0; root < kMembers; ++root)
    for (const std::size_t bytes : {5, 200'000}) {
      if (!is_newer(newer, root)) continue;  // the others take what comes, however it comes
      Team team(cluster_with(newer));
      name_what_is_unknown(team.cluster, newer);
      expect_soon_over(team, {Operation::kMulticast, root, bytes}, newer);
    }
}

// All know the algorithms of all; only their planners differ. Schedules may be such that no two of them talk.
TEST_P(Versions, WhatIsPlannedOtherwiseEndsSoonForAll) {
  const Newer newer = GetParam();
  for (const Operation operation : {Operation::kBarrier, Operation::kReduce, Operation::kAllreduce}) {
    const Asks asks{operation, 0, operation == Operation::kBarrier ? 0u : 8u};
    Team team(cluster_with(newer));
    for (Generation g = 0; g < 6; ++g) {
      const auto cookies = call_everywhere(team, asks, g, {});
      ASSERT_TRUE(team.wait(cookies, kSoon)) << static_cast<int>(operation) << " generation " << g;
      for (NodeId id = 0; id < kMembers; ++id) {
        EXPECT_TRUE(team.done(cookies[id]).ranks.empty());
        if (!may_be_through(asks, id, newer)) EXPECT_EQ(team.verdict(cookies[id]), Verdict::kMismatch) << id;
      }
    }
    team.expect_nothing_held();
  }
}

INSTANTIATE_TEST_SUITE_P(Mixtures, Versions, testing::Range(1u, (1u << kMembers) - 1));

GroupDefinition of_all(std::string_view name) {
  GroupDefinition d;
  d.name = name;
  d.members.add_run({0, kMembers});
  set_choice(d.plan, Operation::kBarrier, 0, kNewest);
  return d;
}

// Late is not otherwise: who is waited for has not called yet.
TEST(Comparison, EndsNothingThatIsAlike) {
  Team team(cluster_of(kMembers));
  std::vector<std::uint64_t> cookies;
  for (const NodeId id : team.up) {
    cookies.push_back(team.barrier(id, 0, team.in(60 * kSecond)));
    team.cluster.run_until(team.in(5 * kSecond));
  }
  ASSERT_TRUE(team.wait(cookies));
  team.expect_all(cookies, Verdict::kOk);
  for (const NodeId id : team.up) EXPECT_EQ(team.cluster.node(id).node().counters().mismatch, 0u);
}

// The older ones count it, and their host is told whose version is newer.
TEST(VersionsOfNodes, AreToldToTheHost) {
  constexpr Newer kFirst = 0b0001;
  Team team(cluster_with(kFirst));
  name_what_is_unknown(team.cluster, kFirst);
  ASSERT_TRUE(team.wait(call_everywhere(team, {Operation::kBarrier, 0, 0}, 0, {}), kSoon));
  unsigned told = 0;
  for (const Answer& a : team.cluster.peer_events())
    if (a.event.kind == Event::Kind::kPeerNewer) {
      told |= 1u << a.node;
      EXPECT_EQ(a.event.peer, 0u);
    }
  EXPECT_EQ(told, 0b1110u);
  for (const NodeId id : team.up) {
    EXPECT_EQ(team.cluster.node(id).node().counters().not_understood > 0, id != 0) << id;
    EXPECT_EQ(team.cluster.node(id).node().counters().malformed, 0u) << id;
  }
}

// A member says so of what is open with it. Of a barrier that somebody was released from all are.
TEST(VersionsInVerdicts, AReleaseStands) {
  Inquiry q;
  q.any_completed = true, q.verdict = Verdict::kMismatch;
  EXPECT_EQ(judgement::decide(q, Operation::kBarrier, {}), Verdict::kOk);
  EXPECT_EQ(judgement::decide(q, Operation::kAllreduce, {}), Verdict::kMismatch);
  q.any_completed = false;
  EXPECT_EQ(judgement::decide(q, Operation::kBarrier, {}), Verdict::kMismatch);
}

// Nodes 1 and 3 are newer. How they define a group, and what plan they bring, begins with an unknown choice.
constexpr Newer kOdd = 0b1010;
constexpr std::size_t kChoices = kPlannedOperations * kSizeClasses,
                      kBehindPlan = 15;  // bytes; the latter in definitions
void define_what_is_unknown(VirtualCluster& cluster, std::string_view name) {
  translate(cluster, kOdd, [name](const PeerMessage& m, std::span<std::byte> body) {
    const bool defines = m.type == PeerMessageType::kGroupDefine;
    if (m.group != group_id(name) || (!defines && m.type != PeerMessageType::kEpochHold)) return;
    body[body.size() - kChoices - (defines ? kBehindPlan : 0)] = kUnknownCode;
  });
}

TEST(VersionsOfGroups, AnUnknownPlanIsRefusedAtOnce) {
  Team team(cluster_with(0));
  define_what_is_unknown(team.cluster, "new");
  const Asked created = team.cluster.create(1, of_all("new"));
  ASSERT_TRUE(team.wait({created.cookie}, kSecond));
  EXPECT_EQ(team.verdict(created.cookie), Verdict::kMismatch);
  EXPECT_EQ(team.done(created.cookie).ranks, older_of(kOdd));
}

// Its members tell it of their groups one after the other: one that it does not know keeps no other from it.
TEST(VersionsOfGroups, AnOlderNodeThatComesBackIsToldOfAllThatItKnows) {
  Team team(cluster_with(0));
  for (const char* name : {"new", "known"}) {
    const Asked created = team.cluster.create(1, of_all(name));
    ASSERT_TRUE(team.wait({created.cookie}));
    ASSERT_EQ(team.verdict(created.cookie), Verdict::kOk);
  }
  define_what_is_unknown(team.cluster, "new");
  team.cluster.node(0).stop();
  team.cluster.node(2).stop();
  team.cluster.run_until(team.in(5 * kSecond));
  team.cluster.node(0).restart(70'000);
  ASSERT_TRUE(team.cluster.run_until(team.in(10 * kSecond),
                                     [&] { return team.cluster.node(0).node().connected_peers() == 2; }));
  team.cluster.run_until(team.in(kSecond));
  EXPECT_EQ(team.cluster.node(0).node().group_count(), 1u);
  EXPECT_EQ(team.cluster.node(0).node().group_info(0).name, "known");
}

TEST(VersionsOfGroups, AnUnknownPlanForAGroupThatWorksIsRefusedAtOnce) {
  Team team(cluster_with(0));
  GroupDefinition d = of_all("work");
  d.plan = {};
  const Asked created = team.cluster.create(1, d);
  ASSERT_TRUE(team.wait({created.cookie}));
  ASSERT_EQ(team.verdict(created.cookie), Verdict::kOk);
  define_what_is_unknown(team.cluster, "work");
  const Asked replanned = team.cluster.replan(1, "work", of_all("work").plan);
  ASSERT_TRUE(team.wait({replanned.cookie}, 5 * kSecond));
  EXPECT_EQ(team.verdict(replanned.cookie), Verdict::kRefused);
  EXPECT_EQ(team.done(replanned.cookie).ranks.size(), 1u);
}

}  // namespace
}  // namespace fibocast
