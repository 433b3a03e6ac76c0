// Makes a scenario harder, as a second seed decides: operations that move data, memory that is just enough, and faults
// of nodes and of the network that come and go.
#pragma once

#include <cstdint>

#include "firmware_sim/swarm_scenario.h"

namespace fibocast {

// make_scenario(seed) with all of that.
Scenario make_troubled_scenario(std::uint64_t seed);
// The same with groups that go on without members they lose: barriers and multicasts.
Scenario make_shrinking_scenario(std::uint64_t seed);
// What ./dev sim runs: every third seed shrinks, every second one changes the plans of its groups.
Scenario scenario_of(std::uint64_t seed);

}  // namespace fibocast
