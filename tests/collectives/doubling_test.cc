// Recursive doubling: as few rounds as the logarithm says, also where ranks are over; that it is right and what it
// promises to floats is proved with all others (algorithms_test.cc).
#include "collectives/doubling.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>

#include "collectives/planner.h"
#include "collectives/schedule.h"
#include "tests/collectives/machines.h"

namespace fibocast {
namespace {

OperationShape allreduce(Rank ranks) {
  OperationShape shape{.operation = Operation::kAllreduce, .ranks = ranks, .total_bytes = 8};
  shape.type = ElementType::kDouble, shape.op = CombineOperator::kSum, shape.choice = {Algorithm::kDoubling};
  return shape;
}

TEST(Doubling, EachRankSendsOnceInEachRound) {
  for (Rank ranks = 2; ranks <= 256; ranks *= 2) {
    const auto schedule = build_schedule(Plan{}, allreduce(ranks));
    ASSERT_TRUE(schedule);
    const auto rounds = static_cast<std::size_t>(std::bit_width(ranks) - 1);
    for (const RankPart& part : schedule->ranks) {
      EXPECT_EQ(part.transfers.size(), 2 * rounds);
      EXPECT_EQ(part.stages.size(), rounds + 1);
    }
  }
}

TEST(Doubling, ARankOverSendsAndGetsOneMessage) {
  const auto schedule = build_schedule(Plan{}, allreduce(19));
  ASSERT_TRUE(schedule);
  for (Rank over = 0; over < 6; over += 2) EXPECT_EQ(schedule->ranks[over].transfers.size(), 2u);
  for (Rank both = 1; both < 6; both += 2) EXPECT_EQ(schedule->ranks[both].transfers.size(), 2u * 4 + 2);
  for (Rank other = 6; other < 19; ++other) EXPECT_EQ(schedule->ranks[other].transfers.size(), 2u * 4);
}

TEST(Doubling, ABillionRanksHaveTheirPart) {
  std::array<Stage, 40> stages;
  std::array<Transfer, 80> transfers;
  ScheduleWriter out(stages, transfers);
  write_doubling(1'000'000'001, 999'999'999, out);
  ASSERT_TRUE(out.ok());
  EXPECT_EQ(out.schedule().transfers.size(), 2u * 29);
}

// The machine of the paper: log2 p times s + r, which no tree up and down comes near.
TEST(Doubling, IsPlannedForShortFloatsOfAPowerOfTwo) {
  for (const Rank ranks : {2u, 4u, 8u, 16u, 64u, 1024u}) {
    const PlanAnswer a = answer({allreduce(ranks), test::kManna});
    EXPECT_EQ(a.best()->name, "doubling") << ranks;
    EXPECT_EQ(a.best()->predicted, static_cast<std::uint64_t>(std::bit_width(ranks) - 1) * 115) << ranks;
  }
}

}  // namespace
}  // namespace fibocast
