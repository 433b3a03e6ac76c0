// Nothing that can be run beats its certificate.
#include "collectives/lower_bound.h"

#include <gtest/gtest.h>

#include "collectives/planner.h"
#include "collectives/schedule.h"
#include "tests/collectives/machines.h"

namespace fibocast {
namespace {

using test::kManna;

constexpr CostModel kBoundedModels[] = {
    kManna,
    {.send = 5, .latency = 4, .occupancy = 5},  // postal: r = l + o, s = o
    {.send = 1, .latency = 0, .occupancy = 0},
    {.send = 1, .latency = 3, .occupancy = 0},
    {.send = 1, .latency = 0, .occupancy = 3, .send_per_byte = 1, .occupancy_per_byte = 1},
    {.send = 5, .latency = 0, .occupancy = 4, .send_per_byte = 2, .occupancy_per_byte = 1},
    {.send = 9, .latency = 50, .occupancy = 2, .occupancy_per_byte = 3},
    {.send = 20, .latency = 60, .occupancy = 20, .send_per_byte = 1},
};
constexpr HostSharing kHosts[] = {{}, {.nodes = 4, .processors = 1}, {.nodes = 100, .processors = 2}};

void nothing_beats_the_bound(const PlanQuestion& question) {
  const PlanAnswer a = answer(question);
  for (const Candidate& c : a.candidates) {
    if (!c.objection.empty()) continue;
    ASSERT_GE(c.predicted, a.bound.ticks)
        << operation_name(question.shape.operation) << ' ' << c.name << " p " << question.shape.ranks << " bytes "
        << question.shape.total_bytes << " s " << question.model.send << ": " << a.bound.formula;
  }
}

TEST(LowerBound, IsBelowEveryCandidate) {
  for (int op = 1; op <= 8; ++op)
    for (CostModel model : kBoundedModels)
      for (const Ports ports : {Ports::kShared, Ports::kIndependent})
        for (const HostSharing& hosts : kHosts)
          for (const Rank ranks : {1u, 2u, 3u, 4u, 6u, 8u, 13u, 19u, 32u, 50u}) {
            if (FIBOCAST_SANITIZED && ranks > 8) break;  // nine tenths of the time
            for (const std::uint64_t bytes : {0u, 8u, 1000u, 30'000u}) {
              OperationShape shape{.operation = static_cast<Operation>(op), .ranks = ranks, .total_bytes = bytes};
              if (combines(shape.operation)) shape.type = ElementType::kInt64, shape.op = CombineOperator::kSum;
              model.ports = ports;
              nothing_beats_the_bound({shape, model, hosts});
              if (HasFatalFailure()) return;
            }
          }
}

TEST(LowerBound, FiboTreesOfTokensReachIt) {
  for (const Rank ranks : {2u, 19u, 100u, 4096u})
    for (const Operation op : {Operation::kMulticast, Operation::kReduce}) {
      OperationShape shape{.operation = op, .ranks = ranks};
      if (combines(op)) shape.type = ElementType::kInt64, shape.op = CombineOperator::kSum;
      const PlanAnswer a = answer({shape, kManna});
      EXPECT_EQ(a.best()->name, "fibo");
      EXPECT_EQ(a.best()->predicted, a.bound.ticks);
    }
}

TEST(LowerBound, A27DistributionOfNineteenRanks) {
  const LowerBound bound = strongest_bound({.operation = Operation::kMulticast, .ranks = 19}, kManna, {});
  EXPECT_EQ(bound.ticks, 311u);
  EXPECT_EQ(bound.formula, "T(19; s, l+o)");
}

TEST(LowerBound, ABarrierIsAtLeastAReductionAndADistribution) {
  const OperationShape barrier{.ranks = 19};
  EXPECT_EQ(strongest_bound(barrier, kManna, {}).ticks, 494u);  // A30
  EXPECT_EQ(strongest_bound(barrier, {.send = 88, .occupancy = 27}, {}).ticks, 494u);
}

TEST(LowerBound, ARootSendsWhatItScatters) {
  const CostModel model{.send = 10, .latency = 5, .occupancy = 3, .send_per_byte = 2};
  const OperationShape shape{.operation = Operation::kScatter, .ranks = 11, .total_bytes = 100};
  EXPECT_EQ(strongest_bound(shape, model, {}).ticks, 10u + 10 * 100 * 2 + 5 + 3);
}

TEST(LowerBound, CoLocatedNodesNeedTheProcessorsOfTheirHost) {
  const LowerBound bound = strongest_bound({.ranks = 64}, {.send = 3, .occupancy = 1}, {.nodes = 64, .processors = 2});
  EXPECT_EQ(bound.ticks, 2u * 63 * (3 + 1) / 2);
}

}  // namespace
}  // namespace fibocast
