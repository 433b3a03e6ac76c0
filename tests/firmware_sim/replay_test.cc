#include "firmware_sim/replay.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "collectives/cost_model.h"
#include "collectives/predict.h"

namespace fibocast {
namespace {

constexpr Rank kReplayed = 8;
constexpr Nanoseconds kBegin = 5'000'000'000;                                 // of the recording's clock
constexpr CostModel kMachine = {.send = 27, .latency = 10, .occupancy = 78};  // in milliseconds

Incident incident_of(const std::vector<AlgorithmChoice>& barriers) {
  Incident incident;
  incident.machine.send = 27 * kMillisecond;
  incident.machine.latency = 10 * kMillisecond;
  incident.machine.receive = 78 * kMillisecond;
  IncidentGroup group{"some", {}, fibo_plan(kMachine)};
  for (Rank rank = 0; rank < kReplayed; ++rank) group.members.push_back(rank + 2);
  incident.groups.push_back(group);
  for (std::size_t i = 0; i < barriers.size(); ++i) {
    IncidentOperation o;
    o.generation = static_cast<Generation>(70 + i);
    o.shape = {.operation = Operation::kBarrier, .ranks = kReplayed, .choice = barriers[i]};
    o.called.assign(kReplayed, kBegin + static_cast<Nanoseconds>(i) * 2000 * kMillisecond);
    o.activated.assign(kReplayed, o.called.front() + 1000 * kMillisecond);
    incident.operations.push_back(o);
  }
  return incident;
}

std::vector<Nanoseconds> predicted(const AlgorithmChoice& choice) {
  const auto schedule =
      build_schedule(fibo_plan(kMachine), {.operation = Operation::kBarrier, .ranks = kReplayed, .choice = choice});
  const auto prediction = predict(*schedule, kMachine);
  std::vector<Nanoseconds> active;
  for (const std::uint64_t ticks : prediction->active) active.push_back(static_cast<Nanoseconds>(ticks) * kMillisecond);
  return active;
}

TEST(Replay, TakesAsLongAsPredictedFromTheRecordedCalls) {
  const std::vector<AlgorithmChoice> barriers = {{Algorithm::kTrees}, {Algorithm::kDissemination, {}, 3}};
  const Incident incident = incident_of(barriers);
  std::string error;
  const auto now = replay(incident, error);
  ASSERT_TRUE(now.has_value()) << error;
  for (std::size_t i = 0; i < barriers.size(); ++i)
    for (Rank rank = 0; rank < kReplayed; ++rank)
      EXPECT_EQ((*now)[i][rank] - incident.operations[i].called[rank], predicted(barriers[i])[rank])
          << i << " " << rank;
}

TEST(Replay, WaitsForWhoCameLate) {
  Incident incident = incident_of({{Algorithm::kTrees}});
  incident.operations[0].called[5] += 700 * kMillisecond;
  std::string error;
  const auto now = replay(incident, error);
  ASSERT_TRUE(now.has_value()) << error;
  EXPECT_GE(std::ranges::min((*now)[0]), incident.operations[0].called[5]);
}

// All operations by which daemons move data, rank 3 their root.
TEST(Replay, RunsEveryOperation) {
  Incident incident = incident_of({});
  for (std::uint8_t i = 1; i <= kOperations; ++i) {
    IncidentOperation o;
    o.generation = i;
    o.shape = {.operation = static_cast<Operation>(i), .ranks = kReplayed, .total_bytes = i == 1 ? 0u : 64u};
    o.shape.choice = default_choice(o.shape.operation, o.shape.total_bytes);
    o.shape.type = ElementType::kInt64;
    if (combines(o.shape.operation)) o.shape.op = CombineOperator::kSum;
    const bool rooted = is_push(o.shape.operation) || o.shape.operation == Operation::kReduce ||
                        o.shape.operation == Operation::kGather || o.shape.operation == Operation::kConquer;
    o.root = rooted ? 3 : 0;
    o.called.assign(kReplayed, kBegin + i * 5000 * kMillisecond);
    if (is_push(o.shape.operation)) o.called[1] = 0;  // not in the window
    o.activated.assign(kReplayed, o.called.front() + 1000 * kMillisecond);
    incident.operations.push_back(o);
  }
  std::string error;
  EXPECT_TRUE(replay(incident, error).has_value()) << error;
}

TEST(Replay, WhatCannotBeRunIsASentence) {
  std::string error;
  EXPECT_FALSE(replay(incident_of({}), error).has_value());
  EXPECT_NE(error.find("no whole operation"), std::string::npos);
  Incident wide = incident_of({{Algorithm::kTrees}});
  wide.groups[0].members.back() = 100'000;
  EXPECT_FALSE(replay(wide, error).has_value());
  EXPECT_NE(error.find("100001 nodes"), std::string::npos);
  Incident odd = incident_of({{Algorithm::kRing}});  // no algorithm of a barrier
  EXPECT_FALSE(replay(odd, error).has_value());
  Incident large = incident_of({{Algorithm::kTrees}});
  large.operations[0].shape.operation = Operation::kMulticast;
  for (const std::uint64_t bytes : std::vector<std::uint64_t>{(64 << 20) + 1, UINT64_MAX / 2}) {
    large.operations[0].shape.total_bytes = bytes;
    EXPECT_FALSE(replay(large, error).has_value());
    EXPECT_EQ(error, "an operation of " + std::to_string(bytes) + " bytes a rank; allowed are at most 67108864");
  }
  Incident backwards = incident_of({{Algorithm::kTrees}});
  backwards.machine.send = -1;
  EXPECT_FALSE(replay(backwards, error).has_value());
  EXPECT_EQ(error, "the costs of the incident's machine are not all 0 or more");
}

TEST(Replay, CountsInversions) {
  EXPECT_EQ(count_inversions({1, 2, 3}, {10, 20, 30}).pairs, 0u);
  EXPECT_EQ(count_inversions({1, 2, 3}, {10, 10, 10}).pairs, 0u);  // no order now
  EXPECT_EQ(count_inversions({1, 1, 3}, {20, 10, 30}).pairs, 0u);  // nor then
  const Inversions two = count_inversions({1, 2, 3}, {30, 20, 25});
  EXPECT_EQ(two.pairs, 2u);
  EXPECT_EQ(two.largest, 10);
}

}  // namespace
}  // namespace fibocast
