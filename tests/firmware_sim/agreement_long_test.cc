// The same for every number of ranks up to 256. Where messages grow with the square of the ranks each number is tried
// with one of the machines and one of the sizes in turn, else with all.
#include "tests/firmware_sim/agreement.h"

namespace fibocast {
namespace {

constexpr Rank kMostRanks = 256;

std::size_t expect_agreement_in_turn(Operation operation, Rank p, const std::vector<CostModel>& models) {
  std::size_t compared = 0;
  for (const AlgorithmChoice& choice : test::agreement_choices(operation)) {
    const std::vector<OperationShape> shapes = test::agreement_shapes(operation, choice, p);
    compared += test::expect_agreement_with_both_ports(shapes[p % shapes.size()], models[p % models.size()]);
  }
  return compared;
}

class EveryNumberOfRanks : public testing::TestWithParam<Operation> {};

TEST_P(EveryNumberOfRanks, Agrees) {
  const std::vector<CostModel> models = test::agreement_models();
  const bool dense = GetParam() == Operation::kAlltoall || GetParam() == Operation::kAllgather ||
                     GetParam() == Operation::kAllreduce || GetParam() == Operation::kMulticast;
  for (Rank p = 1; p <= kMostRanks; ++p) {
    EXPECT_GT(
        dense ? expect_agreement_in_turn(GetParam(), p, models) : test::expect_agreement_of_all(GetParam(), p, models),
        0u);
  }
}

INSTANTIATE_TEST_SUITE_P(Operations, EveryNumberOfRanks,
                         testing::Values(Operation::kBarrier, Operation::kMulticast, Operation::kReduce,
                                         Operation::kAllreduce, Operation::kScatter, Operation::kGather,
                                         Operation::kAllgather, Operation::kAlltoall, Operation::kDivide,
                                         Operation::kConquer),
                         [](const auto& tested) { return std::string(operation_name(tested.param)); });

}  // namespace
}  // namespace fibocast
