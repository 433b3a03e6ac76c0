// Makes a scenario one of a cluster that is looked after: groups are removed and made again, under the same name and at
// once, by other members and with others; daemons leave cleanly and are started again; nodes are added to the cluster.
#pragma once

#include "firmware_sim/swarm_scenario.h"

namespace fibocast {

// As a seed of its own decides, which comes of the scenario's.
void let_change(Scenario& scenario);

}  // namespace fibocast
