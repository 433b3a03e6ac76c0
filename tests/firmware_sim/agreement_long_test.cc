// The same for every number of ranks up to 256. Where messages grow with the square of the ranks each number is tried
// on one of the machines, else on all.
#include "tests/firmware_sim/agreement.h"

namespace fibocast {
namespace {

constexpr Rank kMostRanks = 256;

class EveryNumberOfRanks : public testing::TestWithParam<Operation> {};

TEST_P(EveryNumberOfRanks, Agrees) {
  const std::vector<CostModel> models = test::agreement_models();
  const bool dense = GetParam() == Operation::kAlltoall || GetParam() == Operation::kAllgather ||
                     GetParam() == Operation::kAllreduce || GetParam() == Operation::kMulticast;
  for (Rank p = 1; p <= kMostRanks; ++p) {
    const std::span<const CostModel> of_all = models;
    const auto tried = dense ? of_all.subspan(p % models.size(), 1) : of_all;
    EXPECT_GT(test::expect_agreement_of_all(GetParam(), p, tried), 0u);
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
