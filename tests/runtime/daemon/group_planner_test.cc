#include "runtime/daemon/group_planner.h"

#include <gtest/gtest.h>

namespace fibocast {
namespace {

Settings cluster_of(std::uint32_t nodes, bool one_host) {
  Settings settings;
  settings.node.rank = 0;
  settings.cluster.nodes.clear();
  for (std::uint32_t i = 0; i < nodes; ++i)
    settings.cluster.nodes.push_back(one_host ? "127.0.0.1:" + std::to_string(7000 + i)
                                              : "n" + std::to_string(i) + ":7117");
  return settings;
}

TEST(GroupPlanner, TreesAreTheOptimalOnesForTheModel) {
  Settings settings = cluster_of(4, false);
  settings.model.s_ns = 27, settings.model.l_ns = 40, settings.model.o_ns = 48;
  Plan trees = GroupPlanner(settings).trees();
  EXPECT_EQ(reduce_latencies(trees.distribution.s, trees.distribution.r).s, 27u);
  EXPECT_EQ(reduce_latencies(trees.distribution.s, trees.distribution.r).r, 88u);
  // A parent is busy o for each child; a child's message is on its way for s + l (A30).
  EXPECT_EQ(reduce_latencies(trees.reduction.s, trees.reduction.r).s, 48u);
  EXPECT_EQ(reduce_latencies(trees.reduction.s, trees.reduction.r).r, 67u);
  settings.model.r_ns = 90;  // r is more than l + o: the wire takes the rest
  trees = GroupPlanner(settings).trees();
  EXPECT_EQ(reduce_latencies(trees.distribution.s, trees.distribution.r).r, 10u);  // 27 : 90 = 3 : 10
}

TEST(GroupPlanner, PlansAreTheFastestForTheModel) {
  const Settings settings = cluster_of(19, false);
  GroupPlanner planner(settings);
  const Plan& plan = planner.plan(19);
  PlanQuestion question;
  question.shape = {.operation = Operation::kBarrier, .ranks = 19};
  question.model = cost_model(settings);
  EXPECT_EQ(planned_choice(plan, Operation::kBarrier, 0), answer(question).best()->choice);
  EXPECT_EQ(&plan, &planner.plan(19));  // remembered
}

// On one host the processors have to handle all messages: trees need the fewest.
TEST(GroupPlanner, NodesThatShareAHostUseTrees) {
  const Settings together = cluster_of(19, true), apart = cluster_of(19, false);
  EXPECT_EQ(shared_hosts(together).nodes, 19u);
  EXPECT_EQ(shared_hosts(apart).nodes, 1u);
  EXPECT_EQ(planned_choice(GroupPlanner(together).plan(19), Operation::kBarrier, 0).algorithm, Algorithm::kTrees);
  EXPECT_EQ(planned_choice(GroupPlanner(apart).plan(19), Operation::kBarrier, 0).algorithm, Algorithm::kDissemination);
  Settings emulated = together;
  emulated.emulation.s_ns = 27'000;
  EXPECT_EQ(shared_hosts(emulated).nodes, 1u);
}

// Small multicasts of many nodes of one host are stars, through memory as through sockets, where one datagram is for
// all. That total exchanges have too many messages to be followed one by one changes nothing.
TEST(GroupPlanner, SmallMulticastsOfManyNodesOfAHostAreStars) {
  const AlgorithmChoice star{.algorithm = Algorithm::kTrees, .tree = TreeKind::kSequential};
  for (const char* local : {"auto", "off"})
    for (const std::uint32_t nodes : {16u, 48u, 64u, 128u}) {
      Settings settings = cluster_of(nodes, true);
      settings.cluster.local = local;
      EXPECT_EQ(shared_hosts(settings).fans_out, settings.cluster.local == "off");
      EXPECT_EQ(planned_choice(GroupPlanner(settings).plan(nodes), Operation::kMulticast, 64), star)
          << local << " " << nodes;
    }
}

// Measured with two processors: a star, whose root sends once for all, takes 17 and 18 us where one phase takes 22 and
// 26; through memory one phase takes as long or less. With a processor for each nobody waits for another's turn.
TEST(GroupPlanner, BarriersOfFewNodesThatFanOutAreStars) {
  for (const std::uint32_t nodes : {3u, 4u})
    for (const char* local : {"auto", "off"})
      for (const std::uint32_t processors : {2u, 4u}) {
        Settings settings = cluster_of(nodes, true);
        settings.cluster.local = local, settings.model.processors = processors;
        const AlgorithmChoice choice = planned_choice(GroupPlanner(settings).plan(nodes), Operation::kBarrier, 0);
        const bool crowded = processors < nodes && settings.cluster.local == "off";
        EXPECT_EQ(choice.algorithm == Algorithm::kTrees, crowded) << nodes << " " << local << " " << processors;
        GroupPlanner planner(settings);
        const AlgorithmChoice two = planned_choice(planner.plan(2), Operation::kBarrier, 0);
        EXPECT_EQ(two.algorithm, Algorithm::kDissemination) << local << " " << processors;
      }
}

TEST(GroupPlanner, HostsFanOutWhereTheTransportDoes) {
  Settings settings = cluster_of(16, true);
  settings.cluster.local = "off";
  EXPECT_TRUE(shared_hosts(settings).fans_out);
  Settings tcp = settings, faulty = settings, apart = settings;
  tcp.cluster.transport = TransportKind::kTcp;
  faulty.faults.loss_percent = 1;
  for (std::string& node : apart.cluster.nodes) node = "192.0.2.1" + node.substr(node.find(':'));
  for (const Settings& other : {tcp, faulty, apart}) EXPECT_FALSE(shared_hosts(other).fans_out);
}

// All daemons must have measured the same, as they plan each for itself.
TEST(GroupPlanner, WhatWasMeasuredCountsMoreThanTheModel) {
  const Settings predicted = cluster_of(19, false);
  Settings settings = predicted;
  settings.model.measured = "barrier,19,0=kary:1";
  EXPECT_FALSE(complete_settings(settings).has_value());
  EXPECT_EQ(
      algorithm_name(Operation::kBarrier, planned_choice(GroupPlanner(settings).plan(19), Operation::kBarrier, 0)),
      "kary:1");
  EXPECT_EQ(GroupPlanner(settings).plan(18), GroupPlanner(predicted).plan(18));
  EXPECT_NE(cluster_digest(settings), cluster_digest(predicted));
  settings.model.measured = "barrier,19,0=nothing";
  ASSERT_TRUE(complete_settings(settings).has_value());
  EXPECT_EQ(complete_settings(settings)->key, "model.measured");
}

// Nobody sends the bytes that lie in memory, and a fan-out has them once for all: the flatter tree has fewer turns.
// Unless somebody has measured something.
TEST(GroupPlanner, BytesCostLittleWhereAllOfOneHostGetThemAtOnce) {
  Settings settings = cluster_of(16, true);
  EXPECT_EQ(byte_costs(settings).send, 0);
  EXPECT_EQ(byte_costs(settings).receive, 0.15);
  const auto choice = [&] { return planned_choice(GroupPlanner(settings).plan(16), Operation::kMulticast, 65'536); };
  const AlgorithmChoice in_memory = choice();
  const std::uint64_t digest = cluster_digest(settings);
  settings.cluster.local = "off";
  EXPECT_EQ(byte_costs(settings).send, 0);
  EXPECT_EQ(choice(), in_memory);
  settings.cluster.transport = TransportKind::kTcp;
  EXPECT_EQ(byte_costs(settings).send, 1);
  EXPECT_NE(choice(), in_memory);
  EXPECT_NE(cluster_digest(settings), digest);
  settings.cluster.local = "auto", settings.model.send_per_byte_ns = 2;
  EXPECT_EQ(byte_costs(settings).send, 2);
  settings.model.send_per_byte_ns = -1, settings.cluster.nodes[0] = "elsewhere:7000";
  EXPECT_EQ(byte_costs(settings).send, 1);
  EXPECT_EQ(byte_costs(cluster_of(1, true)).send, 1) << "nobody is there to share it with";
}

TEST(GroupPlanner, CostsThatOverflowAreAMistake) {
  Settings settings = cluster_of(4096, false);
  settings.limits.nodes = 4096;
  EXPECT_FALSE(complete_settings(settings).has_value());
  settings.model.s_ns = 3'600'000'000'000;
  settings.model.send_per_byte_ns = 0.001;
  ASSERT_TRUE(complete_settings(settings).has_value());
  EXPECT_EQ(complete_settings(settings)->key, "model.s_ns");
}

}  // namespace
}  // namespace fibocast
