// On the ideal machine the simulator and predict(), which share no code, must agree to the tick.
#include <gtest/gtest.h>

#include "collectives/algorithm_catalog.h"
#include "collectives/planner.h"
#include "collectives/predict.h"
#include "firmware_sim/multicomputer.h"
#include "firmware_sim/networks/ideal_network.h"

namespace fibocast {
namespace {

SimulationRun simulated(const Workload& workload, const CostModel& m) {
  IdealNetwork network(workload.shape.ranks, m.latency);
  const NodeTable nodes{
      .kinds = {{m.send, m.occupancy, m.send_per_byte, m.occupancy_per_byte}}, .kind_of = {}, .ports = m.ports};
  std::string error;
  const auto run = simulate_machine(workload, nodes, network, {}, error);
  EXPECT_TRUE(run) << error;
  return run.value_or(SimulationRun{});
}

std::vector<AlgorithmChoice> choices(Operation operation) {
  std::vector<AlgorithmChoice> all;
  for (const AlgorithmEntry& entry : algorithm_catalog()) {
    if (entry.operation != operation) continue;
    all.push_back(entry.choice);
    if (!entry.name.ends_with(":K")) continue;
    all.push_back(entry.choice);
    all.back().parameter = 5;
  }
  if (is_known(operation, {Algorithm::kTrees, TreeKind::kLambda})) all.push_back({Algorithm::kTrees, TreeKind::kLambda});
  return all;
}

struct Data {
  std::uint64_t bytes;
  std::uint32_t segment;
};
constexpr Data kData[] = {{0, 0}, {1024, 0}, {65536, 0}, {1 << 20, 65536}};

OperationShape shape_of(Operation operation, const AlgorithmChoice& choice, Rank p, const Data& data) {
  OperationShape shape{operation, p, data.bytes, data.segment, choice};
  if (choice.algorithm == Algorithm::kFlooding) shape.ranks = 2 * p - 1;
  if (combines(operation)) shape.type = ElementType::kInt64, shape.op = CombineOperator::kSum;
  return shape;
}

void expect_agreement(const Plan& plan, const OperationShape& shape, const CostModel& model) {
  if (!objection(shape).empty()) return;
  const auto schedule = build_schedule(plan, shape);
  if (!schedule) return;  // more stages than there are numbers
  const auto expected = predict(*schedule, model);
  ASSERT_TRUE(expected);
  const SimulationRun run = simulated(workload_of(plan, shape), model);
  const std::string what = std::string(operation_name(shape.operation)) + ' ' +
                           algorithm_name(shape.operation, shape.choice) + ' ' + std::to_string(shape.ranks) + ' ' +
                           std::to_string(shape.total_bytes);
  ASSERT_EQ(run.active, expected->active) << what;
  ASSERT_EQ(run.completion, expected->completion) << what;
}

const std::vector<CostModel>& models() {
  static const std::vector<CostModel> table = {
      {.send = 1, .latency = 2, .occupancy = 1},
      {.send = 27, .latency = 0, .occupancy = 88},
      {.send = 5, .latency = 4, .occupancy = 0},  // lambda = 9/5
      {.send = 20, .latency = 3, .occupancy = 1, .send_per_byte = 2, .occupancy_per_byte = 3},
      {.send = 3, .latency = 0, .occupancy = 0, .send_per_byte = 1},
  };
  return table;
}

void expect_agreement_of_all(Rank p, const CostModel& model) {
  for (const AlgorithmEntry& entry : algorithm_catalog())
    if (&entry == find_entry(entry.operation, entry.choice))
      for (const Data& data : kData) {
        (void)data;
      }
  for (std::size_t i = 1; i <= kOperations; ++i) {
    const auto operation = static_cast<Operation>(i);
    for (const AlgorithmChoice& choice : choices(operation))
      for (const Data& data : kData) {
        if (data.segment > 0 && operation != Operation::kMulticast) continue;
        if (data.bytes > 0 && operation == Operation::kBarrier) continue;
        for (const Ports ports : {Ports::kShared, Ports::kIndependent}) {
          CostModel m = model;
          m.ports = ports;
          expect_agreement(fibo_plan(m), shape_of(operation, choice, p, data), m);
          if (testing::Test::HasFatalFailure()) return;
        }
      }
  }
}

TEST(Agreement, EveryAlgorithmOfTheCatalogue) {
  for (const CostModel& model : models())
    for (const Rank p : {1u, 2u, 3u, 4u, 5u, 7u, 8u, 13u, 16u, 19u, 31u}) expect_agreement_of_all(p, model);
}

}  // namespace
}  // namespace fibocast
