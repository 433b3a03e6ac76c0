// A planner's answer for people and programs: the table of candidates and, in plain words, the arithmetic behind the
// choice. What `fibocast plan why` prints.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "collectives/planner.h"
#include "collectives/rational.h"

namespace fibocast {

// What was asked, as it is shown, and how ticks become the unit of the costs.
struct WhyHeading {
  std::string operation;
  Rank ranks = 1;
  std::uint64_t bytes = 0;
  nlohmann::ordered_json model = {};  // its numbers, by name
  std::string model_text = {};        // "s = 27 us, r = 88 us, shared ports"
  std::uint64_t one_message = 0;      // s + l + o in ticks; 0 where each pair of nodes has its own
  HostSharing hosts = {};
  Rational tick = 1;
  bool is_time = false;
  std::string measured = {};  // what daemons take all the same, as it was measured to be the fastest

  // Throws std::overflow_error.
  std::string human(std::uint64_t ticks) const;
  nlohmann::ordered_json number(std::uint64_t ticks) const;
};

// Sentences. Precondition: something was chosen.
std::vector<std::string> explain(const WhyHeading& heading, const PlanAnswer& answer);

nlohmann::ordered_json why_json(const WhyHeading& heading, const PlanAnswer& answer);
std::string why_text(const WhyHeading& heading, const PlanAnswer& answer);

}  // namespace fibocast
