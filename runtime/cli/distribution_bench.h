// The measured loop of the laboratory: repetitions of all cases, usually in shuffled order, so that no case meets
// the host at a better time than another; raw values come out, nothing is averaged here.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "runtime/cli/bench_case.h"
#include "runtime/cli/bench_cluster.h"

namespace fibocast {

struct Measurement {
  std::size_t case_index = 0;
  std::uint32_t repetition = 0;
  std::uint32_t order = 0;  // the how-many-th of the whole run
  Nanoseconds measured = 0;
  Nanoseconds lateness = 0;  // the largest at any node
};

struct BenchPlan {
  std::uint64_t seed = 1;
  bool shuffled = true;      // else the cases as they are given, each with all its repetitions
  std::uint32_t warmup = 1;  // repetitions of each case that are thrown away
  Duration deadline = std::chrono::seconds(60);
};

// `taken` gets each measurement as it comes; `done`, `all`: repetitions, for a progress bar.
using OnMeasurement = std::function<void(const Measurement& taken, std::size_t done, std::size_t all)>;

// Creates the groups, runs, and removes them; the first failure ends it.
Status run_distribution_bench(BenchCluster& cluster, const std::vector<BenchCase>& cases, const BenchPlan& plan,
                              const OnMeasurement& on_measurement);

}  // namespace fibocast
