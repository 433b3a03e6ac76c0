// A maker that is gone before all members have its group: it comes to all of them, or to none.
#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <vector>

#include "runtime/node/peer_message.h"
#include "tests/runtime/node/made_groups.h"
#include "transport/frame.h"

namespace fibocast {
namespace {

constexpr NodeId kMaker = 0, kNotTold = 3;

// Messages of this type do not come from `from` to `to`.
void withhold(VirtualCluster& cluster, PeerMessageType type, NodeId from, NodeId to) {
  cluster.network().set_filter([=](NodeId source, NodeId target, VirtualNetwork::Datagram& datagram) {
    const std::optional<Frame> frame = decode_frame(datagram);
    if (source != from || target != to || !frame || frame->type != FrameType::kDataSmall) return true;
    const std::optional<PeerMessage> m = decode_peer_message(frame->body);
    return !m || m->type != type;
  });
}

// ... and is gone before the last member has it.
void begin_to_make(Team& team) {
  withhold(team.cluster, PeerMessageType::kGroupDefine, kMaker, kNotTold);
  ASSERT_EQ(team.cluster.create(kMaker, group_of({0, 1, 2, 3})).admission, Admission::kTaken);
  ASSERT_TRUE(team.cluster.run_until(team.in(kSecond), [&] {
    return creation_at(team, 1) != kUnknownCreation && creation_at(team, 2) != kUnknownCreation;
  }));
}

void expect_everywhere(Team& team) {
  ASSERT_NE(creation_at(team, kNotTold), kUnknownCreation);
  for (const NodeId id : team.up) EXPECT_EQ(creation_at(team, id), creation_at(team, kNotTold)) << id;
  expect_barrier(team, {0, 1, 2, 3});
}

GroupDefinition group_if_missing(const std::vector<NodeId>& members) {
  GroupDefinition definition = group_of(members);
  definition.if_missing = true;
  return definition;
}

TEST(GroupIfMissing, IsThereWhenAllMembersHaveIt) {
  Team team(four());
  begin_to_make(team);
  const GroupDefinition wanted = group_if_missing({0, 1, 2, 3});
  for (const NodeId id : {kMaker, NodeId{1}})
    EXPECT_EQ(team.cluster.create(id, wanted).admission, Admission::kWouldBlock) << id;
  team.cluster.network().set_filter({});
  team.cluster.run_until(team.in(kSecond));
  for (const NodeId id : team.up) {
    EXPECT_EQ(team.cluster.create(id, wanted).admission, Admission::kIsThere) << id;
    EXPECT_EQ(team.cluster.create(id, group_of({0, 1, 2, 3})).admission, Admission::kExists) << id;
  }
}

// Its plan may be another one: daemons make plans by what each has measured.
TEST(GroupIfMissing, IsTheOneThatIsThereIfItIsAlikeButForItsPlan) {
  Team team(four());
  GroupDefinition made = group_of({0, 1, 2, 3});
  made.plan.distribution = {.kind = TreeKind::kFibo, .s = 3, .r = 1};
  const Asked asked = team.cluster.create(0, made);
  ASSERT_TRUE(team.wait({asked.cookie}));
  team.cluster.run_until(team.in(kSecond));
  GroupDefinition wanted = group_if_missing({0, 1, 2, 3});
  EXPECT_EQ(team.cluster.create(1, wanted).admission, Admission::kIsThere);
  wanted.participants = 2;
  EXPECT_EQ(team.cluster.create(1, wanted).admission, Admission::kExists);
  EXPECT_EQ(team.cluster.create(1, group_if_missing({0, 1, 2})).admission, Admission::kExists);
}

// Its members may have removed it since.
TEST(GroupIfMissing, IsNotForWhoIsNoMemberToTell) {
  Team team(four());
  ASSERT_EQ(create(team, 0, {1, 2, 3}), Verdict::kOk);
  team.cluster.run_until(team.in(kSecond));
  EXPECT_EQ(team.cluster.create(0, group_if_missing({1, 2, 3})).admission, Admission::kExists);
  EXPECT_EQ(team.cluster.create(1, group_if_missing({1, 2, 3})).admission, Admission::kIsThere);
}

// Somebody called a barrier of this name before anybody had made the group.
TEST(GroupIfMissing, MayBeTheOneOfAllNodesThatANameIsEnoughFor) {
  Team team(four());
  ASSERT_EQ(team.cluster.open(1, kName, 1).admission, Admission::kTaken);
  EXPECT_EQ(team.cluster.create(1, group_if_missing({0, 1, 2, 3})).admission, Admission::kIsThere);
  EXPECT_EQ(team.cluster.create(1, group_if_missing({0, 1})).admission, Admission::kExists);
  EXPECT_EQ(team.cluster.create(1, group_of({0, 1, 2, 3})).admission, Admission::kExists);
}

TEST(GroupWhoseMakerIsGone, ComesToAllMembers) {
  const std::vector<std::function<void(VirtualNode&)>> ends = {
      [](VirtualNode& node) { node.stop(); },
      [](VirtualNode& node) { node.leave(), node.stop(); },
      [](VirtualNode& node) { node.stop(), node.restart(77'000); },
  };
  for (const auto& end : ends) {
    Team team(four());
    begin_to_make(team);
    end(team.cluster.node(kMaker));
    team.cluster.run_until(team.in(3 * kSecond));
    EXPECT_EQ(creation_at(team, kNotTold), creation_at(team, 1));
    if (!team.cluster.node(kMaker).started()) team.cluster.node(kMaker).restart(77'000);
    team.cluster.run_until(team.in(5 * kSecond));
    expect_everywhere(team);
  }
}

TEST(GroupWhoseMakerIsGone, ComesToAllMembersOfAnotherOne) {
  Team team(four());
  withhold(team.cluster, PeerMessageType::kGroupDefine, kMaker, kNotTold);
  ASSERT_EQ(team.cluster.create(kMaker, group_of({1, 2, 3})).admission, Admission::kTaken);
  ASSERT_TRUE(team.cluster.run_until(team.in(kSecond), [&] { return creation_at(team, 1) != kUnknownCreation; }));
  team.cluster.node(kMaker).stop();
  team.cluster.run_until(team.in(3 * kSecond));
  EXPECT_NE(creation_at(team, kNotTold), kUnknownCreation);
  expect_barrier(team, {1, 2, 3});
}

// The maker is only cut off from those it has told; it goes on when it is back.
TEST(GroupWhoseMakerIsGone, IsTheSameWhenItComesBack) {
  ClusterSettings settings = four();
  settings.node.group_patience = 20 * kSecond;
  Team team(settings);
  begin_to_make(team);
  const Fault away{.kind = Fault::Kind::kPartition, .nodes = {kMaker}};
  team.cluster.begin(away);
  team.cluster.run_until(team.in(3 * kSecond));
  EXPECT_EQ(creation_at(team, kNotTold), creation_at(team, 1));
  team.cluster.network().set_filter(nullptr);
  team.cluster.heal(away);
  team.cluster.run_until(team.in(8 * kSecond));
  expect_everywhere(team);
}

TEST(GroupWhoseMakerIsGone, IsNowhereIfAMemberCannotTakeIt) {
  Team team(four());
  const Asked own = team.cluster.create(kNotTold, group_of({kNotTold}));
  ASSERT_TRUE(team.wait({own.cookie}));
  const CreationId other = creation_at(team, kNotTold);
  begin_to_make(team);
  team.cluster.node(kMaker).stop();
  team.cluster.run_until(team.in(3 * kSecond));
  for (const NodeId id : {1u, 2u}) EXPECT_EQ(creation_at(team, id), kUnknownCreation) << id;
  EXPECT_EQ(creation_at(team, kNotTold), other);
  team.cluster.node(kMaker).restart(77'000);
  team.cluster.run_until(team.in(5 * kSecond));
  for (const NodeId id : {0u, 1u, 2u}) EXPECT_EQ(creation_at(team, id), kUnknownCreation) << id;
}

// What a member still has to answer is for the maker that asked: the new one took it for the group of a creation that
// it had removed, and told everybody (seed 2520 --changes).
TEST(GroupWhoseMakerIsGone, IsNotTakenForRemovedByWhoIsStartedAgain) {
  ClusterSettings settings = four();
  settings.limits.message_credit = 200;
  Team team(settings);
  const Fault mute{.kind = Fault::Kind::kOneWay, .nodes = {2}};
  team.cluster.begin(mute);
  while (team.cluster.send(2, kMaker, kTag, pattern(0, 10)) == Admission::kTaken) continue;
  ASSERT_EQ(team.cluster.create(kMaker, group_of({0, 1, 2, 3})).admission, Admission::kTaken);
  ASSERT_TRUE(team.cluster.run_until(team.in(kSecond), [&] { return creation_at(team, 2) != kUnknownCreation; }));
  team.cluster.node(kMaker).stop();
  team.cluster.node(kMaker).restart(77'000);
  team.cluster.heal(mute);
  for (const NodeId other : {1u, 3u}) team.cluster.network().set_latency(other, kMaker, 100 * kMillisecond);
  team.cluster.run_until(team.in(5 * kSecond));
  expect_everywhere(team);
}

// A member does not hear that it is made, and asks; who was started again meanwhile and refuses it does not end it.
TEST(GroupThatIsMade, StaysWhenItsMakerIsGone) {
  Team team(four());
  withhold(team.cluster, PeerMessageType::kGroupMade, kMaker, 1);
  const Asked asked = team.cluster.create(kMaker, group_of({0, 1, 2, 3}));
  ASSERT_TRUE(team.wait({asked.cookie}));
  ASSERT_EQ(team.verdict(asked.cookie), Verdict::kOk);
  team.cluster.run_until(team.in(500 * kMillisecond));
  team.cluster.node(kMaker).stop();
  team.cluster.run_until(team.in(3 * kSecond));
  team.cluster.node(kMaker).restart(77'000);
  team.cluster.run_until(team.in(5 * kSecond));
  expect_everywhere(team);
}

// Who has no room for the group is told again after a pause only.
TEST(GroupThatAMemberDoesNotKnow, IsNotToldWithoutAPause) {
  Team team(four());
  ASSERT_EQ(create(team, 0, {0, 1, 2, 3}), Verdict::kOk);
  team.cluster.node(3).stop();
  team.cluster.node(3).restart(77'000);
  for (const char* name : {"one", "other"}) team.cluster.open(3, name);
  int told = 0;
  team.cluster.network().set_filter([&told](NodeId, NodeId to, VirtualNetwork::Datagram& datagram) {
    const std::optional<Frame> frame = decode_frame(datagram);
    const auto m = frame ? decode_peer_message(frame->body) : std::nullopt;
    told += to == 3 && m && m->type == PeerMessageType::kGroupDefine;
    return true;
  });
  team.cluster.run_until(team.in(3 * kSecond));
  EXPECT_EQ(creation_at(team, 3), kUnknownCreation);
  EXPECT_GT(told, 0);
  told = 0;
  for (Generation g = 0; g < 5; ++g) {
    std::vector<std::uint64_t> calls;
    for (const NodeId id : {0u, 1u, 2u})
      calls.push_back(team.cluster.barrier(id, group_id(kName), g, team.in(kSecond / 10)).cookie);
    EXPECT_TRUE(team.wait(calls, 3 * kSecond));
    for (const std::uint64_t call : calls) EXPECT_NE(team.verdict(call), Verdict::kOk);
  }
  team.cluster.run_until(team.in(kSecond));
  EXPECT_GT(told, 0);
  EXPECT_LT(told, 30);
}

// Two were started again. One hears of the group from the third, which the other one cannot reach: what it tells of the
// window would be lost there, and with it everybody's calls might wait for ever (seed 102397 --lives).
TEST(GroupThatAMemberDoesNotKnow, IsToldByTheOneThatCameBackToTheOther) {
  Team team(four());
  ASSERT_EQ(create(team, 2, {0, 1, 2}), Verdict::kOk);
  for (Generation g = 0; g < 6; ++g) expect_barrier(team, {0, 1, 2}, g);
  for (const NodeId id : {0u, 1u}) team.cluster.node(id).stop();
  bool all_cut = true;
  team.cluster.network().set_filter([&](NodeId from, NodeId to, auto&) {
    const bool old = from >= 2 || to >= 2;
    return !old || (!all_cut && from != 0 && to != 0);
  });
  for (const NodeId id : {0u, 1u}) team.cluster.node(id).restart(77'000 + id);
  team.cluster.run_until(team.in(kSecond / 2));
  EXPECT_EQ(team.cluster.node(0).node().connected_peers(), 1u);
  all_cut = false;
  team.cluster.run_until(team.in(5 * kSecond));
  for (const NodeId id : {0u, 1u}) EXPECT_EQ(creation_at(team, id), creation_at(team, 2)) << id;
}

}  // namespace
}  // namespace fibocast
