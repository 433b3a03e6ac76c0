// One case of `fibocast bench distribution`: which trees, how many ranks, what is measured, how often.
#pragma once

#include <istream>
#include <vector>

#include "runtime/cli/command.h"
#include "runtime/cli/given_tree_option.h"
#include "runtime/cli/tree_option.h"

namespace fibocast {

enum class BenchMode : std::uint8_t {
  kDistribution,  // a multicast of no bytes: from the root's first send to the last activation
  kBarrier,       // a whole barrier whose members all arrive at one time T0: from T0 to the last activation
};

struct BenchCase {
  Json fields;  // as given: every measurement repeats them
  Rank ranks = 2;
  TreeSpec distribution;              // unless:
  std::optional<GivenTree> tree;      // of the way down, and of the way up if `reduction` is none
  std::optional<TreeSpec> reduction;  // none: the daemons' own
  BenchMode mode = BenchMode::kDistribution;
  std::uint32_t repetitions = 0;
};

// {"p":19,"tree":"fibo","s":27,"r":88,"reduction":{"tree":"fibo","s":88,"r":27},"mode":"distribution",
// "repetitions":20}; or a tree that is no formula: "file:PATH", "mesh"; only p and tree must be there. kInvalid with
// what is wrong.
Result<BenchCase> parse_case(const Json& fields, std::uint32_t default_repetitions);
// One case a line; empty lines do not count. The sentence of a failure names the line.
Result<std::vector<BenchCase>> read_cases(std::istream& in, std::uint32_t default_repetitions);

}  // namespace fibocast
