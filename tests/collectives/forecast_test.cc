// The fast ways to a predicted time give what predict() gives, message by message.
#include "collectives/forecast.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "collectives/algorithm_catalog.h"
#include "collectives/predict.h"

namespace fibocast {
namespace {

constexpr CostModel kForecastModels[] = {
    {.send = 27, .latency = 0, .occupancy = 88},
    {.send = 5, .latency = 2, .occupancy = 2, .send_per_byte = 1, .occupancy_per_byte = 2},
    {.send = 1, .latency = 0, .occupancy = 0},
    {.send = 1, .latency = 3, .occupancy = 0, .send_per_byte = 3},
    {.send = 3, .latency = 1, .occupancy = 7, .occupancy_per_byte = 1},
};

OperationShape shape_of(const AlgorithmEntry& entry, Rank ranks, std::uint64_t bytes, std::uint32_t segment) {
  OperationShape shape{.operation = entry.operation, .ranks = ranks, .total_bytes = bytes};
  shape.choice = entry.choice;
  if (combines(entry.operation)) shape.type = ElementType::kInt64, shape.op = CombineOperator::kSum;
  if (entry.operation == Operation::kMulticast || entry.operation == Operation::kAllreduce)
    shape.segment_bytes = segment;
  return shape;
}

// What Limits bound.
std::pair<std::size_t, std::size_t> most_stages_and_transfers(const Schedule& schedule) {
  std::size_t stages = 0, transfers = 0;
  for (const RankPart& part : schedule.ranks)
    stages = std::max(stages, part.stages.size()), transfers = std::max(transfers, part.transfers.size());
  return {stages, transfers};
}

void compare(const OperationShape& shape, CostModel model, Ports ports) {
  model.ports = ports;
  const Plan plan = fibo_plan(model);
  const auto schedule = build_schedule(plan, shape);
  const auto fast = forecast(plan, shape, model);
  const std::string what = std::string(operation_name(shape.operation)) + " " +
                           algorithm_name(shape.operation, shape.choice) + " p " + std::to_string(shape.ranks) +
                           " bytes " + std::to_string(shape.total_bytes) + " s " + std::to_string(model.send);
  ASSERT_EQ(schedule.has_value(), fast.has_value()) << what;
  if (!schedule) return;
  const auto slow = predict(*schedule, model);
  ASSERT_TRUE(slow) << what;
  ASSERT_EQ(fast->completion, slow->completion) << what;
  ASSERT_EQ(fast->rounds, slow->rounds) << what;
  const std::pair<std::size_t, std::size_t> most(fast->stages, fast->transfers);
  ASSERT_EQ(most, most_stages_and_transfers(*schedule)) << what;
  std::uint64_t messages = 0;
  for (Rank rank = 0; rank < shape.ranks; ++rank) {
    NodeLoad load;
    for (const Stage& stage : schedule->ranks[rank].stages)
      for (std::uint32_t k = 0; k < stage.repeat; ++k) {
        messages += stage.sends;
        for (const Transfer& t : schedule->ranks[rank].view().sends(stage))
          load.ticks += model.send + transfer_bytes(shape, t, k) * model.send_per_byte;
        for (const Transfer& t : schedule->ranks[rank].view().receives(stage))
          load.ticks += model.occupancy + transfer_bytes(shape, t, k) * model.occupancy_per_byte;
      }
    ASSERT_EQ(fast->loads[rank].ticks, load.ticks) << what << " rank " << rank;
  }
  ASSERT_EQ(fast->messages, messages) << what;
}

class EveryForecast : public testing::TestWithParam<Ports> {};

TEST_P(EveryForecast, EqualsThePredictionOfAllRanks) {
  for (const AlgorithmEntry& entry : algorithm_catalog())
    for (const CostModel& model : kForecastModels)
      for (const Rank ranks : {1u, 2u, 3u, 5u, 8u, 13u, 19u, 32u, 64u}) {
        if (FIBOCAST_SANITIZED && ranks > 19) break;  // most of the time
        for (const std::uint64_t bytes : {0u, 8u, 2520u * 8, 4096u}) {
          compare(shape_of(entry, ranks, bytes, bytes / 5), model, GetParam());
          if (HasFatalFailure()) return;
        }
      }
}

TEST_P(EveryForecast, OfTreesWithOtherParameters) {
  for (const AlgorithmEntry& entry : algorithm_catalog())
    for (const std::uint16_t parameter : {1, 3, 8, 130, 475}) {
      OperationShape shape = shape_of(entry, 50, 1000, 96);
      shape.choice.parameter = parameter;
      const bool has_parameter = entry.name.ends_with(":K") || entry.name.ends_with(":L");
      if (!has_parameter || !is_known(entry.operation, shape.choice)) continue;
      for (const CostModel& model : kForecastModels) compare(shape, model, GetParam());
    }
}

INSTANTIATE_TEST_SUITE_P(Ports, EveryForecast, testing::Values(Ports::kShared, Ports::kIndependent));

TEST(Forecast, SymmetricAlgorithmsAreFollowedAtOneRank) {
  OperationShape shape{.operation = Operation::kAllreduce, .ranks = 64, .total_bytes = 4096};
  shape.type = ElementType::kInt64, shape.op = CombineOperator::kSum, shape.choice = {Algorithm::kHalving};
  const CostModel model{.send = 5, .occupancy = 4, .send_per_byte = 1};
  EXPECT_TRUE(is_symmetric(shape, model));
  shape.total_bytes = 4104;  // blocks of 8 and 16 bytes
  EXPECT_FALSE(is_symmetric(shape, model));
  EXPECT_TRUE(is_symmetric(shape, {.send = 5, .occupancy = 4}));
  shape.ranks = 48;
  EXPECT_FALSE(is_symmetric(shape, {.send = 5, .occupancy = 4}));
}

TEST(Forecast, TimesThatDoNotFitAreSeenBefore) {
  const OperationShape shape{.operation = Operation::kAlltoall, .ranks = 4096, .total_bytes = 1 << 30};
  EXPECT_TRUE(forecast_fits(shape, {.send = 27000, .occupancy = 88000}));
  EXPECT_FALSE(forecast_fits(shape, {.send = 1, .occupancy = 1, .send_per_byte = 1'000'000'000}));
}

}  // namespace
}  // namespace fibocast
