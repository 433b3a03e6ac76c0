// What `fibocast simulate` says about a run: one JSON document, or a few lines for people.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "firmware_sim/experiment.h"

namespace fibocast {

// "completion_ns" and "activation_ns" if the machine's costs are times, else "completion" and "activation".
nlohmann::ordered_json answer_json(const Experiment& experiment, const SimulationRun& run);
std::string answer_text(const Experiment& experiment, const SimulationRun& run);

// For other answers of the program: what was asked, and a time with the unit that suits it.
void add_heading(const Experiment& experiment, nlohmann::ordered_json& json);
std::string time_text(const Rational& nanoseconds);

}  // namespace fibocast
