// Nodes that share the processors of a host, worked out by hand.
#include "collectives/predict_hosts.h"

#include <gtest/gtest.h>

#include "collectives/algorithm_catalog.h"

namespace fibocast {
namespace {

constexpr CostModel kHostCosts{.send = 5, .latency = 2, .occupancy = 3, .wake = 20};

std::uint64_t time_of(Operation operation, const char* algorithm, Rank ranks, const HostSharing& hosts,
                      const CostModel& model = kHostCosts, std::uint64_t bytes = 0) {
  std::string error;
  OperationShape shape{.operation = operation, .ranks = ranks, .total_bytes = bytes};
  shape.choice = choose_algorithm(operation, algorithm, error).value();
  return predict_on_hosts(build_schedule(fibo_plan(model), shape).value(), model, hosts).value();
}

std::uint64_t multicast(const char* algorithm, Rank ranks, std::uint32_t processors) {
  return time_of(Operation::kMulticast, algorithm, ranks, {.nodes = ranks, .processors = processors});
}

// The root runs at 20 and has sent at 25; its application takes the processor until 45, the other one is free at 27.
TEST(PredictHosts, OneMessage) {
  EXPECT_EQ(multicast("sequential", 2, 2), 27u + 20 + 3);
  EXPECT_EQ(multicast("sequential", 2, 1), 45u + 20 + 3);
  EXPECT_EQ(time_of(Operation::kMulticast, "sequential", 2, {.nodes = 1, .processors = 1}), 50u) << "two hosts";
}

// Sent at 25, 30, 35. One processor: it is the root's until 55, then 23 for each and 20 for its application.
TEST(PredictHosts, ReceiversQueueForTheProcessor) {
  EXPECT_EQ(multicast("sequential", 4, 1), 55u + 43 + 43 + 23);
  EXPECT_EQ(multicast("sequential", 4, 2), 50u + 20 + 23) << "the first one's processor takes the last one";
}

// Each node has a processor: the last one's time is the root's. Of those that leave together the first one costs 12,
// each other a sixth.
TEST(PredictHosts, ShortMessagesOfAFanOutCostTheirSenderLess) {
  CostModel costs = kHostCosts;
  costs.send = 12;
  const auto time = [&](const HostSharing& h, std::uint64_t bytes) {
    return time_of(Operation::kMulticast, "sequential", 4, h, costs, bytes);
  };
  const HostSharing alone{.nodes = 4, .processors = 4}, hosts{.nodes = 4, .processors = 4, .fans_out = true};
  EXPECT_EQ(time(alone, 64), 20u + 3 * 12 + 2 + 20 + 3);
  EXPECT_EQ(time(hosts, 64), 20u + 12 + 2 * 2 + 2 + 20 + 3);
  EXPECT_EQ(time(hosts, 4096), time(alone, 4096)) << "long ones are sent one by one";
  EXPECT_EQ(time({.nodes = 1, .processors = 1, .fans_out = true}, 64), time({.nodes = 1, .processors = 1}, 64))
      << "as are those to other hosts";
}

TEST(PredictHosts, AChainNeverNeedsASecondProcessor) {
  // Each hop: 5 sent, 2 on the wire, 20 woken, 3 received.
  EXPECT_EQ(multicast("kary:1", 4, 2), 20u + 3 * 30);
}

// Both are called at 0. Rank 1 sends at 25, rank 0 has slept since 20 and is woken at 27 again: 50, sends, 55; rank 1
// is woken at 57.
TEST(PredictHosts, ABarrierWakesWhoWaits) {
  EXPECT_EQ(time_of(Operation::kBarrier, "sequential", 2, {.nodes = 2, .processors = 2}), 57u + 20 + 3);
}

TEST(PredictHosts, WhatHasComeMeanwhileIsTakenWithoutWakingAgain) {
  // One processor: rank 0 runs first and sleeps at 20; the others run at 40, 45 + 20, 70 + 20 and send; then rank 0
  // takes all three: 95 + 20 + 9 and sends 15; its application 20; then 23 + 20 + 23 + 20 + 23.
  EXPECT_EQ(time_of(Operation::kBarrier, "sequential", 4, {.nodes = 4, .processors = 1}), 95u + 20 + 9 + 15 + 20 + 109);
}

TEST(PredictHosts, BytesAndSeveralHosts) {
  CostModel model = kHostCosts;
  model.send_per_byte = 1, model.occupancy_per_byte = 2;
  EXPECT_EQ(time_of(Operation::kMulticast, "sequential", 2, {.nodes = 2, .processors = 2}, model, 100), 50u + 300);
  const HostSharing pairs{.nodes = 2, .processors = 1};
  EXPECT_LT(time_of(Operation::kBarrier, "dissemination:2", 8, pairs),
            time_of(Operation::kBarrier, "dissemination:2", 8, {.nodes = 8, .processors = 1}));
}

// More processors never make it longer here, and a processor for each node leaves nobody waiting.
TEST(PredictHosts, EveryAlgorithmEnds) {
  for (const AlgorithmEntry& entry : algorithm_catalog()) {
    if (entry.choice.algorithm == Algorithm::kFlooding || is_of_shares(entry.operation)) continue;
    OperationShape shape{.operation = entry.operation, .ranks = 12, .choice = entry.choice};
    if (entry.operation != Operation::kBarrier) shape.total_bytes = 96;
    if (!objection(shape).empty()) continue;
    const auto schedule = build_schedule(fibo_plan(kHostCosts), shape);
    ASSERT_TRUE(schedule) << entry.name;
    for (const std::uint32_t processors : {1u, 2u, 12u})
      EXPECT_TRUE(predict_on_hosts(*schedule, kHostCosts, {.nodes = 12, .processors = processors})) << entry.name;
  }
}

}  // namespace
}  // namespace fibocast
