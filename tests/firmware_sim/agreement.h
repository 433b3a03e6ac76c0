// On the ideal machine the simulator and predict(), which share no code, must agree to the tick: what the short and the
// long test of that have in common.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "collectives/algorithm_catalog.h"
#include "collectives/cost_model.h"
#include "collectives/predict.h"
#include "firmware_sim/networks/ideal_network.h"
#include "tests/firmware_sim/simulated.h"

namespace fibocast::test {

inline SimulationRun simulated_ideal(const Workload& workload, const CostModel& m) {
  IdealNetwork network(workload.shape.ranks, m.latency);
  const PortCosts costs{m.send, m.occupancy, m.send_per_byte, m.occupancy_per_byte};
  return simulated(workload, {.kinds = {costs}, .kind_of = {}, .ports = m.ports}, network);
}

// (s, l, o): lambda = 1 + (l + o) / s is 4, 4 7/27, 9/5, 4 1/5 or 1; some with costs per byte.
inline std::vector<CostModel> agreement_models() {
  return {{.send = 1, .latency = 2, .occupancy = 1},
          {.send = 27, .latency = 0, .occupancy = 88},
          {.send = 5, .latency = 4, .occupancy = 0},
          {.send = 20, .latency = 3, .occupancy = 61, .send_per_byte = 2, .occupancy_per_byte = 3},
          {.send = 3, .latency = 0, .occupancy = 0, .send_per_byte = 1}};
}

// Every algorithm of the catalogue that this operation has, and the trees `lambda`.
inline std::vector<AlgorithmChoice> agreement_choices(Operation operation) {
  std::vector<AlgorithmChoice> all;
  for (const AlgorithmEntry& entry : algorithm_catalog()) {
    if (entry.operation != operation) continue;
    all.push_back(entry.choice);
    if (entry.choice.parameter == 0) continue;
    all.push_back(entry.choice);
    all.back().parameter = is_of_shares(operation) ? 9500 : entry.choice.tree == TreeKind::kLambda ? 450 : 5;
  }
  const AlgorithmChoice lambda{Algorithm::kTrees, TreeKind::kLambda};
  if (is_known(operation, lambda)) all.push_back(lambda);
  return all;
}

// 0 B, 1 KiB, 64 KiB, 1 MiB; a multicast's in segments too.
inline std::vector<OperationShape> agreement_shapes(Operation operation, const AlgorithmChoice& choice, Rank p) {
  OperationShape shape{.operation = operation, .ranks = p, .choice = choice};
  if (choice.algorithm == Algorithm::kFlooding) shape.ranks = 2 * p - 1;
  if (combines(operation) || operation == Operation::kConquer)
    shape.type = ElementType::kInt64, shape.op = CombineOperator::kSum;
  std::vector<OperationShape> shapes;
  for (const std::uint64_t bytes : {0u, 1u << 10, 1u << 16, 1u << 20}) {
    shape.total_bytes = bytes;
    shapes.push_back(shape);
    if (operation == Operation::kBarrier) break;
    if (operation != Operation::kMulticast || bytes < 1u << 16) continue;
    shapes.push_back(shape);
    shapes.back().segment_bytes = static_cast<std::uint32_t>(bytes / 16 - 5);
  }
  return shapes;
}

// False if there is no such operation.
inline bool expect_agreement(const OperationShape& shape, const CostModel& model) {
  const Plan plan = fibo_plan(model);
  if (!objection(shape).empty()) return false;
  const auto schedule = build_schedule(plan, shape);
  if (!schedule) return false;  // more stages than there are numbers
  const auto predicted = predict(*schedule, model);
  const SimulationRun run = simulated_ideal(workload_of(plan, shape), model);
  const bool agree = predicted && run.active == predicted->active && run.completion == predicted->completion;
  EXPECT_TRUE(agree) << operation_name(shape.operation) << ' ' << algorithm_name(shape.operation, shape.choice)
                     << " among " << shape.ranks << ", " << shape.total_bytes << " bytes, s = " << model.send;
  return true;
}

inline std::size_t expect_agreement_with_both_ports(const OperationShape& shape, CostModel model) {
  model.ports = Ports::kShared;
  const bool compared = expect_agreement(shape, model);
  model.ports = Ports::kIndependent;
  return compared + expect_agreement(shape, model);
}

// How many operations were compared.
inline std::size_t expect_agreement_of_all(Operation operation, Rank p, std::span<const CostModel> models) {
  std::size_t compared = 0;
  for (const AlgorithmChoice& choice : agreement_choices(operation))
    for (const OperationShape& shape : agreement_shapes(operation, choice, p))
      for (const CostModel& model : models) compared += expect_agreement_with_both_ports(shape, model);
  return compared;
}

}  // namespace fibocast::test
