// Proves that a schedule does what its operation promises, by executing it with symbols instead of data. Whatever
// order messages really take, the outcome is the same, because a stage waits for named messages only; so one execution
// proves it for all. For tools and tests, not the core.
#pragma once

#include <string>

#include "collectives/schedule.h"

namespace fibocast {

struct Validation {
  bool ok = false;
  std::string message;  // what was proved, or the first thing that is wrong
  // Reductions: every rank combines by the same expression, so floats give the same bits everywhere; contributions are
  // combined in the order of the ranks, so the operator need not commute.
  bool same_bits = true;
  bool keeps_order = true;
};

// Proves for this number of ranks: each send has its receive and each receive its send; no deadlock; nobody sends what
// it does not have; in a barrier, no rank can be released before all have arrived; elsewhere each rank ends with what
// the operation promises it (types.h), each contribution in it exactly once. O(messages) time for trees.
Validation validate(const Schedule& schedule);

}  // namespace fibocast
