// The plans of groups under the model of the settings (PROTOCOL 1): who creates a group plans for it, and the plan
// travels with its definition; a group that exists by its name is planned by each daemon, and daemons whose settings
// would give another plan refuse each other (cluster_digest()).
#pragma once

#include <map>

#include "collectives/planner.h"
#include "runtime/daemon/settings.h"

namespace fibocast {

// The model's costs, and what a tick of them is in ns.
TickedModel ticked_cost_model(const Settings& settings);
// The model's costs in ticks. Where nodes share hosts that do the work of all, see shared_hosts().
CostModel cost_model(const Settings& settings);
// The costs are small enough to be planned by: no predicted time of the cluster's operations passes 2^62 ticks.
bool is_plannable(const Settings& settings);
// What a byte costs, in ns. Where [model] leaves it open: what it does at 10 Gbit/s, or, where all nodes share the
// memory of one host, what it takes to copy it: who receives does that, and the sender has nothing to do.
struct ByteCosts {
  double send = 0, receive = 0;
};
ByteCosts byte_costs(const Settings& settings);
// How many of the cluster's nodes are on one host, by their names in cluster.nodes. One where the card is emulated: it
// makes each node a machine of its own.
HostSharing shared_hosts(const Settings& settings);

// One thread.
class GroupPlanner {
 public:
  explicit GroupPlanner(const Settings& settings);

  // The fastest algorithms for a group of so many ranks >= 1 (plan_for()): some 20 ms for 64 ranks, once.
  const Plan& plan(Rank ranks);
  // Only the trees that are optimal for the model.
  Plan trees() const { return fibo_plan(model_); }

 private:
  CostModel model_;
  HostSharing hosts_;
  Limits limits_;
  std::vector<MeasuredChoice> measured_;
  std::map<Rank, Plan> plans_;
};

}  // namespace fibocast
