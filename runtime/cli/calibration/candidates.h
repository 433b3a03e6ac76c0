// The algorithms of the catalogue measured beside each other on the live cluster: what the model says of each, and how
// far the one that it prefers is from the best.
#pragma once

#include <string>
#include <vector>

#include "collectives/planner.h"
#include "runtime/cli/calibration/measurements.h"

namespace fibocast {

struct MeasuredCandidate {
  std::string name;
  std::uint32_t segment_bytes = 0;
  double predicted = 0;  // ns of the machine
  Sample taken;          // ns of the machine, from the call to the last activation
  double measured() const { return median(taken); }
  double error() const { return measured() / predicted - 1; }
};

// One operation of all nodes. Algorithms that send the same messages are there once, under the first name.
struct Contest {
  Operation operation{};
  std::uint64_t bytes = 0;
  std::vector<MeasuredCandidate> candidates;
  std::size_t chosen = 0;  // by the model

  std::size_t best() const;
  // How much longer than the best the chosen one takes, as a share.
  Estimate excess() const;
};

struct ContestPlan {
  CostModel model;  // in thousandths of ns
  HostSharing hosts;
  std::uint32_t repetitions = 20;
  Duration time = std::chrono::hours(1);  // when that is over, five repetitions are enough
  std::uint64_t seed = 1;
  double scale = 1;
  bool emulated = false;
  bool all = false;  // else the chosen one alone is measured
  Duration deadline = std::chrono::seconds(60);
};
inline constexpr double kContestTicks = 1000;  // of a ns

// A barrier and a multicast of each size, in shuffled order. Who is far behind is not measured to the end.
// `progress`: rounds done, of all.
Result<std::vector<Contest>> measure_candidates(BenchCluster& cluster, const ContestPlan& plan,
                                                const std::vector<std::uint64_t>& sizes,
                                                const std::function<void(std::size_t done, std::size_t all)>& progress);

}  // namespace fibocast
