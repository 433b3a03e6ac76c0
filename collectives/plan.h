// What a group has agreed on: which tree each phase of each operation uses. A plan is part of the group's
// epoch and is the same on every member. Core: no heap, no exceptions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "collectives/rank_schedule.h"
#include "collectives/shape.h"
#include "collectives/tree_table.h"
#include "collectives/types.h"

namespace fibocast {

// Names one tree for every number of ranks; kGiven: the one tree of Plan::given. Costs are integers in one common unit
// (PAPERS A4).
struct TreeSpec {
  TreeKind kind = TreeKind::kFibo;
  std::uint32_t arity = 2;  // kKary only, >= 1
  std::uint64_t s = 1;      // kFibo, kLambda: send latency > 0
  std::uint64_t r = 1;      // kFibo, kLambda: receive latency >= 0
  bool operator==(const TreeSpec&) const = default;
};

// Sizes are planned in three classes: up to 1 KiB (sent at once), up to 64 KiB, and above.
inline constexpr std::size_t kSizeClasses = 3;
inline constexpr std::size_t kOperations = 10;
// The first ones, whose algorithm a plan chooses. That of the others, the shares of divide and conquer, is the
// caller's: alpha changes the result.
inline constexpr std::size_t kPlannedOperations = 8;

struct Plan {
  TreeSpec reduction;               // upward phases: by default Fibo(r,s), the mirror tree (PAPERS A30)
  TreeSpec distribution;            // downward phases: by default Fibo(s,r)
  std::uint32_t segment_bytes = 0;  // payloads above this travel down the tree in segments of it; 0 = never
  std::array<std::array<AlgorithmChoice, kSizeClasses>, kPlannedOperations>
      choices{};  // kPlanned: see default_choice()
  // The tree of a phase that is kGiven, for exactly this number of ranks. Not owned: its memory outlives the plan and
  // all that was built from it. Ranks are virtual: with another root the same tree is turned to begin there.
  TreeTable given = {};
  bool operator==(const Plan&) const = default;
};

inline bool has_given_tree(const Plan& plan) {
  return plan.reduction.kind == TreeKind::kGiven || plan.distribution.kind == TreeKind::kGiven;
}

// What is taken where the plan names nothing: trees; for an allgather Bruck, or the ring when it is long; for an
// alltoall each with each; for a divide and a conquer alpha = 1/2.
AlgorithmChoice default_choice(Operation operation, std::uint64_t bytes);
// The choice for an operation of these bytes (OperationShape::total_bytes); scatter and gather, whose subtrees are
// ranges of blocks, go along a binomial tree where the plan's own tree is given. Precondition: is_operation(operation).
AlgorithmChoice planned_choice(const Plan& plan, Operation operation, std::uint64_t bytes);
// Precondition: one of the planned operations.
void set_choice(Plan& plan, Operation operation, std::size_t size_class, const AlgorithmChoice& choice);
std::size_t size_class(std::uint64_t bytes);
// A choice in one byte, for the wire: trees of the plan or of a kind, K-ary up to K = 63, those of planned_lambdas(),
// dissemination up to K = 127, and the algorithms without parameter. Others become kPlanned.
std::uint8_t plan_code(const AlgorithmChoice& choice);
AlgorithmChoice choice_of(std::uint8_t code);
// The lambdas that a plan can name beside its own, in 1/kWholeLambda, from the least up. What a message's bytes cost
// belongs to its s and r (A2), so that each size has another lambda; trees of a lambda near by are about as fast.
std::span<const std::uint16_t> planned_lambdas();
// An algorithm that exists for this operation, with a parameter in its range.
bool is_known(Operation operation, const AlgorithmChoice& choice);
// Says nothing about the given tree: whether there is one for the ranks is seen when a schedule is built.
bool is_valid(const Plan& plan);
// The operation can be run: the algorithm is known, fits this number of ranks and the element type; vectors hold whole
// elements. algorithm_catalog.h has the sentences.
bool is_possible(const OperationShape& shape);

// Writes the schedule of virtual rank `me` (root = 0) without building anybody else's: along trees in O(depth x
// fan-out) time, and with no memory but the writer's. A choice of kPlanned is resolved. Returns false if it does not
// fit, the plan or the choice is invalid, or the given tree is one of another number of ranks. Precondition: a given
// tree is valid.
bool build_rank_schedule(const Plan& plan, const OperationShape& shape, Rank me, ScheduleWriter& out);

}  // namespace fibocast
