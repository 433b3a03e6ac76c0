// What the tests of the multicomputer have in common: one run that must succeed.
#pragma once

#include <gtest/gtest.h>

#include <memory>

#include "collectives/given_tree.h"
#include "firmware_sim/machine.h"
#include "firmware_sim/multicomputer.h"

namespace fibocast::test {

inline SimulationRun simulated(const Workload& workload, const NodeTable& nodes, Network& network,
                               const std::vector<NodeId>& node_of = {}) {
  std::string error;
  SimulationOptions options;
  options.node_of = node_of;
  const auto run = simulate_machine(workload, nodes, network, options, error);
  EXPECT_TRUE(run) << error;
  return run.value_or(SimulationRun{});
}

// The operation along any tree, which the workload keeps.
inline Workload along(const Tree& tree, Operation operation) {
  const auto table = std::make_shared<std::vector<TreeTableEntry>>(table_of(tree));
  Plan plan;
  plan.given = TreeTable(*table);
  plan.reduction.kind = plan.distribution.kind = TreeKind::kGiven;
  OperationShape shape{.operation = operation, .ranks = tree.size(), .choice = {Algorithm::kTrees}};
  if (combines(operation)) shape.type = ElementType::kInt64, shape.op = CombineOperator::kSum;
  const Workload work = workload_of(plan, shape);
  return {shape, [table, work](Rank rank, ScheduleWriter& out) { return work.write(rank, out); }};
}

// Nodes that cost nothing: all the time is the network's.
inline NodeTable free_nodes() {
  return {.kinds = {{.send = 0, .occupancy = 0}}, .kind_of = {}, .ports = Ports::kIndependent};
}

// The sentence for a description that cannot be built; empty if it can.
inline std::string mistake(const MachineDescription& description, Rank ranks = 4) {
  std::string error;
  const bool built = build_machine(description, ranks, error).has_value();
  EXPECT_EQ(built, error.empty());
  return error;
}

}  // namespace fibocast::test
