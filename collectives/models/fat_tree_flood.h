// Flooding: every router forwards what it receives to its other branches, through a queue for each. Step by step, with
// the lengths of the queues (Dimakopoulos and Dimopoulos, E7, E8). For tools, not the core.
#pragma once

#include <cstdint>
#include <vector>

#include "collectives/models/fat_tree.h"

namespace fibocast {

// Which of the packets that reach a router in one step are queued first. The completion does not depend on it.
struct FloodTies {
  bool parent_first = false;
  bool right_first = false;
};

// One packet on one branch, as flood_order.h describes it.
struct FloodHop {
  std::uint64_t step = 0;
  Rank from = 0;
  Rank to = 0;
  Rank source = 0;
  auto operator<=>(const FloodHop&) const = default;
};

// Queue lengths by the level 0 .. L of the sending router (index 0 stays 0): the longest ever seen.
struct FloodQueues {
  std::vector<std::uint64_t> up_wait;  // left after a step's departures
  std::vector<std::uint64_t> down_wait;
  std::vector<std::uint64_t> up_peak;  // just after a step's arrivals
  std::vector<std::uint64_t> down_peak;
};

struct FloodRun {
  std::uint64_t completion = 0;  // the step at whose end every leaf has every packet
  FloodQueues queues;
  std::vector<FloodHop> hops;  // in order of steps
};

// All leaves send in step 1. O(n^2) time and memory: for trees of up to some 1000 leaves.
FloodRun simulate_flooding(const FatTree& tree, FloodTies ties = {});

// E8, closed forms for one link per branch. Precondition: 1 <= level <= levels.
std::uint64_t flood_up_wait(unsigned levels, unsigned level);
std::uint64_t flood_down_wait(unsigned levels, unsigned level);

}  // namespace fibocast
