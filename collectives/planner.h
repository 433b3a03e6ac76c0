// Which algorithm is fastest here, and why: predicts every candidate of the catalogue under a cost model, says how far
// the best is from what is possible at all, and fills the plan of a group. For tools and the rank that plans for a
// group (PROTOCOL 1), not the core.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "collectives/algorithm_catalog.h"
#include "collectives/forecast.h"
#include "collectives/lower_bound.h"
#include "collectives/measured_choice.h"

namespace fibocast {

// One operation on one machine.
struct PlanQuestion {
  OperationShape shape;  // its choice and segment_bytes are the answer's
  CostModel model;
  HostSharing hosts = {};
};

struct Candidate {
  AlgorithmChoice choice;
  std::string name;
  std::uint32_t segment_bytes = 0;  // the best of a few sizes; 0: not cut
  std::string objection;            // why it cannot be taken; else:
  std::uint64_t predicted = 0;      // ticks
  std::uint64_t host_bound = 0;     // ticks; of co-located nodes: the busiest host's processors
  std::uint64_t in_turns = 0;  // ticks; of co-located nodes that look for messages in turns, with one processor more,
                               // and as they fan out
  // Ticks; of barriers, where a host has more nodes than processors and fans out (through shared memory messages cost
  // next to nothing): its host_bound. Programs call barriers in a row, and who waits looks again and again: what the
  // messages cost the processors is paid in full, what is saved by waking nodes less often is not.
  std::uint64_t in_a_row = 0;
  std::uint64_t busiest_bytes = 0;  // sent and received by the node that has most
  Forecast forecast = {};           // without the loads

  std::uint64_t cost() const { return predicted + in_a_row; }  // what candidates are compared by
};

struct PlanAnswer {
  std::vector<Candidate> candidates;  // in the order of the catalogue
  // The one with the least cost(); of those that tie the one with the least in_turns, then the one with the earlier
  // Forecast::completion, then the first. Nothing: none can be taken.
  std::optional<std::size_t> chosen;
  LowerBound bound;

  const Candidate* best() const { return chosen ? &candidates[*chosen] : nullptr; }
};

// The plan that candidates are predicted with: the trees `fibo` are those of fibo_plan().
PlanAnswer answer(const PlanQuestion& question);

// Remembers its answers. Not for use by several threads at once.
class Planner {
 public:
  // Valid as long as the planner.
  const PlanAnswer& ask(const PlanQuestion& question);

 private:
  std::map<std::vector<std::uint64_t>, PlanAnswer> answers_;
};

// A certificate's distance: how much longer than the bound, in percent. Infinite for a bound of 0 that is not reached.
double gap_percent(std::uint64_t predicted, std::uint64_t bound);

// What a size class is planned for: 8 B, 16 KiB, 1 MiB.
std::uint64_t representative_bytes(std::size_t size_class);

// The trees of fibo_plan() and, for each operation and size class, the fastest algorithm that gives floats the same
// bits at every rank and fits in `limits`: for those that do not, the choice stays kPlanned. The segments are those
// that are best for the longest multicast along trees. What was measured counts more than all that, if it fits in
// `limits`. Precondition: ranks >= 1, latencies as in growth.h.
Plan plan_for(const CostModel& model, Rank ranks, const Limits& limits = {}, const HostSharing& hosts = {},
              std::span<const MeasuredChoice> measured = {});

}  // namespace fibocast
