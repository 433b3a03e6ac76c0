// A run as a picture in text, as the papers draw them: a line per rank, time to the right.
#pragma once

#include <string>

#include "firmware_sim/experiment.h"

namespace fibocast {

// s while a rank sends, r while it receives, b both; * where it has all it waits for, - before that, nothing after it.
// A column is a tick, or as many as make the picture `width` columns wide. Precondition: the run was recorded.
std::string timeline_text(const Experiment& experiment, const SimulationRun& run, std::size_t width = 96);

}  // namespace fibocast
