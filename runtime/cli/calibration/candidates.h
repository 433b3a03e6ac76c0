// The algorithms of the catalogue measured beside each other on the live cluster: what the model says of each, which
// one was the fastest, and how far from the best is what daemons take. Every other repetition chooses, those between
// judge: a choice is never judged by what made it.
#pragma once

#include <string>
#include <vector>

#include "collectives/planner.h"
#include "runtime/cli/calibration/measurements.h"

namespace fibocast {

struct MeasuredCandidate {
  std::string name;
  AlgorithmChoice choice;
  std::uint32_t segment_bytes = 0;
  bool is_plannable = false;  // daemons would cut the payload like this
  double predicted = 0;       // ns of the machine
  Sample taken;               // ns of the machine, from the call to the last activation
  double measured() const { return median(taken); }
  Sample choosing() const;  // the first, the third, ... repetition
  Sample judging() const;   // the others; all if there is one only
  Sample all() const { return taken; }
  double error() const { return measured() / predicted - 1; }
};

// One operation of all nodes. Algorithms that send the same messages are there once, under the first name.
struct Contest {
  Operation operation{};
  std::uint64_t bytes = 0;
  std::vector<MeasuredCandidate> candidates;
  std::size_t chosen = 0;  // by the model

  // The fastest as far as half of the repetitions say, of those that a plan for this many ranks can have.
  std::size_t preferred() const;
  std::size_t fastest() const;  // as far as all say
  // As far as the other half says.
  std::size_t best() const;
  // How much longer than the best this one takes, as a share, by that half.
  Estimate excess(std::size_t candidate) const;
};

struct ContestPlan {
  CostModel model;  // in thousandths of ns
  HostSharing hosts;
  std::uint32_t repetitions = 20;
  std::chrono::steady_clock::time_point until = std::chrono::steady_clock::time_point::max();  // then a few are enough
  std::uint64_t seed = 1;
  double scale = 1;
  bool emulated = false;
  bool all = false;                 // else the chosen one alone is measured
  std::uint32_t segment_bytes = 0;  // into which daemons cut payloads (Plan)
  Duration deadline = std::chrono::seconds(60);
};
// The preferred ones, for plans of so many ranks.
std::vector<MeasuredChoice> measured_choices(const std::vector<Contest>& contests, Rank ranks);
inline constexpr double kContestTicks = 1000;  // of a ns

// A barrier and a multicast of each size, in shuffled order. Who is far behind is not measured to the end.
// `progress`: rounds done, of all.
Result<std::vector<Contest>> measure_candidates(BenchCluster& cluster, const ContestPlan& plan,
                                                const std::vector<std::uint64_t>& sizes,
                                                const std::function<void(std::size_t done, std::size_t all)>& progress);

}  // namespace fibocast
