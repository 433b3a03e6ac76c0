#include "runtime/cli/bench_prediction.h"

#include "collectives/given_tree.h"
#include "collectives/predict.h"

namespace fibocast {
CostModel cost_model_of(const MachineModel& machine) {
  CostModel model;
  model.send = static_cast<std::uint64_t>(machine.s);
  model.latency = static_cast<std::uint64_t>(machine.l);
  model.occupancy = static_cast<std::uint64_t>(machine.o);
  return model;
}

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
  OperationShape shape;
  shape.operation = of.mode == BenchMode::kBarrier ? Operation::kBarrier : Operation::kMulticast;
  shape.ranks = of.ranks;
  const auto schedule = build_schedule(plan, shape);
  const auto prediction = schedule ? predict(*schedule, model) : std::nullopt;
  return prediction ? static_cast<Nanoseconds>(prediction->completion) : 0;
}

}  // namespace fibocast
