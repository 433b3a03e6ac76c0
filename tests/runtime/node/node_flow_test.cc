// Node under load: application messages in order, and a slow application that holds the others back instead of
// filling memory.
#include <gtest/gtest.h>

#include <vector>

#include "firmware_sim/random.h"
#include "tests/runtime/node/team.h"

namespace fibocast {
namespace {

TEST(Messages, KeepTheirOrderWhateverTheLane) {
  ClusterSettings settings = cluster_of(2);
  settings.limits.message_credit = 8;
  settings.network.latency_max = 100 * kMicrosecond;
  Team team(settings);
  const std::vector<std::byte> large = pattern(1, 8 << 20), small = pattern(2, 8);
  EXPECT_EQ(team.cluster.send(0, 1, kTag, large), Admission::kTaken);
  EXPECT_EQ(team.cluster.send(0, 1, kTag, small), Admission::kTaken);
  const std::uint64_t first = team.cluster.receive(1, kTag).cookie, second = team.cluster.receive(1, kTag).cookie;
  ASSERT_TRUE(team.wait({first, second}));
  EXPECT_TRUE(team.cluster.answer(first)->payload == large);
  EXPECT_EQ(team.cluster.answer(second)->payload, small);
  EXPECT_EQ(team.cluster.answer(second)->event.peer, 0u);
  team.expect_nothing_held();
}

TEST(Messages, AreSettledOnceTheOtherHasThemAndNotBefore) {
  ClusterSettings settings = cluster_of(2);
  settings.faults = {
      {.kind = Fault::Kind::kOneWay, .begins = 20 * kSecond, .heals = 20 * kSecond + 400 * kMillisecond, .nodes = {0}}};
  Team team(settings);
  team.cluster.run_until(20 * kSecond);
  EXPECT_TRUE(team.cluster.node(0).node().is_settled());
  EXPECT_EQ(team.cluster.send(0, 1, kTag, pattern(1, 10)), Admission::kTaken);
  team.cluster.run_until(20 * kSecond + 300 * kMillisecond);
  EXPECT_FALSE(team.cluster.node(0).node().is_settled());
  team.cluster.run_until(22 * kSecond);
  for (NodeId id : team.up) EXPECT_TRUE(team.cluster.node(id).node().is_settled()) << id;
}

TEST(Messages, WithOtherTagsDoNotWait) {
  ClusterSettings settings = cluster_of(2);
  settings.limits.message_credit = 8;
  Team team(settings);
  EXPECT_EQ(team.cluster.send(0, 1, 1, pattern(1, 10)), Admission::kTaken);
  EXPECT_EQ(team.cluster.send(0, 1, 2, pattern(2, 10)), Admission::kTaken);
  const std::uint64_t second = team.cluster.receive(1, 2).cookie;
  ASSERT_TRUE(team.wait({second}));
  const std::uint64_t first = team.cluster.receive(1, 1).cookie;
  ASSERT_TRUE(team.wait({first}));
  EXPECT_EQ(team.cluster.answer(first)->payload, pattern(1, 10));
}

// Sends until the node says that it must wait; returns how many it took.
int send_until_full(Team& team, std::size_t bytes) {
  int taken = 0;
  for (int quiet = 0; quiet < 20 && taken < 10'000;) {
    if (team.cluster.send(0, 1, kTag, pattern(static_cast<std::uint64_t>(taken), bytes)) == Admission::kTaken) {
      ++taken, quiet = 0;
    } else {
      ++quiet;
    }
    team.cluster.run_until(team.in(10 * kMillisecond));
  }
  return taken;
}

class SlowReceiver : public testing::TestWithParam<std::size_t> {};

TEST_P(SlowReceiver, PushesBackAndLosesNothing) {
  Team team(cluster_of(2));
  const int taken = send_until_full(team, GetParam());
  EXPECT_GT(taken, 0);
  EXPECT_LT(taken, 10'000) << "nothing ever pushed back";
  team.cluster.run_until(team.in(kSecond));
  EXPECT_FALSE(team.cluster.node(0).node().is_settled()) << "what was taken and waits for room is not there yet";
  for (NodeId id : team.up)
    EXPECT_LE(team.cluster.node(id).node().payload_bytes_used(), Limits::simulated().payload_bytes);
  for (int i = 0; i < taken; ++i) {
    const std::uint64_t cookie = team.cluster.receive(1, kTag).cookie;
    ASSERT_TRUE(team.wait({cookie})) << i;
    EXPECT_TRUE(team.cluster.answer(cookie)->payload == pattern(static_cast<std::uint64_t>(i), GetParam())) << i;
  }
  team.cluster.run_until(team.in(kSecond));
  EXPECT_TRUE(team.cluster.node(0).node().is_settled());
  EXPECT_EQ(team.cluster.send(0, 1, kTag, pattern(1, GetParam())), Admission::kTaken);
  const std::uint64_t last = team.cluster.receive(1, kTag).cookie;
  ASSERT_TRUE(team.wait({last}));
  team.expect_nothing_held();
}

INSTANTIATE_TEST_SUITE_P(Bytes, SlowReceiver, testing::Values(8, 65'536, 4 << 20));

// A multicast does not wait for its receivers, but at most W generations of a group are open (PROTOCOL 7).
TEST(Window, ClosesWhenTheReceiversDoNotKeepUp) {
  ClusterSettings settings = cluster_of(3);
  settings.limits.open_generations = 8;
  Team team(settings);
  std::vector<std::uint64_t> sent;
  for (Generation g = 0; g < 10; ++g) sent.push_back(team.send_multicast(0, g, pattern(g, 100)));
  EXPECT_FALSE(team.wait(sent, kSecond));
  for (Generation g = 0; g < 8; ++g) EXPECT_EQ(team.verdict(sent[g]), Verdict::kOk) << g;
  for (Generation g = 8; g < 10; ++g) EXPECT_EQ(team.verdict(sent[g]), Verdict::kPending) << g;

  // How far the members are is told at every W/2-th generation.
  std::vector<std::uint64_t> received;
  for (Generation g = 0; g < 4; ++g) received.push_back(team.receive_multicast(1, 0, g));
  EXPECT_FALSE(team.wait({sent[8]}, kSecond)) << "node 2 has not received the first one yet";
  for (Generation g = 0; g < 4; ++g) received.push_back(team.receive_multicast(2, 0, g));
  ASSERT_TRUE(team.wait({sent[8], sent[9]}, kSecond));
  for (Generation g = 4; g < 10; ++g)
    for (NodeId id : {1u, 2u}) received.push_back(team.receive_multicast(id, 0, g));
  ASSERT_TRUE(team.wait(sent));
  ASSERT_TRUE(team.wait(received));
  team.expect_all(received, Verdict::kOk);
  team.expect_nothing_held();
}

// A root is one payload ahead of its receivers at most: then it waits until they have all before.
TEST(Window, ARootIsOnePayloadAheadOfItsReceivers) {
  ClusterSettings settings = cluster_of(2);
  settings.network.latency_min = settings.network.latency_max = 10 * kMillisecond;
  Team team(settings);
  const auto bytes = pattern(1, 100'000);
  const std::uint64_t first = team.send_multicast(0, 0, bytes), second = team.send_multicast(0, 1, bytes);
  EXPECT_TRUE(team.wait({first}, 5 * kMillisecond)) << "nothing can have come back yet";
  EXPECT_FALSE(team.wait({second}, 10 * kMillisecond)) << "nobody can have said yet that it has the first one";
  ASSERT_TRUE(team.wait({second}));
  const std::uint64_t third = team.send_multicast(0, 2, bytes);
  const std::vector<std::uint64_t> received = {team.receive_multicast(1, 0, 0), team.receive_multicast(1, 0, 1),
                                               team.receive_multicast(1, 0, 2)};
  ASSERT_TRUE(team.wait({third}));
  ASSERT_TRUE(team.wait(received));
  for (const std::uint64_t cookie : received) EXPECT_TRUE(team.cluster.answer(cookie)->payload == bytes);
  team.expect_nothing_held();
}

std::uint64_t data_frames_sent(const Team& team) {
  std::uint64_t sent = 0;
  for (NodeId id : team.up)
    for (NodeId peer : team.up)
      if (const ChannelCounters* c = team.cluster.node(id).node().peer_counters(peer))
        sent += c->frames_sent - c->bare_acks - c->probes;
  return sent;
}

struct Messages {
  AlgorithmChoice choice;
  std::uint64_t of_a_barrier;
};
class WindowOfBarriers : public testing::TestWithParam<Messages> {};

// Whatever their algorithm, barriers need no messages but their own.
TEST_P(WindowOfBarriers, IsToldByTheirOwnMessages) {
  Team team(cluster_of(4));
  const auto barrier = [&](Generation g) {
    std::vector<std::uint64_t> called;
    for (NodeId id : team.up) {
      Call call;
      call.group = team.group, call.generation = g, call.deadline = team.in(kSecond), call.choice = GetParam().choice;
      called.push_back(team.cluster.call(id, call).cookie);
    }
    ASSERT_TRUE(team.wait(called));
    team.expect_all(called, Verdict::kOk);
  };
  barrier(0);
  const std::uint64_t before = data_frames_sent(team);
  for (Generation g = 1; g <= 100; ++g) barrier(g);
  EXPECT_EQ(data_frames_sent(team) - before, 100 * GetParam().of_a_barrier);
}

INSTANTIATE_TEST_SUITE_P(Algorithms, WindowOfBarriers,
                         testing::Values(Messages{{Algorithm::kTrees}, 6},
                                         Messages{{Algorithm::kTrees, TreeKind::kSequential}, 6},
                                         Messages{{Algorithm::kTrees, TreeKind::kKary, 2}, 6},
                                         Messages{{Algorithm::kDissemination, {}, 2}, 8}));

// Nor do few operations between them, if they are with the barrier fewer than half of the window.
TEST(Window, IsToldByTheBarriersBetweenMulticasts) {
  ClusterSettings settings = cluster_of(4);
  settings.limits.open_generations = 8;
  Team team(settings);
  const auto step = [&](Generation g, int multicasts) {
    std::vector<std::uint64_t> called = team.barrier_everywhere(g, team.in(kSecond));
    for (int k = 1; k <= multicasts; ++k) {
      called.push_back(team.send_multicast(0, g + k, pattern(g, 64)));
      for (const NodeId id : {1u, 2u, 3u}) called.push_back(team.receive_multicast(id, 0, g + k));
    }
    ASSERT_TRUE(team.wait(called));
    team.expect_all(called, Verdict::kOk);
  };
  Generation g = 0;
  for (const int multicasts : {1, 2}) {
    step(g, multicasts), g += 1 + multicasts;
    const std::uint64_t before = data_frames_sent(team);
    for (int i = 0; i < 100; ++i) step(g, multicasts), g += 1 + multicasts;
    EXPECT_EQ(data_frames_sent(team) - before, 100 * (6 + 3 * multicasts)) << multicasts;
  }
}

// Wherever barriers left off telling, multicasts go on: nobody's window stays shut, in a group of several levels.
TEST(Window, OpensForMulticastsAfterAnyNumberOfBarriers) {
  for (const std::uint32_t open : {2u, 4u, 8u})
    for (Generation barriers = 0; barriers <= open; ++barriers) {
      ClusterSettings settings = cluster_of(16);
      settings.limits.open_generations = open;
      Team team(settings);
      for (Generation g = 0; g < barriers; ++g) {
        const std::vector<std::uint64_t> called = team.barrier_everywhere(g, team.in(kSecond));
        ASSERT_TRUE(team.wait(called));
      }
      for (Generation g = barriers; g < barriers + 3 * open; ++g) {
        std::vector<std::uint64_t> called = {team.send_multicast(g % 16, g, pattern(g, 64))};
        for (const NodeId id : team.up)
          if (id != g % 16) called.push_back(team.receive_multicast(id, g % 16, g));
        ASSERT_TRUE(team.wait(called, kSecond)) << open << " open, after " << barriers << " barriers, " << g;
        team.expect_all(called, Verdict::kOk);
      }
    }
}

// What was sent ahead of its grant and finds no room must not stop the lane for what has room (streams.h).
TEST(Budget, WhatWaitsForItHoldsUpNothingElse) {
  ClusterSettings settings = cluster_of(2);
  settings.limits.payload_bytes = 400'000;
  Team team(settings);
  const auto first = pattern(0, 10), second = pattern(1, 60'000), third = pattern(2, 50'000),
             other = pattern(3, 40'000);
  std::vector<std::uint64_t> sent;
  for (const auto& bytes : {first, second}) sent.push_back(team.send_multicast(0, sent.size(), bytes));
  ASSERT_TRUE(team.wait(sent));
  team.cluster.run_until(team.in(kSecond));
  sent.push_back(team.send_multicast(0, 2, third));  // nobody collects the first: only one fits behind it
  EXPECT_EQ(team.cluster.send(0, 1, kTag, other), Admission::kTaken);
  const std::uint64_t message = team.cluster.receive(1, kTag).cookie;
  ASSERT_TRUE(team.wait({message}, kSecond));
  EXPECT_TRUE(team.cluster.answer(message)->payload == other);

  std::vector<std::uint64_t> received;
  for (Generation g = 0; g < 3; ++g) received.push_back(team.receive_multicast(1, 0, g));
  ASSERT_TRUE(team.wait(received, kSecond));
  EXPECT_TRUE(team.cluster.answer(received[1])->payload == second);
  EXPECT_TRUE(team.cluster.answer(received[2])->payload == third);
  EXPECT_EQ(team.cluster.node(1).node().counters().malformed, 0u);
  team.expect_nothing_held();
}

// What nobody reads holds up who sends more of it, and no operation.
TEST(Budget, OfWhatIsSentMessagesLeaveAQuarterToOperations) {
  for (const NodeId to : {0u, 1u}) {
    ClusterSettings settings = cluster_of(2);
    settings.limits.payload_bytes = 4 << 20;
    Team team(settings);
    constexpr std::size_t kMessage = 100'000, kQuarter = (4 << 20) / 16;
    int taken = 0;
    for (; taken < 1'000 && team.cluster.send(0, to, kTag, pattern(1, kMessage)) == Admission::kTaken; ++taken)
      team.cluster.run_until(team.in(100 * kMillisecond));
    EXPECT_LT(taken, 1'000) << "nothing ever pushed back";
    for (Generation g = 0; g < 3; ++g) {
      const auto sent = team.send_multicast(0, g, pattern(g, kQuarter)), received = team.receive_multicast(1, 0, g);
      ASSERT_TRUE(team.wait({sent, received}, kSecond)) << g;
      EXPECT_TRUE(team.cluster.answer(received)->payload == pattern(g, kQuarter)) << g;
      team.cluster.run_until(team.in(100 * kMillisecond));  // until the root has heard that it is there
    }
    for (int i = 0; i < taken; ++i) ASSERT_TRUE(team.wait({team.cluster.receive(to, kTag).cookie}, kSecond)) << i;
    EXPECT_EQ(team.cluster.send(0, to, kTag, pattern(1, kMessage)), Admission::kTaken);
    ASSERT_TRUE(team.wait({team.cluster.receive(to, kTag).cookie}, kSecond));
    team.expect_nothing_held();
  }
}

// One may be as large as an operation's data: then it is alone.
TEST(Budget, OfWhatIsSentOneMessageMayHaveAll) {
  ClusterSettings settings = cluster_of(2);
  settings.limits.payload_bytes = 4 << 20;
  Team team(settings);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(team.cluster.send(0, 0, kTag, pattern(1, 1 << 20)), Admission::kTaken);
    EXPECT_EQ(team.cluster.send(0, 0, kTag, pattern(1, 1)), Admission::kWouldBlock);
    ASSERT_TRUE(team.wait({team.cluster.receive(0, kTag).cookie}, kSecond));
  }
  EXPECT_EQ(team.cluster.send(0, 0, kTag, pattern(1, (1 << 20) + 1)), Admission::kWouldBlock) << "put_payload()";
}

// Applications that receive but do not release: the byte budget holds, and the rest goes on once they do.
TEST(Budget, HoldsWhileApplicationsKeepTheirPayloads) {
  ClusterSettings settings = cluster_of(2);
  settings.limits.payload_bytes = 4 << 20;
  Team team(settings);
  team.cluster.keep_payloads(true);
  constexpr std::size_t kBytes = 600'000;  // one fits each quarter: for what is sent, for what comes, for what is ahead
  const auto send = [&](Generation g) {
    const auto bytes = pattern(g, kBytes);
    return team.cluster.send_multicast(0, team.group, 0, g, team.in(60 * kSecond), bytes).admission;
  };
  std::vector<std::uint64_t> received;
  for (Generation g = 0; g < 4; ++g) {
    EXPECT_EQ(send(g), g < 3 ? Admission::kTaken : Admission::kWouldBlock) << g;
    received.push_back(team.receive_multicast(1, 0, g));
    team.cluster.run_until(team.in(kSecond));
    EXPECT_EQ(team.cluster.answer(received.back()) != nullptr, g < 2) << g;
  }
  EXPECT_LE(team.cluster.node(1).node().payload_bytes_used(), settings.limits.payload_bytes);
  for (Generation g = 0; g < 4; ++g) {
    ASSERT_TRUE(team.wait({received[g]}, 5 * kSecond)) << g;
    EXPECT_TRUE(team.cluster.answer(received[g])->payload == pattern(g, kBytes)) << g;
    team.cluster.node(1).release(team.done(received[g]).payload);
    team.cluster.run_until(team.in(kSecond));
    if (g == 0) {
      EXPECT_EQ(send(3), Admission::kTaken);
    }
  }
  team.expect_nothing_held();
}

// Of two participants one has gone on without the other: what it passes waits for the window, which waits for the
// other.
TEST(NodeFlow, PassesLeaveRoomForTheCallThatMovesTheWindow) {
  ClusterSettings settings = cluster_of(2);
  settings.limits.requests = 12;
  VirtualCluster cluster(settings);
  cluster.start_all();
  ASSERT_TRUE(cluster.connect_all());
  const GroupId group = cluster.open(0, "all/pairs", 2).group;
  Call passed;
  passed.group = group, passed.generation = 0;
  while (cluster.node(0).pass(passed) == Admission::kTaken) ASSERT_LT(++*passed.generation, 100u);
  for (Generation g = 0; g < 40; ++g) {
    const Asked asked = cluster.barrier(0, group, g, cluster.now() + kSecond);
    ASSERT_EQ(asked.admission, Admission::kTaken) << g;
    ASSERT_TRUE(
        cluster.run_until(cluster.now() + 5 * kSecond, [&] { return cluster.answer(asked.cookie) != nullptr; }));
    if (g >= *passed.generation || cluster.node(0).pass(passed) == Admission::kTaken) ++*passed.generation;
  }
}

// Two groups on the same nodes go round the same ring, each with more blocks than there are streams: a stream that is
// kept for data to come may not keep another group's from passing.
TEST(NodeFlow, RingsOfTwoGroupsDoNotWaitForEachOther) {
  constexpr NodeId kNodes = 10;
  for (std::uint64_t seed = 1; seed <= (FIBOCAST_SANITIZED ? 5u : 40u); ++seed) {
    ClusterSettings settings = cluster_of(kNodes);
    settings.limits.stages = 2 * kNodes, settings.limits.transfers = 4 * kNodes, settings.limits.bulk_streams = 2;
    settings.network.latency_max = 10 * kMillisecond;
    settings.seed = seed;
    VirtualCluster cluster(settings);
    cluster.start_all();
    ASSERT_TRUE(cluster.connect_all());
    Random random(seed);
    std::vector<std::uint64_t> called;
    const auto call = [&](NodeId id, GroupId group) {
      Call c;
      c.group = group, c.generation = 0, c.deadline = cluster.now() + 60 * kSecond;
      c.operation = Operation::kAllgather, c.choice.algorithm = Algorithm::kRing;
      c.payload = *cluster.node(id).put_payload(pattern(id, 20'000));
      called.push_back(cluster.call(id, c).cookie);
    };
    for (NodeId id = 0; id < kNodes; ++id)
      for (const char* name : {"all", "all/other"}) {
        const GroupId group = cluster.open(id, name).group;
        cluster.at(cluster.now() + random.between(0, 50 * kMillisecond), [&, id, group] { call(id, group); });
      }
    cluster.run_until(cluster.now() + 10 * kSecond);
    ASSERT_EQ(called.size(), 2 * kNodes);
    for (const std::uint64_t cookie : called) {
      ASSERT_NE(cluster.answer(cookie), nullptr) << seed;
      EXPECT_EQ(cluster.answer(cookie)->event.done.verdict, Verdict::kOk) << seed;
    }
  }
}

}  // namespace
}  // namespace fibocast
