#include "runtime/cli/bench_prediction.h"

#include "collectives/algorithm_catalog.h"
#include "collectives/given_tree.h"
#include "collectives/predict.h"
#include "runtime/cli/cluster_record.h"

namespace fibocast {

Emulation emulation_of(const std::string& dir, const std::string& socket, std::optional<double> scale) {
  const auto record = socket.empty() ? read_cluster_record(dir) : std::nullopt;
  if (!record) return {.machine = {}, .scale = scale.value_or(1)};
  return {find_machine(record->machine).value_or(std::nullopt), scale.value_or(record->scale)};
}

void add_scale_option(CLI::App& app, std::optional<double>& scale) {
  app.add_option("--scale", scale, "so many times slower than the machine; default: as `fibocast up` was told")
      ->check(positive_number());
}

CostModel cost_model_of(const MachineModel& machine) {
  CostModel model;
  model.send = static_cast<std::uint64_t>(machine.s);
  model.latency = static_cast<std::uint64_t>(machine.l);
  model.occupancy = static_cast<std::uint64_t>(machine.o);
  return model;
}

namespace {

OperationShape shape_of(const BenchCase& of) {
  OperationShape shape;
  shape.ranks = of.ranks;
  shape.operation = operation_of(of.mode);
  std::string error;
  if (!of.algorithm.empty())
    shape.choice = choose_algorithm(shape.operation, of.algorithm, error).value_or(AlgorithmChoice{});
  return shape;
}

}  // namespace

Nanoseconds predict_case(const BenchCase& of, const MachineModel& machine) {
  const CostModel model = cost_model_of(machine);
  Plan plan = fibo_plan(model);
  plan.distribution = of.distribution;
  std::vector<TreeTableEntry> table;
  if (of.tree) {
    plan.distribution.kind = plan.reduction.kind = TreeKind::kGiven;
    if (!give_tree(of.tree->parents, of.tree->order, of.ranks, table, plan).empty()) return 0;
  }
  if (of.reduction) plan.reduction = *of.reduction;
  const auto schedule = build_schedule(plan, shape_of(of));
  const auto prediction = schedule ? predict(*schedule, model) : std::nullopt;
  if (!prediction) return 0;
  std::uint64_t time = prediction->completion;
  if (of.mode == BenchMode::kGather) time = prediction->active[0];
  if (of.mode == BenchMode::kAnswer) time = prediction->active[of.ranks - 1] + model.send + model.receive();
  return static_cast<Nanoseconds>(time);
}

}  // namespace fibocast
