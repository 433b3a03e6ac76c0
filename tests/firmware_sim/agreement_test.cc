#include "tests/firmware_sim/agreement.h"

#include "collectives/models/postal_delay.h"

namespace fibocast {
namespace {

constexpr Rank kAgreedRanks[] = {1, 2, 3, 4, 5, 7, 8, 13, 16, 19, 31};

class Agreement : public testing::TestWithParam<Operation> {};

TEST_P(Agreement, EveryAlgorithmOfTheCatalogue) {
  const std::vector<CostModel> models = test::agreement_models();
  for (const Rank p : kAgreedRanks)
    EXPECT_GE(test::expect_agreement_of_all(GetParam(), p, models), 2 * models.size() * 2);
}

TEST_P(Agreement, LargeGroups) {
  const std::vector<CostModel> models = {test::agreement_models().front()};
  EXPECT_GT(test::expect_agreement_of_all(GetParam(), 64, models), 0u);
}

// Delaying the receives or the sends takes T' or T'' of the paper (Bruck et al. 1996, B26 to B28, B30).
TEST(PostalCombines, DelaysTakeTheTimesOfThePaper) {
  for (const LatencyRatio& lambda : {LatencyRatio{1, 1}, {2, 3}, {5, 4}, {25, 11}, {10, 17}, {1, 3}, {4, 29}})
    for (Rank p = 1; p <= 256; p += p < 20 ? 1 : 59) {
      const CostModel model{.send = lambda.s, .latency = lambda.r, .occupancy = 0, .ports = Ports::kIndependent};
      const auto completion = [&](Algorithm algorithm) {
        const OperationShape shape{.ranks = p, .choice = {algorithm}};
        return test::simulated_ideal(workload_of(fibo_plan(model), shape), model).completion;
      };
      const CombineTimes expected = combine_times(p, lambda);
      EXPECT_EQ(Rational(completion(Algorithm::kDelayReceive)), expected.delay_receive * lambda.s) << p;
      const Rational exact = expected.delay_send * lambda.s;  // rounds that end within a tick end with it
      EXPECT_EQ(completion(Algorithm::kDelaySend), (exact.numerator() + exact.denominator() - 1) / exact.denominator());
      EXPECT_LE(completion(Algorithm::kCombineEager),
                std::max(completion(Algorithm::kDelayReceive), completion(Algorithm::kDelaySend)));
    }
}

INSTANTIATE_TEST_SUITE_P(Operations, Agreement,
                         testing::Values(Operation::kBarrier, Operation::kMulticast, Operation::kReduce,
                                         Operation::kAllreduce, Operation::kScatter, Operation::kGather,
                                         Operation::kAllgather, Operation::kAlltoall, Operation::kDivide,
                                         Operation::kConquer),
                         [](const auto& tested) { return std::string(operation_name(tested.param)); });

}  // namespace
}  // namespace fibocast
