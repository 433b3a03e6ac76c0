// What `fibocast simulate --faults FILE` says: how the operation ended at each rank.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "firmware_sim/experiment.h"

namespace fibocast {

// "verdict_of_rank" ("OK", "DEADLINE_EXCEEDED", .., "NO_ANSWER" of a rank that crashed), "activation_ns" (null unless
// OK), "answered_ns" and "missing" (the ranks that its verdict names), all by rank; "completion_ns" is null unless all
// are OK.
nlohmann::ordered_json troubled_json(const Experiment& experiment, const std::vector<Fault>& faults,
                                     const TroubledRun& run);
std::string troubled_text(const Experiment& experiment, const std::vector<Fault>& faults, const TroubledRun& run);

// As that of the commands that do the operation: 0 all OK; 3 a deadline passed; 4 a peer was lost; 6 refused; else 1.
int exit_code(const TroubledRun& run);

}  // namespace fibocast
