// Every algorithm of the catalogue, for many numbers of ranks and costs: the validator proves it right, and that its
// marks (same bits, keeps order) are deserved.
#include <gtest/gtest.h>

#include <random>

#include "collectives/algorithm_catalog.h"
#include "collectives/tree_view.h"
#include "collectives/validate.h"

namespace fibocast {
namespace {

Plan plan_for(std::uint64_t s, std::uint64_t r) {
  Plan plan;
  plan.distribution = {.s = s, .r = r};
  plan.reduction = mirror(plan.distribution);
  return plan;
}

struct Costs {
  std::uint64_t s, r;
};
constexpr Costs kCosts[] = {{1, 0}, {1, 1}, {27, 88}, {5, 4}, {2, 9}, {1, 7}};

OperationShape shape_of(const AlgorithmEntry& entry, Rank ranks) {
  OperationShape shape{.operation = entry.operation, .ranks = ranks, .total_bytes = 1000};
  shape.choice = entry.choice;
  if (combines(entry.operation)) shape.type = ElementType::kInt64, shape.op = CombineOperator::kSum;
  if (entry.operation == Operation::kMulticast || entry.operation == Operation::kAllreduce) shape.segment_bytes = 300;
  return shape;
}

void prove(const AlgorithmEntry& entry, Rank ranks, const Costs& costs) {
  const OperationShape shape = shape_of(entry, ranks);
  if (!objection(shape).empty()) return;
  const std::string what = std::string(operation_name(entry.operation)) + " " + std::string(entry.name) + " p " +
                           std::to_string(ranks) + " s " + std::to_string(costs.s) + " r " + std::to_string(costs.r);
  const auto schedule = build_schedule(plan_for(costs.s, costs.r), shape);
  const bool many_stages = entry.choice.algorithm == Algorithm::kRing ||
                           entry.choice.algorithm == Algorithm::kScatterAllgather ||
                           entry.choice.algorithm == Algorithm::kFlooding || entry.operation == Operation::kAlltoall;
  if (!schedule && many_stages && ranks > 127) return;  // refused: more stages than can be numbered
  ASSERT_TRUE(schedule) << what;
  const Validation v = validate(*schedule);
  ASSERT_TRUE(v.ok) << what << ": " << v.message;
  if (combines(entry.operation)) {
    EXPECT_TRUE(!entry.same_bits || v.same_bits) << what;
    EXPECT_TRUE(!entry.keeps_order || v.keeps_order) << what;
  }
}

// Under a sanitizer most of the time would go to the largest.
constexpr Rank kAllUpTo = FIBOCAST_SANITIZED ? 32 : 64, kMoreBy = FIBOCAST_SANITIZED ? 100 : 400,
               kStep = FIBOCAST_SANITIZED ? 3 : 1;

class EveryAlgorithm : public testing::TestWithParam<std::size_t> {};

TEST_P(EveryAlgorithm, IsRightForAllSmallNumbersOfRanks) {
  const AlgorithmEntry& entry = algorithm_catalog()[GetParam()];
  for (const Costs& costs : kCosts)
    for (Rank ranks = 1; ranks <= kAllUpTo && !HasFatalFailure(); ranks += kStep) prove(entry, ranks, costs);
}

TEST_P(EveryAlgorithm, IsRightForSomeLargeNumbersOfRanks) {
  std::mt19937 random(static_cast<unsigned>(GetParam()));
  const AlgorithmEntry& entry = algorithm_catalog()[GetParam()];
  for (int i = 0; i < 4 && !HasFatalFailure(); ++i)
    prove(entry, 65 + random() % kMoreBy, kCosts[random() % std::size(kCosts)]);
}

std::string test_name(const testing::TestParamInfo<std::size_t>& info) {
  const AlgorithmEntry& entry = algorithm_catalog()[info.param];
  std::string name = std::string(operation_name(entry.operation)) + "_" + std::string(entry.name);
  std::replace(name.begin(), name.end(), ':', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Catalog, EveryAlgorithm, testing::Range(std::size_t{0}, algorithm_catalog().size()),
                         test_name);

TEST(AlgorithmCatalog, MarksThatAreNotThereAreNotDeserved) {
  for (const AlgorithmEntry& entry : algorithm_catalog()) {
    if (!combines(entry.operation) || (entry.same_bits && entry.keeps_order)) continue;
    const Validation v = validate(build_schedule(plan_for(27, 88), shape_of(entry, 19)).value());
    ASSERT_TRUE(v.ok) << v.message;
    EXPECT_EQ(v.same_bits, entry.same_bits) << entry.name;
    EXPECT_EQ(v.keeps_order, entry.keeps_order) << entry.name;
  }
}

TEST(AlgorithmCatalog, NamesAreReadAndWritten) {
  std::string error;
  for (const AlgorithmEntry& entry : algorithm_catalog()) {
    std::string name(entry.name);
    if (name.ends_with(":K")) name.replace(name.size() - 1, 1, "3");
    if (name.ends_with(":ALPHA")) name.replace(name.size() - 5, 5, "0.95");
    if (name.ends_with(":L")) name.replace(name.size() - 1, 1, "3.5");
    const auto choice = choose_algorithm(entry.operation, name, error);
    ASSERT_TRUE(choice) << name;
    EXPECT_EQ(algorithm_name(entry.operation, *choice), name);
  }
}

TEST(AlgorithmCatalog, UnknownNamesAreOneSentence) {
  std::string error;
  EXPECT_FALSE(choose_algorithm(Operation::kAllreduce, "quantum", error));
  EXPECT_EQ(error.find("there is no algorithm \"quantum\" for allreduce; there are planned, fibo"), 0u) << error;
  EXPECT_FALSE(choose_algorithm(Operation::kBarrier, "dissemination:1", error));
  EXPECT_FALSE(choose_algorithm(Operation::kBarrier, "dissemination:", error));
  EXPECT_FALSE(choose_algorithm(Operation::kBarrier, "kary:0", error));
  EXPECT_FALSE(choose_algorithm(Operation::kScatter, "kary:2", error));
}

TEST(AlgorithmCatalog, FloatsAreRefusedWhereRanksWouldDiffer) {
  OperationShape shape{.operation = Operation::kAllreduce, .ranks = 8, .total_bytes = 8};
  shape.choice = {Algorithm::kCombineEager}, shape.type = ElementType::kDouble, shape.op = CombineOperator::kSum;
  EXPECT_FALSE(objection(shape).empty());
  shape.type = ElementType::kInt64;
  EXPECT_TRUE(objection(shape).empty());
  shape.total_bytes = 12;
  EXPECT_FALSE(objection(shape).empty());
}

}  // namespace
}  // namespace fibocast
