// `fibocast simulate --replay TRACE`: reads what `fibocast trace` has written, and says how the run goes again.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "firmware_sim/replay.h"

namespace fibocast {

// The whole operations of a trace, of groups with one participant per node. With the name of a tree or algorithm they
// are all done by it, where there is such an algorithm for the operation. Nothing for a file that is no trace; `error`
// is then a sentence.
std::optional<Incident> read_incident(const std::string& file, const std::string& algorithm, std::string& error);

// "operations": for each the time from its last call to its last activation, recorded and now, and the ranks in the
// order of their activation; "same_order" counts the operations without an inversion.
nlohmann::ordered_json replay_json(const Incident& incident, const std::vector<std::vector<Nanoseconds>>& now);
std::string replay_text(const nlohmann::ordered_json& answer);

}  // namespace fibocast
