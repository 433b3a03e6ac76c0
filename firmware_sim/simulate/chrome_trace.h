// A run in the Chrome trace format: open it in Perfetto.
#pragma once

#include <iosfwd>

#include "firmware_sim/experiment.h"

namespace fibocast {

// A JSON array of complete events, one for each time that a port was busy: rank as process, its sending port as thread
// 0 and, where ports are independent, its receiving port as thread 1. Microseconds; if the machine has no unit of time,
// its unit counts as one. Precondition: the run was recorded.
void write_chrome_trace(const Experiment& experiment, const SimulationRun& run, std::ostream& out);

}  // namespace fibocast
