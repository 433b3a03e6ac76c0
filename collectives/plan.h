// What a group has agreed on: which tree each phase of each operation uses. A plan is part of the group's
// epoch and is the same on every member. Core: no heap, no exceptions.
#pragma once

#include <cstdint>

#include "collectives/rank_schedule.h"
#include "collectives/types.h"

namespace fibocast {

// Values go over the wire: append only.
enum class TreeKind : std::uint8_t {
  kSequential = 1,
  kBinomial = 2,  // the Fibo(1,0) shape
  kKary = 3,      // heap order
  kFibo = 4,
  kLambda = 5,  // lambda = 1 + r/s: the Fibo-tree of (s, r), numbered in contiguous subtrees
};

// Names one tree for every number of ranks. Costs are integers in one common unit (PAPERS A4).
struct TreeSpec {
  TreeKind kind = TreeKind::kFibo;
  std::uint32_t arity = 2;  // kKary only, >= 1
  std::uint64_t s = 1;      // kFibo, kLambda: send latency > 0
  std::uint64_t r = 1;      // kFibo, kLambda: receive latency >= 0
  bool operator==(const TreeSpec&) const = default;
};

struct Plan {
  TreeSpec reduction;               // barrier, upward phase: by default Fibo(r,s), the mirror tree (PAPERS A30)
  TreeSpec distribution;            // barrier, downward phase, and multicast: by default Fibo(s,r)
  std::uint32_t segment_bytes = 0;  // multicast payloads above this travel in segments of it; 0 = never
  bool operator==(const Plan&) const = default;
};

// One operation to be scheduled.
struct OperationShape {
  Operation operation = Operation::kBarrier;
  Rank ranks = 1;
  std::uint64_t total_bytes = 0;
  std::uint32_t segment_bytes = 0;  // 0 = one message
  // Number of segments: at least 1.
  std::uint32_t segments() const {
    if (segment_bytes == 0 || total_bytes == 0) return 1;
    return static_cast<std::uint32_t>((total_bytes + segment_bytes - 1) / segment_bytes);
  }
};

// Writes the schedule of virtual rank `me` (root = 0) without building anybody else's: O(depth x fan-out)
// time, no memory but the writer's. Returns false if it does not fit (or the plan is invalid: s = 0).
bool build_rank_schedule(const Plan& plan, const OperationShape& shape, Rank me, ScheduleWriter& out);

}  // namespace fibocast
