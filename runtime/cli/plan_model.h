// The model of a cluster as its daemons are set: the [model] of a settings file, for `fibocast plan why --model FILE`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "collectives/measured_choice.h"
#include "runtime/cli/plan_costs.h"

namespace fibocast {

struct PlanModel {
  CostOptions costs;
  HostSharing hosts;  // from cluster.nodes, cluster.local and model.processors
  std::vector<MeasuredChoice> measured;
};

// Nothing for a file that is not there or that a daemon would not start with; `error` is then a sentence.
std::optional<PlanModel> read_model(const std::string& file, std::string& error);

}  // namespace fibocast
