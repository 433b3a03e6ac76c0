// One repetition of a case: what all members call at once, and from when to when it is measured.
#pragma once

#include "runtime/cli/bench_case.h"
#include "runtime/cli/bench_cluster.h"

namespace fibocast {

struct BenchGroups {
  BenchCluster::Members members;  // by rank
  BenchCluster::Members answer;   // of kAnswer only: the first and the last of them
};

struct TimedRepetition {
  Nanoseconds measured = 0;
  Nanoseconds lateness = 0;  // the largest at any node
};

// All members meet in a barrier that an emulated network lets pass free; then comes what is measured. The first failure
// of a member is that of the repetition. Blocks; one thread.
Result<TimedRepetition> run_repetition(BenchCluster& cluster, const BenchCase& of, BenchGroups& groups,
                                       Duration deadline);

}  // namespace fibocast
