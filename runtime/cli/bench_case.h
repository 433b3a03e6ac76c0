// One case of `fibocast bench distribution`: which trees, how many ranks, what is measured, how often.
#pragma once

#include <istream>
#include <string>
#include <vector>

#include "runtime/cli/command.h"
#include "runtime/cli/given_tree_option.h"
#include "runtime/cli/tree_option.h"

namespace fibocast {

enum class BenchMode : std::uint8_t {
  kDistribution,  // a multicast: from the root's first send to the last activation
  kBarrier,       // a whole barrier whose members all arrive at one time T0: from T0 to the last activation
  kScatter,       // from the root's first send to the last activation
  kGather,        // all arrive at one time T0: from T0 until the root has all
  kAnswer,        // a multicast, and the last rank's answer to the root (PAPERS B16), without what that takes to answer
};

inline constexpr std::uint64_t kMostBenchBytes = 1 << 20;

struct BenchCase {
  Json fields;  // as given: every measurement repeats them
  Rank ranks = 2;
  TreeSpec distribution;              // unless:
  std::optional<GivenTree> tree;      // of the way down, and of the way up if `reduction` is none
  std::optional<TreeSpec> reduction;  // none: the daemons' own
  std::string algorithm;              // instead of trees, as `fibocast plan schedule` names it; empty: as planned
  std::uint64_t bytes = 0;            // of a message, and of a rank's block; up to kMostBenchBytes
  BenchMode mode = BenchMode::kDistribution;
  std::uint32_t repetitions = 0;
};

Operation operation_of(BenchMode mode);

// {"p":19,"tree":"fibo","s":27,"r":88,"reduction":{"tree":"fibo","s":88,"r":27},"mode":"distribution",
// "repetitions":20}; or a tree that is no formula: "file:PATH", "mesh". Modes are distribution, barrier, scatter,
// gather and answer. In the place of trees there may be an "algorithm"; scatter and gather need neither. "bytes" is 0
// unless told otherwise. kInvalid with what is wrong.
Result<BenchCase> parse_case(const Json& fields, std::uint32_t default_repetitions);
// One case a line; empty lines do not count. The sentence of a failure names the line.
Result<std::vector<BenchCase>> read_cases(std::istream& in, std::uint32_t default_repetitions);

}  // namespace fibocast
