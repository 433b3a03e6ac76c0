// The algorithms of the catalogue measured beside each other on the live cluster: how far is the one that the model
// prefers from the best.
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
  Sample taken;          // ns of the machine
  double measured() const { return median(taken); }
};

// One operation of all nodes.
struct Contest {
  Operation operation{};
  std::uint64_t bytes = 0;
  std::vector<MeasuredCandidate> candidates;
  std::size_t chosen = 0;  // by the model

  std::size_t best() const;
  // How much longer than the best the chosen one takes, as a share.
  double excess() const { return candidates[chosen].measured() / candidates[best()].measured() - 1; }
};

struct ContestPlan {
  CostModel model;
  HostSharing hosts;
  std::uint32_t repetitions = 20;
  std::uint64_t seed = 1;
  double scale = 1;
  Duration deadline = std::chrono::seconds(60);
};

// A barrier and a multicast of each size, by every candidate, in shuffled order. `progress`: as of measure().
Result<std::vector<Contest>> measure_candidates(BenchCluster& cluster, const ContestPlan& plan,
                                                const std::vector<std::uint64_t>& sizes,
                                                const std::function<void(std::size_t done, std::size_t all)>& progress);

}  // namespace fibocast
