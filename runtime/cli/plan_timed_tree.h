// A tree with its times, drawn or as JSON: what the subcommands of `fibocast plan` print of one.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "collectives/rational.h"
#include "collectives/tree.h"

namespace fibocast {

// Times in ticks.
struct TimedTree {
  Tree tree;
  std::vector<std::uint64_t> activation;
  std::uint64_t completion = 0;
  std::uint64_t reduction_completion = 0;
  Rational tick = 1;
  // Throws std::overflow_error.
  Rational time(std::uint64_t ticks) const { return tick * Rational(ticks); }
};

// Adds completion, reduction_completion, parent, children and activation to `json` and prints it.
void print_json(nlohmann::ordered_json json, const TimedTree& timed, std::ostream& out);
// `heading`, the drawing if the tree is small, both completions. is_time: ticks are nanoseconds; else `unit` follows
// the plain numbers of the completions.
void print_text(const std::string& heading, const TimedTree& timed, bool is_time, const std::string& unit,
                std::ostream& out);

}  // namespace fibocast
