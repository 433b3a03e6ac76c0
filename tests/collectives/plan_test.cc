#include "collectives/plan.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "collectives/algorithm_catalog.h"
#include "collectives/rational.h"
#include "collectives/schedule.h"
#include "collectives/tree_phases.h"

namespace fibocast {
namespace {

bool builds(const Plan& plan, const OperationShape& shape, Rank me, std::size_t transfers, std::size_t stages = 8) {
  std::vector<Stage> stage_memory(stages);
  std::vector<Transfer> transfer_memory(transfers);
  ScheduleWriter writer(stage_memory, transfer_memory);
  return build_rank_schedule(plan, shape, me, writer);
}

TEST(Plan, RefusesWhatDoesNotFit) {
  const Plan plan{.reduction = {.s = 88, .r = 27}, .distribution = {.s = 27, .r = 88}};
  EXPECT_TRUE(builds(plan, {.ranks = 3}, 0, 4));
  EXPECT_FALSE(builds(plan, {.ranks = 3}, 0, 3));
  EXPECT_FALSE(builds(plan, {.ranks = 3}, 0, 4, 1));
  EXPECT_FALSE(
      builds({.reduction = {.kind = TreeKind::kSequential}, .distribution = {}}, {.ranks = 4'000'000'000}, 0, 768));
}

TEST(Plan, RefusesAnInvalidPlanOrRank) {
  EXPECT_FALSE(builds({.reduction = {.s = 0}, .distribution = {}}, {.ranks = 3}, 0, 100));
  EXPECT_FALSE(builds({.reduction = {}, .distribution = {.s = 0}}, {.ranks = 3}, 0, 100));
  EXPECT_FALSE(builds({}, {.ranks = 3}, 3, 100));
  EXPECT_FALSE(builds({}, {.operation = static_cast<Operation>(99), .ranks = 3}, 0, 100));
}

TEST(Plan, SegmentsOfAPayload) {
  EXPECT_EQ((OperationShape{.total_bytes = 0, .segment_bytes = 10}).segments(), 1u);
  EXPECT_EQ((OperationShape{.total_bytes = 30, .segment_bytes = 0}).segments(), 1u);
  EXPECT_EQ((OperationShape{.total_bytes = 30, .segment_bytes = 10}).segments(), 3u);
  EXPECT_EQ((OperationShape{.total_bytes = 31, .segment_bytes = 10}).segments(), 4u);
}

TEST(Plan, ChoicesOfTheCatalogGoThroughOneByte) {
  for (const AlgorithmEntry& entry : algorithm_catalog()) {
    if (is_of_shares(entry.operation)) continue;  // no plan chooses alpha
    EXPECT_EQ(choice_of(plan_code(entry.choice)), entry.choice);
  }
  const AlgorithmChoice kary{Algorithm::kTrees, TreeKind::kKary, 63}, wide{Algorithm::kDissemination, {}, 127};
  EXPECT_EQ(choice_of(plan_code(kary)), kary);
  EXPECT_EQ(choice_of(plan_code(wide)), wide);
  for (const std::uint16_t parts : planned_lambdas()) {
    const AlgorithmChoice lambda{Algorithm::kTrees, TreeKind::kLambda, parts};
    EXPECT_EQ(choice_of(plan_code(lambda)), lambda);
  }
  EXPECT_EQ(choice_of(plan_code({Algorithm::kTrees, TreeKind::kLambda, 130})), AlgorithmChoice{});
  EXPECT_EQ(choice_of(plan_code({Algorithm::kTrees, TreeKind::kLambda})).tree, TreeKind::kLambda);
  EXPECT_EQ(choice_of(plan_code({Algorithm::kDissemination, {}, 128})), AlgorithmChoice{});
  EXPECT_EQ(choice_of(plan_code({Algorithm::kBinomialShares, {}, 5000})), AlgorithmChoice{});  // the caller's
}

TEST(Plan, AChoiceThatNamesATreeHasThatTreeWhateverThePlansOwnIs) {
  const Plan binary{.reduction = {.kind = TreeKind::kKary, .arity = 2}, .distribution = {.kind = TreeKind::kKary}};
  const AlgorithmChoice quaternary{Algorithm::kTrees, TreeKind::kKary, 4};
  EXPECT_EQ(reduction_tree(binary, quaternary).arity, 4u);
  EXPECT_EQ(distribution_tree(binary, quaternary).arity, 4u);
  const Plan postal{.reduction = {.kind = TreeKind::kLambda, .s = 2, .r = 3}, .distribution = {}};
  const TreeSpec of_its_own = reduction_tree(postal, {Algorithm::kTrees, TreeKind::kLambda, 225});
  EXPECT_EQ(Rational(of_its_own.r, of_its_own.s), Rational(5, 4));
  const TreeSpec of_the_plan = reduction_tree(postal, {Algorithm::kTrees, TreeKind::kLambda});
  EXPECT_EQ(Rational(of_the_plan.r, of_the_plan.s), Rational(3, 2));
}

// The root has more children than anybody. A fan-out grows with r / s: for these it is at most 32.
TEST(Plan, TheOwnScheduleInAMillionRanksFitsInOneKiB) {
  constexpr Rank kMillion = 1'000'000;
  constexpr std::array<std::array<std::uint64_t, 2>, 5> kLatencies = {
      {{1, 1}, {1, 3}, {27, 88}, {3137, 9413}, {27000, 88001}}};
  for (const auto [s, r] : kLatencies) {
    Plan plan{.reduction = {.s = r, .r = s}, .distribution = {.s = s, .r = r}};
    for (const Operation operation : {Operation::kBarrier, Operation::kMulticast, Operation::kAllreduce}) {
      OperationShape shape{.operation = operation, .ranks = kMillion, .choice = {Algorithm::kTrees}};
      const auto root = build_rank_part(plan, shape, 0);
      ASSERT_TRUE(root.has_value());
      EXPECT_LE(root->view().stages.size_bytes() + root->view().transfers.size_bytes(), 1024u) << s << " " << r;
    }
  }
}

TEST(Plan, WhatIsNotPlannedIsTheDefault) {
  Plan plan;
  EXPECT_EQ(planned_choice(plan, Operation::kAllgather, 8).algorithm, Algorithm::kBruck);
  EXPECT_EQ(planned_choice(plan, Operation::kAllgather, 1 << 20).algorithm, Algorithm::kRing);
  set_choice(plan, Operation::kAllgather, size_class(8), {Algorithm::kRing});
  EXPECT_EQ(planned_choice(plan, Operation::kAllgather, 8).algorithm, Algorithm::kRing);
  EXPECT_TRUE(is_valid(plan));
  set_choice(plan, Operation::kBarrier, 0, {Algorithm::kRing});
  EXPECT_FALSE(is_valid(plan));
}

}  // namespace
}  // namespace fibocast
