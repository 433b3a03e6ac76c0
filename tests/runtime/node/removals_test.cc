// Groups that are removed and made again, while members are away or others make one of the same name.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>

#include "runtime/node/peer_message.h"
#include "tests/runtime/node/made_groups.h"
#include "transport/frame.h"

namespace fibocast {
namespace {

const Fault kAway{.kind = Fault::Kind::kPartition, .nodes = {3}};

void remove_while_away(Team& team) {
  ASSERT_EQ(create(team, 0, {0, 1, 2, 3}), Verdict::kOk);
  team.cluster.begin(kAway);
  team.cluster.run_until(team.in(5 * kSecond));
  EXPECT_EQ(team.cluster.node(1).remove_group(kName), Admission::kTaken);
  team.cluster.run_until(team.in(kSecond));
}

TEST(RemovedGroup, DoesNotComeBackWithAMemberThatWasAway) {
  Team team(four());
  remove_while_away(team);
  team.cluster.heal(kAway);
  team.cluster.run_until(team.in(5 * kSecond));
  for (const NodeId id : team.up) EXPECT_EQ(creation_at(team, id), kUnknownCreation) << id;
}

TEST(RemovedGroup, MakesWayForTheNextOneAtAMemberThatWasAway) {
  Team team(four());
  remove_while_away(team);
  team.cluster.heal(kAway);
  ASSERT_TRUE(team.cluster.run_until(team.in(20 * kSecond),
                                     [&] { return team.cluster.node(2).node().connected_peers() == 3; }));
  EXPECT_EQ(create(team, 2, {1, 2, 3}), Verdict::kOk);
  EXPECT_EQ(creation_at(team, 3), creation_at(team, 2));
  ASSERT_TRUE(team.cluster.run_until(team.in(20 * kSecond),
                                     [&] { return team.cluster.node(1).node().connected_peers() == 3; }));
  expect_barrier(team, {1, 2, 3});
}

// A group of that name is tried again and again as long as a member is away: those that were refused push out no
// removal (seed 51020 --changes).
TEST(RemovedGroup, IsNotForgottenForManyThatWereNeverMade) {
  Team team(four());
  remove_while_away(team);
  team.cluster.node(1).stop();  // what the remover still sends to who is away
  team.cluster.node(1).restart(77'000);
  team.cluster.run_until(team.in(3 * kSecond));
  constexpr int kMany = 20;  // more than these nodes remember
  for (int i = 0; i < kMany; ++i) ASSERT_EQ(create(team, 0, {0, 1, 2, 3}), Verdict::kRefused) << i;
  team.cluster.heal(kAway);
  team.cluster.run_until(team.in(8 * kSecond));
  for (const NodeId id : team.up) EXPECT_EQ(creation_at(team, id), kUnknownCreation) << id;
  EXPECT_EQ(create(team, 0, {0, 1, 2, 3}), Verdict::kOk);
}

// A member that was started again knows of no removal: who stayed tells it, before one that was away can.
TEST(RemovedGroup, DoesNotComeBackByWayOfAMemberThatWasStartedAgain) {
  Team team(four());
  remove_while_away(team);
  team.cluster.node(2).stop();
  team.cluster.node(2).restart(77'000);
  team.cluster.run_until(team.in(3 * kSecond));
  const Fault others{.kind = Fault::Kind::kPartition, .nodes = {2, 3}};
  team.cluster.begin(others);
  team.cluster.heal(kAway);
  team.cluster.run_until(team.in(8 * kSecond));
  EXPECT_EQ(creation_at(team, 2), kUnknownCreation);
  EXPECT_EQ(creation_at(team, 3), kUnknownCreation);
}

TEST(RemovedGroup, IsMadeAnewByAnotherMemberAtOnce) {
  for (const std::vector<NodeId>& members : {std::vector<NodeId>{0, 1, 2, 3}, {1, 2, 3}}) {
    Team team(four());
    ASSERT_EQ(create(team, 0, {0, 1, 2, 3}), Verdict::kOk);
    team.cluster.network().set_latency(0, 3, 100 * kMillisecond);  // it is told last
    EXPECT_EQ(team.cluster.node(0).remove_group(kName), Admission::kTaken);
    ASSERT_TRUE(team.cluster.run_until(team.in(kSecond), [&] { return creation_at(team, 1) == kUnknownCreation; }));
    EXPECT_EQ(create(team, 1, members), Verdict::kOk);
    team.cluster.run_until(team.in(kSecond));
    for (const NodeId id : members) EXPECT_EQ(creation_at(team, id), creation_at(team, 1)) << id;
    expect_barrier(team, members);
  }
}

// The remover's channel to a member is full: it told the maker of the next group of the removal, and refused that group
// as long as it was telling the others; both went on asking and answering without a pause (seed 373 --changes).
TEST(RemovedGroup, MakesWayForTheNextOneThoughItsRemoverIsStillTelling) {
  ClusterSettings settings = four();
  settings.limits.message_credit = 200;
  Team team(settings);
  ASSERT_EQ(create(team, 0, {0, 1, 2, 3}), Verdict::kOk);
  const Fault away{.kind = Fault::Kind::kPartition, .nodes = {3}};
  team.cluster.begin(away);
  while (team.cluster.send(1, 3, kTag, pattern(0, 10)) == Admission::kTaken) continue;
  EXPECT_EQ(team.cluster.node(1).remove_group(kName), Admission::kTaken);
  ASSERT_TRUE(team.cluster.run_until(team.in(kSecond), [&] { return creation_at(team, 2) == kUnknownCreation; }));
  ASSERT_NE(creation_at(team, 1), kUnknownCreation) << "it has told all";
  const Asked next = team.cluster.create(2, group_of({0, 1, 2}));
  ASSERT_EQ(next.admission, Admission::kTaken);
  EXPECT_TRUE(team.wait({next.cookie}, 100 * kMillisecond));
  EXPECT_EQ(team.verdict(next.cookie), Verdict::kOk);
  team.cluster.heal(away);
  team.cluster.run_until(team.in(5 * kSecond));
  EXPECT_EQ(creation_at(team, 3), kUnknownCreation);
  expect_barrier(team, {0, 1, 2});
}

// ... and told of it only who connected when all were told: who came before, and was told of the group by a member that
// did not know yet, kept it (seed 2108 --changes).
TEST(RemovedGroup, IsToldToWhoConnectsWhileItsRemoverIsStillTelling) {
  ClusterSettings settings = four();
  settings.limits.message_credit = 200;
  settings.node.suspicion = 4 * kSecond;
  Team team(settings);
  ASSERT_EQ(create(team, 1, {1, 2, 3}), Verdict::kOk);
  team.cluster.node(2).stop();
  team.cluster.network().set_filter([](NodeId from, NodeId to, const auto&) { return from + to != 1 + 3; });
  while (team.cluster.send(1, 3, kTag, pattern(0, 10)) == Admission::kTaken) continue;
  EXPECT_EQ(team.cluster.node(1).remove_group(kName), Admission::kTaken);
  team.cluster.node(2).restart(77'000);
  ASSERT_TRUE(
      team.cluster.run_until(team.in(2 * kSecond), [&] { return team.cluster.node(2).node().connected_peers() == 3; }));
  ASSERT_NE(creation_at(team, 1), kUnknownCreation) << "it has told all";
  team.cluster.run_until(team.in(10 * kSecond));
  team.cluster.network().set_filter(nullptr);
  team.cluster.run_until(team.in(10 * kSecond));
  for (const NodeId id : team.up) EXPECT_EQ(creation_at(team, id), kUnknownCreation) << id;
}

// A caller died in the former group, and its answer is kept for who comes back: that is nobody in the next one (seed
// 504
// --changes --lives).
TEST(RemovedGroup, LeavesNoPlaceOfADeadCallerInTheNextOne) {
  Team team(four());
  ASSERT_EQ(create(team, 0, {0, 1}), Verdict::kOk);
  const Asked dead = team.cluster.barrier(1, group_id(kName), 0, team.in(5 * kSecond));
  team.cluster.node(1).abandon_call(dead.cookie);
  const Asked other = team.cluster.barrier(0, group_id(kName), 0, team.in(5 * kSecond));
  ASSERT_TRUE(team.wait({other.cookie}, 500 * kMillisecond));
  EXPECT_EQ(team.cluster.node(0).remove_group(kName), Admission::kTaken);
  ASSERT_TRUE(
      team.cluster.run_until(team.in(100 * kMillisecond), [&] { return creation_at(team, 1) == kUnknownCreation; }));
  ASSERT_EQ(create(team, 0, {0, 1}), Verdict::kOk);
  const Asked early = team.cluster.barrier(1, group_id(kName), 0, team.in(5 * kSecond));
  EXPECT_FALSE(team.wait({early.cookie}, 100 * kMillisecond)) << "the other one has not called";
  EXPECT_EQ(team.cluster.node(1).node().tables().requests, 1u);
}

// It was told to be generation 0 (seed 5 --changes --lives).
TEST(RemovedGroup, CancelsTheScheduledCallByItsNumber) {
  Team team(four());
  ASSERT_EQ(create(team, 0, {0, 1}), Verdict::kOk);
  Call call;
  call.group = group_id(kName), call.generation = 3;
  call.deadline = team.in(60 * kSecond), call.not_before = team.in(30 * kSecond);
  const Asked asked = team.cluster.call(1, call);
  ASSERT_EQ(asked.admission, Admission::kTaken);
  EXPECT_EQ(team.cluster.node(0).remove_group(kName), Admission::kTaken);
  ASSERT_TRUE(team.wait({asked.cookie}, kSecond));
  EXPECT_EQ(team.verdict(asked.cookie), Verdict::kCancelled);
  EXPECT_EQ(team.done(asked.cookie).generation, 3u);
}

// Its definition comes to this member after its removal has.
TEST(RemovedGroup, IsNotTakenFromItsCreatorAfterwards) {
  Team team(four());
  team.cluster.network().set_latency(0, 3, 100 * kMillisecond);
  const Asked created = team.cluster.create(0, group_of({0, 1, 2, 3}));
  ASSERT_TRUE(team.cluster.run_until(team.in(kSecond), [&] { return creation_at(team, 1) != kUnknownCreation; }));
  EXPECT_EQ(team.cluster.node(1).remove_group(kName), Admission::kTaken);
  team.cluster.run_until(team.in(kSecond));
  EXPECT_EQ(team.verdict(created.cookie), Verdict::kCancelled);
  for (const NodeId id : team.up) EXPECT_EQ(creation_at(team, id), kUnknownCreation) << id;
}

// A member says that it does not know the group any more, and is heard when the next one of that name has begun.
TEST(RemovedGroup, DoesNotEndCallsOfTheNextOne) {
  Team team(four());
  team.cluster.network().set_latency(0, 1, 100 * kMillisecond);
  ASSERT_EQ(create(team, 2, {0, 1}), Verdict::kOk);
  EXPECT_EQ(team.cluster.node(2).remove_group(kName), Admission::kTaken);
  team.cluster.run_until(team.in(kMillisecond / 2));
  const auto barrier = [&](NodeId id) {
    return team.cluster.barrier(id, group_id(kName), 0, team.in(5 * kSecond)).cookie;
  };
  const std::uint64_t former = barrier(1);
  ASSERT_TRUE(team.wait({former}));
  EXPECT_EQ(team.verdict(former), Verdict::kCancelled);
  ASSERT_EQ(create(team, 2, {0, 1}), Verdict::kOk);
  const std::uint64_t waits = barrier(1);
  team.cluster.run_until(team.in(kSecond / 2));
  EXPECT_EQ(team.cluster.node(0).node().counters().unknown_group, 1u);
  EXPECT_EQ(team.verdict(waits), Verdict::kPending);
  const std::uint64_t last = barrier(0);
  ASSERT_TRUE(team.wait({waits, last}));
  team.expect_all({waits, last}, Verdict::kOk);
}

// A member still owes its maker an answer, and has the next group of the name by then, of which that one is no member:
// it took the answer for one about a group that it had removed, and ended the next one (seed 6578 --changes).
TEST(RemovedGroup, IsNotAnsweredForByTheNextOne) {
  ClusterSettings settings = four();
  settings.limits.message_credit = 200;
  settings.node.suspicion = 10 * kSecond;
  Team team(settings);
  team.cluster.network().set_filter([](NodeId from, NodeId to, const auto&) { return from != 2 || to != 1; });
  while (team.cluster.send(2, 1, kTag, pattern(0, 10)) == Admission::kTaken) continue;
  ASSERT_EQ(team.cluster.create(1, group_of({0, 1, 2})).admission, Admission::kTaken);
  ASSERT_TRUE(team.cluster.run_until(team.in(kSecond), [&] {
    return creation_at(team, 0) != kUnknownCreation && creation_at(team, 2) != kUnknownCreation;
  }));
  EXPECT_EQ(team.cluster.node(0).remove_group(kName), Admission::kTaken);
  ASSERT_TRUE(team.cluster.run_until(team.in(kSecond), [&] { return creation_at(team, 2) == kUnknownCreation; }));
  ASSERT_EQ(create(team, 0, {0, 2}), Verdict::kOk);
  team.cluster.network().set_filter(nullptr);
  team.cluster.run_until(team.in(5 * kSecond));
  EXPECT_NE(creation_at(team, 2), kUnknownCreation);
  expect_barrier(team, {0, 2});
}

// Each side has removed more groups than either remembers. What one told the other it took in for another one that it
// was telling, and told that again: both went on without a pause (seed 1841 --changes).
TEST(RemovedGroups, AreToldOnceThoughThereAreTooManyToRemember) {
  Team team(four());
  const Fault apart{.kind = Fault::Kind::kPartition, .nodes = {2, 3}};
  team.cluster.begin(apart);
  team.cluster.run_until(team.in(5 * kSecond));
  for (std::uint32_t i = 0; i < 2 * Limits::simulated().groups + 1; ++i) {
    for (const NodeId maker : {0u, 2u}) {
      ASSERT_EQ(create(team, maker, {maker, maker + 1}), Verdict::kOk);
      ASSERT_EQ(team.cluster.node(maker).remove_group(kName), Admission::kTaken);
    }
    team.cluster.run_until(team.in(10 * kMillisecond));
  }
  team.cluster.heal(apart);
  team.cluster.run_until(team.in(5 * kSecond));
  for (const NodeId id : team.up) EXPECT_EQ(team.cluster.node(id).node().connected_peers(), 3u);
  const std::uint64_t sent = team.cluster.network().counters().sent;
  team.cluster.run_until(team.in(kSecond));
  EXPECT_LT(team.cluster.network().counters().sent - sent, 1'000u);
}

// Both definitions are alike: members would have one of either creation, and take no messages of the other one.
TEST(GroupMadeTwice, IsOneOrNone) {
  for (const Nanoseconds apart : {0, 300, 700, 1'100, 1'900, 2'100, 3'500}) {
    Team team(four());
    const Asked one = team.cluster.create(0, group_of({0, 1, 2, 3}));
    team.cluster.run_until(team.in(apart * kMicrosecond));
    const Asked two = team.cluster.create(1, group_of({0, 1, 2, 3}));
    team.cluster.run_until(team.in(5 * kSecond));
    const bool made = team.verdict(one.cookie) == Verdict::kOk || team.verdict(two.cookie) == Verdict::kOk;
    for (const NodeId id : team.up) {
      EXPECT_EQ(creation_at(team, id), creation_at(team, 0)) << id << " after " << apart;
      EXPECT_EQ(creation_at(team, id) != kUnknownCreation, made) << id << " after " << apart;
    }
    if (!made) EXPECT_EQ(create(team, 0, {0, 1, 2, 3}), Verdict::kOk);
    expect_barrier(team, {0, 1, 2, 3});
  }
}

// Who is no member may say once more what the members have.
TEST(GroupMadeTwice, IsTheSameGroup) {
  Team team(four());
  ASSERT_EQ(create(team, 0, {0, 1, 2}), Verdict::kOk);
  EXPECT_EQ(create(team, 3, {0, 1, 2}), Verdict::kOk);
  EXPECT_EQ(creation_at(team, 3), creation_at(team, 0));
  expect_barrier(team, {0, 1, 2});
  EXPECT_EQ(team.cluster.node(3).remove_group(kName), Admission::kTaken);
  team.cluster.run_until(team.in(kSecond));
  for (const NodeId id : team.up) EXPECT_EQ(creation_at(team, id), kUnknownCreation) << id;
}

// The channel to a member that never came up is full: nobody waits for it.
TEST(GroupThatWasRefused, IsRemovedThoughAMemberNeverCameUp) {
  ClusterSettings settings = four();
  settings.nodes = 65, settings.limits.nodes = 65, settings.limits.transfers = 130;
  Team team(settings, {64});
  std::vector<TreeTableEntry> entries;
  for (std::uint16_t i = 0; i < 65; ++i) entries.push_back({i, static_cast<std::uint16_t>(std::min(i + 1, 65)), 0});
  ASSERT_TRUE(complete_table(entries));
  GroupDefinition d;
  d.name = kName;
  d.members.add_run({0, 65});
  d.plan.reduction.kind = d.plan.distribution.kind = TreeKind::kGiven;
  d.plan.given = TreeTable(entries);
  const Asked refused = team.cluster.create(0, d);
  ASSERT_TRUE(team.wait({refused.cookie}));
  EXPECT_EQ(team.verdict(refused.cookie), Verdict::kRefused);
  team.cluster.run_until(team.in(kSecond));
  EXPECT_EQ(create(team, 0, {0, 1, 2}), Verdict::kOk);
}

// ---- what a node says that does not tell groups of one name apart

void leave_out_which_group(VirtualCluster& cluster, NodeId older) {
  cluster.network().set_filter([older](NodeId from, NodeId to, VirtualNetwork::Datagram& datagram) {
    std::optional<Frame> frame = decode_frame(datagram);
    if ((from != older && to != older) || !frame || frame->type != FrameType::kDataSmall) return true;
    std::optional<PeerMessage> m = decode_peer_message(frame->body);
    const bool says = m && (m->creation != kUnknownCreation || m->of_epoch);
    if (!says || m->type == PeerMessageType::kGroupRemoved) return true;
    m->creation = kUnknownCreation, m->unfinished = false, m->of_epoch.reset();
    std::array<std::byte, kMaxPeerMessage> body;
    std::array<std::byte, kMaxHeadBytes> head;
    frame->body = std::span(body).first(encode_peer_message(*m, body));
    datagram.assign(head.begin(), head.begin() + static_cast<std::ptrdiff_t>(encode_frame_head(*frame, head)));
    return true;
  });
}

TEST(GroupsBesideAnOlderNode, AreMadeAndRemovedAsBefore) {
  Team team(four());
  leave_out_which_group(team.cluster, 2);
  for (const NodeId creator : {0u, 2u, 1u}) {
    ASSERT_EQ(create(team, creator, {0, 1, 2, 3}), Verdict::kOk);
    expect_barrier(team, {0, 1, 2, 3});
    EXPECT_EQ(team.cluster.node((creator + 1) % 4).remove_group(kName), Admission::kTaken);
    team.cluster.run_until(team.in(kSecond));
    for (const NodeId id : team.up) EXPECT_EQ(team.cluster.node(id).node().group_count(), 1u) << id;
  }
}

// It has not read the cluster's file anew.
TEST(GroupsBesideAnOlderNode, AreRefusedByItAsByANewerOne) {
  for (const NodeId older : {0u, kNoNode}) {
    Team team(cluster_of(2));
    leave_out_which_group(team.cluster, older);
    team.cluster.node(1).adopt_cluster(2, 77);
    team.open(1);
    const std::uint64_t call = team.barrier(1, 0, team.in(60 * kSecond));
    ASSERT_TRUE(team.wait({call}, kSecond));
    EXPECT_EQ(team.verdict(call), Verdict::kRefused);
    EXPECT_EQ(team.done(call).ranks, only(0));
  }
}

// A member that was started again makes it once more, out of reach. While it waits for one that does not answer it
// takes no other one of that name.
TEST(GroupThatIsThere, IsToldToAMemberThatMadeAnotherOne) {
  Team team(four());
  ASSERT_EQ(create(team, 0, {0, 1, 2, 3}), Verdict::kOk);
  team.cluster.begin(kAway);
  team.cluster.node(3).stop();
  team.cluster.node(3).restart(77'000);
  const Asked asked = team.cluster.create(3, group_of({0, 1, 2, 3}));
  const Fault silent{.kind = Fault::Kind::kPartition, .nodes = {2}};
  team.cluster.begin(silent);
  team.cluster.run_until(team.in(200 * kMillisecond));
  team.cluster.heal(kAway);
  ASSERT_TRUE(team.wait({asked.cookie}));
  EXPECT_EQ(team.verdict(asked.cookie), Verdict::kRefused);
  team.cluster.run_until(team.in(kSecond));
  EXPECT_EQ(creation_at(team, 3), creation_at(team, 0)) << "before the silent one is back";
  team.cluster.heal(silent);
  team.cluster.run_until(team.in(5 * kSecond));
  ASSERT_NE(creation_at(team, 0), kUnknownCreation);
  EXPECT_EQ(creation_at(team, 3), creation_at(team, 0));
  expect_barrier(team, {0, 1, 2, 3});
}

}  // namespace
}  // namespace fibocast
