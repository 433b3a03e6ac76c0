// One operation of a group by one algorithm, measured from the call to the last activation.
#pragma once

#include <string>

#include "collectives/types.h"
#include "runtime/cli/bench_cluster.h"

namespace fibocast {

struct TimedRun {
  Operation operation = Operation::kBarrier;  // or kMulticast, from rank 0
  std::string algorithm;
  std::uint64_t bytes = 0;  // of a multicast
  Duration deadline = std::chrono::seconds(60);
  bool meet_first = true;  // not needed where nothing of the last run can still be on its way for long
};

struct RunTime {
  Nanoseconds taken = 0;
  Nanoseconds lateness = 0;  // of an emulated card, the largest at any node
};

// When an operation begins for which so many members are told now to call: they have called by then.
Nanoseconds time_to_call(std::size_t members);

// The members meet first, if they are to. Then all call a barrier at one time, on their own clocks; of a multicast the
// root does, after all others.
Result<RunTime> time_run(BenchCluster& cluster, BenchCluster::Members& members, const TimedRun& run);

}  // namespace fibocast
