#include "runtime/cli/calibration/timed_run.h"

#include <algorithm>

#include "runtime/daemon/node_host.h"

namespace fibocast {
namespace {

// Until all have called.
constexpr Nanoseconds kLead = 500'000, kLeadOfEach = 100'000;

}  // namespace

Nanoseconds time_to_call(std::size_t members) {
  return monotonic_now() + kLead + kLeadOfEach * static_cast<Nanoseconds>(members);
}

Result<RunTime> time_run(BenchCluster& cluster, BenchCluster::Members& members, const TimedRun& run) {
  OperationOptions free;
  free.charged = false;
  if (run.meet_first)
    if (Status status = worst_of(cluster.barrier(members, run.deadline, free)); !status.ok()) return status;
  const std::vector<std::byte> payload(run.bytes);
  const Nanoseconds begin = time_to_call(members.size());
  const auto outcomes = cluster.run(members, [&](BenchCluster::Member& member, auto done) {
    OperationOptions options;
    options.algorithm = run.algorithm;
    const bool is_barrier = run.operation == Operation::kBarrier, is_root = member.group.rank() == 0;
    if (is_barrier || is_root) options.not_before = begin + member.clock.offset;
    if (is_barrier) return member.group.async_barrier(run.deadline, std::move(done), options);
    const std::span<const std::byte> bytes = is_root ? payload : std::span<const std::byte>{};
    member.group.async_multicast(0, bytes, run.deadline, std::move(done), options);
  });
  if (Status status = worst_of(outcomes); !status.ok()) return status;
  RunTime time;
  for (const Outcome& outcome : outcomes) {
    time.taken = std::max(time.taken, outcome.activated_at - begin);
    time.lateness = std::max(time.lateness, outcome.lateness);
  }
  return time;
}

}  // namespace fibocast
