// Makes a scenario one of nodes over TCP (virtual_streams.h): with connections that break, stall and fill up.
#pragma once

#include "firmware_sim/swarm_scenario.h"

namespace fibocast {

// Its nodes talk over connections; what these bring along is a function of the scenario's seed. Loss becomes lateness,
// duplicates vanish, as TCP makes of them.
void use_streams(Scenario& scenario);

}  // namespace fibocast
