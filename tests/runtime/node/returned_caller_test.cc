// Callers that come again to what they were in before: what they are told of it, and that nothing of it is lost.
#include <gtest/gtest.h>

#include <array>
#include <optional>

#include "runtime/node/peer_message.h"
#include "tests/runtime/node/team.h"
#include "transport/frame.h"

namespace fibocast {
namespace {

// The payload went with the answers of those who were here in time.
TEST(ReturnedCaller, IsNotToldOkWithoutThePayload) {
  ClusterSettings settings = cluster_of(3);
  settings.node.client_grace = 100 * kMillisecond;
  Team team(settings);
  team.cluster.node(1).abandon_call(team.receive_multicast(1, 0, 0));
  const std::uint64_t sender = team.send_multicast(0, 0, pattern(1, 5'000)), other = team.receive_multicast(2, 0, 0);
  ASSERT_TRUE(team.wait({sender, other}));
  team.cluster.run_until(team.in(kSecond));
  const std::uint64_t back = team.receive_multicast(1, 0, 0);
  ASSERT_TRUE(team.wait({back}));
  EXPECT_EQ(team.verdict(back), Verdict::kStale);
}

// The others have what was on its way, when the receiver's place is given up.
TEST(ReturnedCaller, IsToldThatItWasLostAndNotItsNode) {
  ClusterSettings settings = cluster_of(2);
  settings.node.client_grace = 100 * kMillisecond;
  settings.network.latency_min = settings.network.latency_max = 5 * kMillisecond;
  Team team(settings);
  team.cluster.node(1).abandon_call(team.receive_multicast(1, 0, 0), "nightly");
  team.cluster.run_until(team.in(98 * kMillisecond));
  const std::uint64_t sender = team.send_multicast(0, 0, pattern(1, 100));
  team.cluster.run_until(team.in(kSecond));
  EXPECT_EQ(team.verdict(sender), Verdict::kOk);
  const std::uint64_t back = team.receive_multicast(1, 0, 0);
  ASSERT_TRUE(team.wait({back}));
  EXPECT_EQ(team.verdict(back), Verdict::kCallerLost);
  EXPECT_EQ(team.done(back).ranks, only(1));
  EXPECT_EQ(team.cluster.answer(back)->event.label.view(), "nightly");
}

class ReturnedCallerOfSeveral : public testing::Test {
 protected:
  ReturnedCallerOfSeveral() : team(cluster_of(2)) {
    for (NodeId id = 0; id < 2; ++id) group = team.cluster.open(id, "pairs", 2).group;
  }
  std::uint64_t call(NodeId id, std::uint32_t client, Operation operation, std::span<const std::byte> bytes = {},
                     Generation generation = 0) {
    Call c;
    c.group = group, c.operation = operation, c.generation = generation, c.client = client;
    c.deadline = team.in(10 * kSecond);
    if (!bytes.empty()) c.payload = team.cluster.node(id).put_payload(bytes).value();
    return team.cluster.call(id, c).cookie;
  }
  Team team;
  GroupId group = 0;
};

// Two participants of the source have died. The one that sends comes back first, to the place of the other one.
TEST_F(ReturnedCallerOfSeveral, SendsWhatTheDeadOneHadNotBrought) {
  constexpr Operation kMulticast = Operation::kMulticast;
  const auto payload = pattern(1, 100);
  team.cluster.node(0).abandon_call(call(0, 1, kMulticast), {}, 2);
  const std::uint64_t sender = call(0, 3, kMulticast, payload), other = call(0, 4, kMulticast);
  const std::uint64_t one = call(1, 1, kMulticast), two = call(1, 2, kMulticast);
  ASSERT_TRUE(team.wait({sender, other, one, two}));
  team.expect_all({sender, other, one, two}, Verdict::kOk);
  for (const std::uint64_t cookie : {one, two}) EXPECT_EQ(team.cluster.answer(cookie)->payload, payload);
  team.expect_nothing_held();
}

// Both come back in time, the one that died last comes last.
TEST_F(ReturnedCallerOfSeveral, TakesThePlaceThatIsKeptForTheShorterTime) {
  constexpr Operation kBarrier = Operation::kBarrier;
  const std::uint64_t first = call(0, 1, kBarrier), last = call(0, 2, kBarrier);
  for (const std::uint64_t dead : {last, first}) {
    team.cluster.node(0).abandon_call(dead, {}, 2);
    team.cluster.run_until(team.in(300 * kMillisecond));
  }
  std::vector<std::uint64_t> calls = {call(0, 3, kBarrier)};
  team.cluster.run_until(team.in(500 * kMillisecond));
  calls.push_back(call(0, 4, kBarrier));
  for (std::uint32_t client = 1; client < 3; ++client) calls.push_back(call(1, client, kBarrier));
  ASSERT_TRUE(team.wait(calls));
  team.expect_all(calls, Verdict::kOk);
}

// The window of open generations has held its call to the deadline when it comes back: it counts once, and the other
// participant of the source may bring the payload yet.
TEST_F(ReturnedCallerOfSeveral, CountsOnceWhereItsFormerCallWasHeldTooLong) {
  const Generation ahead = Limits::simulated().open_generations;
  const auto payload = pattern(1, 100);
  const auto multicast = [&](NodeId id, std::uint32_t client, Nanoseconds patience, bool brings = false) {
    Call c;
    c.group = group, c.operation = Operation::kMulticast, c.root = 1, c.generation = ahead, c.client = client;
    c.deadline = team.in(patience);
    if (brings) c.payload = team.cluster.node(id).put_payload(payload).value();
    return team.cluster.call(id, c).cookie;
  };
  team.cluster.node(1).abandon_call(multicast(1, 1, 100 * kMillisecond), {}, 2);
  team.cluster.run_until(team.in(200 * kMillisecond));
  const std::uint64_t back = multicast(1, 3, 10 * kSecond);
  std::vector<std::uint64_t> barriers, receivers;
  for (std::uint32_t client = 4; client < 6; ++client) receivers.push_back(multicast(0, client, 10 * kSecond));
  for (Generation g = 0; g < ahead; ++g)
    for (const NodeId id : {0u, 0u, 1u, 1u}) barriers.push_back(call(id, 4, Operation::kBarrier, {}, g));
  ASSERT_TRUE(team.wait(barriers));
  team.cluster.run_until(team.in(100 * kMillisecond));
  const std::uint64_t sender = multicast(1, 4, 10 * kSecond, true);
  ASSERT_TRUE(team.wait({back, sender, receivers[0], receivers[1]}));
  EXPECT_EQ(team.verdict(back), Verdict::kDeadlineExceeded) << "the earliest one counts";
  for (const std::uint64_t cookie : receivers)
    EXPECT_TRUE(team.verdict(cookie) != Verdict::kOk || team.cluster.answer(cookie)->payload == payload);
}

// ---- one caller too many: the host has forgotten a call, and somebody else makes it once more

std::uint64_t reduce(Team& team, NodeId id, Generation generation, Nanoseconds patience) {
  Call c;
  c.group = team.group, c.operation = Operation::kReduce, c.generation = generation, c.deadline = team.in(patience);
  c.type = ElementType::kUint64, c.op = CombineOperator::kSum;
  c.payload = team.cluster.node(id).put_payload(std::vector<std::byte>(2'000, std::byte{1})).value();
  return team.cluster.call(id, c).cookie;
}

TEST(RepeatedCall, OfWhichTheFirstOneWaitsForMemoryLosesNone) {
  ClusterSettings settings = cluster_of(2);
  settings.limits.payload_bytes = 16'000;  // for the vectors of three operations, and two that wait
  Team team(settings);
  std::vector<std::uint64_t> calls;
  for (Generation g = 0; g < 3; ++g) calls.push_back(reduce(team, 1, g, 10 * kSecond));
  team.cluster.node(1).forget_call(reduce(team, 1, 3, 10 * kSecond));
  calls.push_back(reduce(team, 1, 3, 10 * kSecond));
  for (Generation g = 0; g < 4; ++g) calls.push_back(reduce(team, 0, g, 10 * kSecond));
  ASSERT_TRUE(team.wait(calls));
  team.expect_all(calls, Verdict::kOk);
  for (Generation g = 0; g < 4; ++g)
    EXPECT_EQ(team.cluster.answer(calls[4 + g])->payload, std::vector<std::byte>(2'000, std::byte{2})) << g;
  calls.clear();
  team.expect_nothing_held();
}

// It waits for the window of open generations.
TEST(RepeatedCall, IsNotAskedForWhereTheFirstOneWillCountYet) {
  Team team(cluster_of(2));
  const Generation ahead = Limits::simulated().open_generations;
  for (Generation g = 0; g <= ahead; ++g) team.barrier(1, g, team.in(30 * kSecond));
  EXPECT_EQ(team.cluster.open(1, "all").generation, ahead + 1);
  EXPECT_EQ(team.cluster.open(0, "all").generation, 0u);
}

// The place of one that died is for who comes back: it begins there.
TEST(RepeatedCall, BeginsWhereTheDeadOneHadNotCountedYet) {
  Team team(cluster_of(2));
  Call c;
  c.group = team.group, c.generation = 0, c.deadline = team.in(10 * kSecond), c.not_before = team.in(kSecond);
  team.cluster.node(1).abandon_call(team.cluster.call(1, c).cookie);
  EXPECT_EQ(team.cluster.open(1, "all").generation, 0u);
  const std::uint64_t back = team.barrier(1, 0, team.in(10 * kSecond)),
                      other = team.barrier(0, 0, team.in(10 * kSecond));
  ASSERT_TRUE(team.wait({back, other}));
  team.expect_all({back, other}, Verdict::kOk);
}

// It was lost before it counted: nobody can succeed there any more.
TEST(RepeatedCall, DoesNotBeginWhereTheDeadOneIsLost) {
  ClusterSettings settings = cluster_of(2);
  settings.node.client_grace = 100 * kMillisecond;
  settings.network.latency_min = settings.network.latency_max = 5 * kMillisecond;
  Team team(settings);
  Call c;
  c.group = team.group, c.generation = 0, c.deadline = team.in(10 * kSecond), c.not_before = team.in(kSecond);
  team.cluster.node(1).abandon_call(team.cluster.call(1, c).cookie);
  team.cluster.run_until(team.in(101 * kMillisecond));
  EXPECT_EQ(team.cluster.node(1).node().counters().callers_lost, 1u);
  EXPECT_EQ(team.cluster.open(1, "all").generation, 1u);
}

// It dies when the release is on its way already, which its node then does not pass on.
TEST(CallerThatDies, HoldsUpNobodyWhoWaitsForItsNode) {
  for (NodeId dead = 1; dead < 8; ++dead) {
    for (const Operation operation : {Operation::kBarrier, Operation::kAllreduce}) {
      ClusterSettings settings = cluster_of(8);
      settings.node.client_grace = 0;
      settings.network.latency_min = settings.network.latency_max = 5 * kMillisecond;
      Team team(settings);
      const auto call = [&](NodeId id) {
        Call c;
        c.group = team.group, c.operation = operation, c.generation = 0, c.deadline = team.in(60 * kSecond);
        if (operation == Operation::kAllreduce) {
          c.type = ElementType::kUint64, c.op = CombineOperator::kSum;
          c.payload = team.cluster.node(id).put_payload(std::vector<std::byte>(80)).value();
        }
        return team.cluster.call(id, c).cookie;
      };
      std::vector<std::uint64_t> others;
      for (NodeId id = 0; id < 8; ++id)
        if (id != dead) others.push_back(call(id));
      team.cluster.run_until(team.in(100 * kMillisecond));
      const std::uint64_t last = call(dead);
      team.cluster.run_until(team.in(kMicrosecond));
      team.cluster.node(dead).abandon_call(last);
      EXPECT_TRUE(team.wait(others, kSecond)) << dead << " " << static_cast<int>(operation);
    }
  }
}

// The others along the tree get what is handed out through its node, whose channel to them is full just now.
TEST(CallerThatDies, IsToldOfWhenThereIsRoomAgain) {
  ClusterSettings settings = cluster_of(4);
  settings.node.client_grace = 0;
  settings.node.plan.distribution = {.kind = TreeKind::kKary, .arity = 1};  // 0 -> 1 -> 2 -> 3
  settings.limits.message_credit = 200;
  settings.network.latency_min = settings.network.latency_max = 5 * kMillisecond;
  Team team(settings);
  const std::vector<std::uint64_t> others = {team.receive_multicast(2, 0, 0), team.receive_multicast(3, 0, 0)};
  while (team.cluster.send(1, 2, kTag, pattern(0, 10)) == Admission::kTaken) continue;
  const std::uint64_t sender = team.send_multicast(0, 0, pattern(1, 100));
  team.cluster.node(1).abandon_call(team.receive_multicast(1, 0, 0));
  const Fault cut{.kind = Fault::Kind::kOneWay, .nodes = {2}};  // nothing is acknowledged
  team.cluster.begin(cut);
  team.cluster.run_until(team.in(100 * kMillisecond));
  EXPECT_EQ(team.verdict(sender), Verdict::kOk);
  team.cluster.heal(cut);
  EXPECT_TRUE(team.wait(others, kSecond));
  team.expect_all(others, Verdict::kCallerLost);
  for (const std::uint64_t cookie : others) EXPECT_EQ(team.done(cookie).ranks, only(1));
}

// Where it dies another node is taken for lost, which those who decide hear already: they are told of the node.
TEST(CallerThatDies, IsNotTakenForAnotherNodesCaller) {
  ClusterSettings settings = cluster_of(3);
  settings.node.client_grace = 0;
  Team team(settings);
  const Fault stopped{.kind = Fault::Kind::kPause, .nodes = {0}};
  team.cluster.begin(stopped);
  const std::uint64_t asks = team.barrier(1, 0, team.in(10 * kSecond)),
                      others = team.barrier(2, 0, team.in(10 * kSecond));
  ASSERT_TRUE(team.wait({asks, others}));
  team.expect_all({asks, others}, Verdict::kPeerLost);
  team.cluster.network().set_filter([](NodeId from, NodeId to, auto&) { return from != 0 || to != 2; });
  team.cluster.heal(stopped);
  const auto hears = [&](NodeId id) { return team.cluster.node(id).node().peer_belief(0) == Belief::kAlive; };
  ASSERT_TRUE(team.cluster.run_until(team.in(kSecond), [&] { return hears(1); }));
  ASSERT_FALSE(hears(2));
  const std::uint64_t first = team.barrier(1, 1, team.in(5 * kSecond));
  team.cluster.node(2).abandon_call(team.barrier(2, 1, team.in(10 * kSecond)));
  ASSERT_TRUE(team.wait({first}));
  EXPECT_EQ(team.verdict(first), Verdict::kPeerLost);
  EXPECT_EQ(team.done(first).ranks, only(0));
}

// A shell that comes while the verdict is found that it is missing joins the next generation, with what it brings.
class LateShell : public testing::TestWithParam<Operation> {
 protected:
  LateShell() : team(settings()) {}
  static ClusterSettings settings() {
    ClusterSettings s = cluster_of(2);
    s.network.latency_min = s.network.latency_max = 5 * kMillisecond;
    return s;
  }
  std::uint64_t call(NodeId id, Nanoseconds patience) {
    Call c;
    c.group = team.group, c.operation = GetParam(), c.deadline = team.in(patience);
    if (GetParam() == Operation::kAllreduce) c.type = ElementType::kUint64, c.op = CombineOperator::kSum;
    if (GetParam() == Operation::kAllreduce || id == 0) c.payload = team.cluster.node(id).put_payload(brought).value();
    return team.cluster.call(id, c).cookie;
  }
  Team team;
  const std::vector<std::byte> brought = std::vector<std::byte>(800, std::byte{1});
};

TEST_P(LateShell, BringsTheSameToTheNextGeneration) {
  const std::uint64_t first = call(1, 100 * kMillisecond);
  team.cluster.run_until(team.in(108 * kMillisecond));
  const std::uint64_t late = call(0, 10 * kSecond);
  ASSERT_TRUE(team.wait({first}));
  EXPECT_EQ(team.verdict(first), Verdict::kDeadlineExceeded);
  EXPECT_EQ(team.done(first).ranks, only(0));
  const std::uint64_t second = call(1, 5 * kSecond);
  ASSERT_TRUE(team.wait({late, second}));
  team.expect_all({late, second}, Verdict::kOk);
  EXPECT_EQ(team.done(late).generation, 1u);
  const bool sums = GetParam() == Operation::kAllreduce;
  EXPECT_EQ(team.cluster.answer(second)->payload, std::vector<std::byte>(800, sums ? std::byte{2} : std::byte{1}));
  team.expect_nothing_held();
}

INSTANTIATE_TEST_SUITE_P(Operation, LateShell, testing::Values(Operation::kMulticast, Operation::kAllreduce));

// What a member was cut off from: the window is past its generation, and it never hears how that ended.
bool tells_nothing_of_the_first(NodeId, NodeId to, VirtualNetwork::Datagram& datagram) {
  std::optional<Frame> frame = decode_frame(datagram);
  std::optional<PeerMessage> m = frame ? decode_peer_message(frame->body) : std::nullopt;
  if (to != 2 || !m || m->type != PeerMessageType::kVerdict || m->generation != 0) return true;
  m->verdict = Verdict::kPending;
  std::array<std::byte, kMaxPeerMessage> body;
  std::array<std::byte, kMaxHeadBytes> head;
  frame->body = std::span(body).first(encode_peer_message(*m, body));
  datagram.assign(head.begin(), head.begin() + static_cast<std::ptrdiff_t>(encode_frame_head(*frame, head)));
  return true;
}

TEST(ShellOfAMemberThatWasCutOff, JoinsTheGenerationThatTakesTheSlotOfItsOwn) {
  ClusterSettings settings = cluster_of(3);
  settings.network.latency_min = settings.network.latency_max = kMillisecond;
  Team team(settings);
  const Asked shell = team.cluster.receive_multicast(2, team.group, 0, std::nullopt, team.in(60 * kSecond));
  const Fault cut{.kind = Fault::Kind::kPartition, .nodes = {2}};
  team.cluster.begin(cut);
  const auto payload = pattern(1, 100);
  const Generation open = Limits::simulated().open_generations;
  for (Generation g = 0; g < open; ++g) {
    const std::uint64_t sender = team.send_multicast(0, g, payload), other = team.receive_multicast(1, 0, g);
    ASSERT_TRUE(team.wait({sender, other}));
  }
  team.cluster.network().set_filter(tells_nothing_of_the_first);
  team.cluster.heal(cut);
  const auto connected = [&](NodeId id) { return team.cluster.node(id).node().connected_peers() == 2; };
  ASSERT_TRUE(team.cluster.run_until(team.in(5 * kSecond), [&] { return connected(0) && connected(2); }));
  team.cluster.run_until(team.in(100 * kMillisecond));
  const std::uint64_t sender = team.send_multicast(0, open, payload), other = team.receive_multicast(1, 0, open);
  ASSERT_TRUE(team.wait({sender, other}));
  ASSERT_TRUE(team.wait({shell.cookie}, kSecond));
  EXPECT_EQ(team.verdict(shell.cookie), Verdict::kOk);
  EXPECT_EQ(team.done(shell.cookie).generation, open);
  EXPECT_EQ(team.cluster.answer(shell.cookie)->payload, payload);
}

}  // namespace
}  // namespace fibocast
