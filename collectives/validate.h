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
};

// Proves for this number of ranks: each send has its receive and each receive its send; no deadlock; in a barrier, no
// rank can be released before all have arrived; in a multicast, each rank gets each segment once and in order, and
// sends only what it has. O(messages) time.
Validation validate(const Schedule& schedule);

}  // namespace fibocast
