// The algorithms of the catalogue measured beside each other on the live cluster: what the model says of each, which
// one was the fastest and is what daemons take, and how far that one is from the best. A choice is never judged by what
// made it: in a final it meets its strongest rival once more.
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
  Sample in_final;            // the same, after the choice; only of the two who are in it
  double measured() const { return middle_mean(taken); }
  double error() const { return measured() / predicted - 1; }
};

// One operation of all nodes. Algorithms that send the same messages are there once, under the first name.
struct Contest {
  Operation operation{};
  std::uint64_t bytes = 0;
  std::vector<MeasuredCandidate> candidates;
  std::size_t chosen = 0;  // by the model

  // The fastest of those that a plan for this many ranks can have.
  std::size_t preferred() const;
  std::size_t fastest() const;  // of all
  std::size_t rival() const;    // the fastest but for the preferred one, which it is if alone
  std::size_t best() const;     // of the preferred one and its rival, by the final
  // How much longer than the best the preferred one takes, as a share, by the final; and the model's by the contest.
  Estimate excess() const;
  Estimate excess_of_model() const;
};

struct ContestPlan {
  CostModel model;  // in thousandths of ns
  HostSharing hosts;
  std::uint32_t repetitions = 20;
  // Then a few are enough: of the contest, of its final.
  std::chrono::steady_clock::time_point until = std::chrono::steady_clock::time_point::max(), end = until;
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

// A barrier and a multicast of each size, in shuffled order. Who is far behind is not measured to the end. With `all`
// there is a final of as many rounds. `progress`: rounds done, of all.
Result<std::vector<Contest>> measure_candidates(BenchCluster& cluster, const ContestPlan& plan,
                                                const std::vector<std::uint64_t>& sizes,
                                                const std::function<void(std::size_t done, std::size_t all)>& progress);

}  // namespace fibocast
