#include "collectives/plan.h"

#include <algorithm>

#include "collectives/allgather.h"
#include "collectives/barrier.h"
#include "collectives/divide.h"
#include "collectives/gather.h"
#include "collectives/multicast.h"
#include "collectives/reduce.h"
#include "collectives/scatter.h"
#include "collectives/total_exchange.h"
#include "collectives/tree_view.h"

namespace fibocast {

namespace {

std::size_t row(Operation operation) { return static_cast<std::size_t>(operation) - 1; }

// Shares overlap for alpha > 1/2: floor(alpha W) + ceil(alpha W) > W is then possible.
bool may_overlap(const AlgorithmChoice& c) { return c.parameter > kWholeShare / 2; }

// What overlaps must be combined.
bool is_possible_share(const OperationShape& shape) {
  if (shape.type > ElementType::kDouble || !has_shares(shape)) return false;
  if (shape.operation == Operation::kDivide) return shape.op == CombineOperator::kNone;
  const bool without = shape.op == CombineOperator::kNone && !may_overlap(shape.choice);
  return without || is_defined(shape.op, shape.type);
}

// A byte of the wire each: append only.
constexpr std::array<std::uint16_t, 24> kPlannedLambdas = {125,  150,  175,  200,  225,  250,  275,  300,
                                                           350,  400,  450,  500,  600,  700,  800,  1000,
                                                           1200, 1400, 1600, 2000, 2400, 3200, 4000, 6400};
constexpr std::uint8_t kFirstLambdaCode = 40, kFirstKaryCode = 64;
static_assert(kFirstLambdaCode + kPlannedLambdas.size() == kFirstKaryCode);

bool is_tree(const AlgorithmChoice& c) {
  if (c.tree == TreeKind::kKary) return c.parameter > 0;
  if (c.tree == TreeKind::kLambda) return c.parameter == 0 || c.parameter >= kWholeLambda;
  return c.tree < TreeKind::kLambda;
}

// Subtrees are ranges of blocks.
bool is_contiguous_tree(const AlgorithmChoice& c) { return is_tree(c) && c.tree != TreeKind::kKary; }

// Goes along one of the plan's own trees, and that is given: its subtrees are no ranges of blocks.
bool lacks_ranges(const Plan& plan, Operation operation, const AlgorithmChoice& c) {
  const bool rooted = operation == Operation::kScatter || operation == Operation::kGather;
  const bool needs_ranges = scatters_parts(c.algorithm) || (c.algorithm == Algorithm::kTrees && rooted);
  const TreeSpec& own = operation == Operation::kGather ? plan.reduction : plan.distribution;
  return needs_ranges && c.tree == TreeKind{} && own.kind == TreeKind::kGiven;
}

}  // namespace

std::size_t size_class(std::uint64_t bytes) { return bytes <= 1024 ? 0 : bytes <= 65536 ? 1 : 2; }

AlgorithmChoice default_choice(Operation operation, std::uint64_t bytes) {
  if (operation == Operation::kAllgather) return {size_class(bytes) == 0 ? Algorithm::kBruck : Algorithm::kRing};
  if (is_of_shares(operation)) return {Algorithm::kBinomialShares, {}, kWholeShare / 2};
  return {operation == Operation::kAlltoall ? Algorithm::kPairwise : Algorithm::kTrees};
}

AlgorithmChoice planned_choice(const Plan& plan, Operation operation, std::uint64_t bytes) {
  if (row(operation) >= kPlannedOperations) return default_choice(operation, bytes);
  const AlgorithmChoice& c = plan.choices[row(operation)][size_class(bytes)];
  AlgorithmChoice chosen = c.algorithm == Algorithm::kPlanned ? default_choice(operation, bytes) : c;
  if (lacks_ranges(plan, operation, chosen)) chosen.tree = TreeKind::kBinomial;
  return chosen;
}

void set_choice(Plan& plan, Operation operation, std::size_t size_class, const AlgorithmChoice& choice) {
  plan.choices[row(operation)][size_class] = choice;
}

std::uint8_t plan_code(const AlgorithmChoice& c) {
  const auto algorithm = static_cast<std::uint8_t>(c.algorithm), tree = static_cast<std::uint8_t>(c.tree);
  if (c.algorithm == Algorithm::kDissemination)
    return c.parameter < 128 ? static_cast<std::uint8_t>(128 + c.parameter) : 0;
  if (c.algorithm == Algorithm::kBinomialShares) return 0;
  if (tree == 0) return algorithm;
  if (c.algorithm != Algorithm::kTrees) return 0;
  if (c.tree == TreeKind::kKary) return c.parameter < 64 ? static_cast<std::uint8_t>(kFirstKaryCode + c.parameter) : 0;
  if (c.tree == TreeKind::kLambda && c.parameter > 0) {
    const auto found = std::ranges::find(kPlannedLambdas, c.parameter);
    return found == kPlannedLambdas.end()
               ? 0
               : static_cast<std::uint8_t>(kFirstLambdaCode + (found - kPlannedLambdas.begin()));
  }
  return static_cast<std::uint8_t>(32 + tree);
}

AlgorithmChoice choice_of(std::uint8_t code) {
  if (code >= 128) return {Algorithm::kDissemination, {}, static_cast<std::uint16_t>(code - 128)};
  if (code >= kFirstKaryCode)
    return {Algorithm::kTrees, TreeKind::kKary, static_cast<std::uint16_t>(code - kFirstKaryCode)};
  if (code >= kFirstLambdaCode) return {Algorithm::kTrees, TreeKind::kLambda, kPlannedLambdas[code - kFirstLambdaCode]};
  if (code >= 32) return {Algorithm::kTrees, static_cast<TreeKind>(code - 32)};
  return {static_cast<Algorithm>(code)};
}

std::span<const std::uint16_t> planned_lambdas() { return kPlannedLambdas; }

bool is_known(Operation operation, const AlgorithmChoice& c) {
  const bool reduces = operation == Operation::kReduce || operation == Operation::kAllreduce;
  const bool rooted = operation == Operation::kScatter || operation == Operation::kGather;
  switch (c.algorithm) {
    case Algorithm::kPlanned: return true;
    case Algorithm::kTrees:
      if (rooted) return is_contiguous_tree(c);
      return is_tree(c) && (reduces || operation == Operation::kBarrier || operation == Operation::kMulticast);
    case Algorithm::kDissemination: return operation == Operation::kBarrier && c.parameter >= 2;
    case Algorithm::kDelayReceive:
    case Algorithm::kDelaySend:
    case Algorithm::kCombineEager: return operation == Operation::kBarrier || operation == Operation::kAllreduce;
    case Algorithm::kRing: return operation == Operation::kAllreduce || operation == Operation::kAllgather;
    case Algorithm::kHalving: return reduces;
    case Algorithm::kDoubling: return operation == Operation::kAllreduce;
    case Algorithm::kFurthestFirst: return rooted;
    case Algorithm::kFlooding: return operation == Operation::kAllgather;
    case Algorithm::kBruck: return operation == Operation::kAllgather || operation == Operation::kAlltoall;
    case Algorithm::kPairwise:
      return reduces || operation == Operation::kAllgather || operation == Operation::kAlltoall;
    case Algorithm::kPhasedConstant:
    case Algorithm::kPhasedExponential:
    case Algorithm::kPhasedXor: return operation == Operation::kAlltoall;
    case Algorithm::kScatterAllgather:
    case Algorithm::kScatterDoubling:
    case Algorithm::kScatterPairwise: return operation == Operation::kMulticast && is_contiguous_tree(c);
    case Algorithm::kBinomialShares: return is_of_shares(operation) && c.parameter > 0 && c.parameter <= kWholeShare;
  }
  return false;
}

bool is_possible(const OperationShape& shape) {
  const Algorithm a = shape.choice.algorithm;
  if (shape.ranks == 0 || !is_known(shape.operation, shape.choice)) return false;
  if (a == Algorithm::kFlooding && shape.ranks % 2 == 0) return false;
  if (is_of_shares(shape.operation)) return is_possible_share(shape);
  if (!combines(shape.operation)) return true;
  const bool rounds_alike =
      a != Algorithm::kDelayReceive && a != Algorithm::kDelaySend && a != Algorithm::kCombineEager;
  return is_defined(shape.op, shape.type) && shape.total_bytes % element_bytes(shape.type) == 0 &&
         (rounds_alike || !rounds(shape.type));
}

bool is_valid(const Plan& plan) {
  for (std::size_t i = 0; i < kPlannedOperations; ++i)
    for (const AlgorithmChoice& c : plan.choices[i])
      if (!is_known(static_cast<Operation>(i + 1), c)) return false;
  return is_valid(plan.reduction) && is_valid(plan.distribution);
}

bool build_rank_schedule(const Plan& plan, const OperationShape& asked, Rank me, ScheduleWriter& out) {
  OperationShape shape = asked;
  if (!is_operation(shape.operation)) return false;
  if (shape.choice.algorithm == Algorithm::kPlanned)
    shape.choice = planned_choice(plan, shape.operation, shape.total_bytes);
  if (!is_valid(plan.reduction) || !is_valid(plan.distribution) || me >= shape.ranks) return false;
  if (!is_known(shape.operation, shape.choice)) return false;
  if (has_given_tree(plan) && plan.given.ranks() != shape.ranks) return false;
  const auto written = [&] {
    switch (shape.operation) {
      case Operation::kBarrier: return write_barrier(plan, shape, me, out);
      case Operation::kMulticast: return write_multicast(plan, shape, me, out);
      case Operation::kReduce: return write_reduce(plan, shape, me, out);
      case Operation::kAllreduce: return write_allreduce(plan, shape, me, out);
      case Operation::kScatter: return write_scatter(plan, shape, me, out);
      case Operation::kGather: return write_gather(plan, shape, me, out);
      case Operation::kAllgather: return write_allgather(shape, me, out);
      case Operation::kAlltoall: return write_total_exchange(plan, shape, me, out);
      case Operation::kDivide: return write_divide(shape, me, out);
      case Operation::kConquer: return write_conquer(shape, me, out);
    }
    return false;
  };
  return written() && out.ok();
}

}  // namespace fibocast
