// Costs as they are written on a command line, exact: --s 9/5, --s 1.8, --s 27us, --lambda 9/5.
#pragma once

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "collectives/cost_model.h"

namespace fibocast {

struct CostOptions {
  std::string s = {};
  std::string r = {};       // = l + o; or both of:
  std::string l = {};       // wire latency
  std::string o = {};       // receive occupancy
  std::string lambda = {};  // instead of all these: s = 1, r = lambda - 1
  std::string c = {};       // with either: per byte, of the sender
  std::string d = {};       // ... of the receiver
  std::string wake = {};    // with either: of a node that shares its host
  bool empty() const {
    return s.empty() && r.empty() && l.empty() && o.empty() && lambda.empty() && c.empty() && d.empty() && wake.empty();
  }
};

struct Costs {
  TickedModel ticked;    // --r alone counts as receive occupancy
  bool is_time = false;  // the tick is in nanoseconds; else in the unit of the costs

  // A number of ticks in the unit of the costs. Throws std::overflow_error.
  Rational time(std::uint64_t ticks) const { return ticked.tick * Rational(ticks); }
};

void add_cost_options(CLI::App& app, CostOptions& options);
// --c and --d, for commands that know bytes.
void add_byte_cost_options(CLI::App& app, CostOptions& options);

// Nothing for costs that contradict each other, are no numbers, or are out of range; `error` is then a sentence.
// No costs at all are s = r = 1.
std::optional<Costs> parse_costs(const CostOptions& options, Ports ports, std::string& error);

// Whole numbers and short decimals as numbers, everything else as "p/q".
nlohmann::ordered_json to_json(const Rational& value);
// "311", "9.2", "1/3"; times in the largest unit that leaves a number above 1: "27 us".
std::string to_human(const Rational& value, bool is_time);

}  // namespace fibocast
