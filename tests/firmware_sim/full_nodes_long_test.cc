// Whole nodes take as long as their engines alone, also when they are many.
#include <gtest/gtest.h>

#include "tests/firmware_sim/full_nodes.h"

namespace fibocast {
namespace {

using test::expect_the_same;
using test::experiment_on;

class ManyFullNodes : public testing::TestWithParam<Rank> {};

TEST_P(ManyFullNodes, TakeAsLongAsTheirEngines) {
  for (ExperimentRequest& request : test::large_experiments(GetParam())) {
    expect_the_same(request);
    if (request.operation == Operation::kMulticast) request.root = GetParam() / 3, expect_the_same(request);
  }
}

INSTANTIATE_TEST_SUITE_P(Ranks, ManyFullNodes, testing::Values(512, 1000, 1024), testing::PrintToStringParamName());

TEST(ManyFullNodes, PassLargePayloadsOn) {
  ExperimentRequest request = experiment_on("manna", Operation::kMulticast, "fibo", 1024);
  request.bytes = 20'000, request.segment_bytes = 3'000;
  expect_the_same(request);
}

TEST(ManyFullNodes, ExchangeWithEachOther) {
  expect_the_same(experiment_on("ideal", Operation::kBarrier, "dissemination:2", 1024));
}

TEST(TenThousandFullNodes, TakeAsLongAsTheirEngines) {
  expect_the_same(experiment_on("ideal", Operation::kBarrier, "fibo", kMostFullNodes));
  ExperimentRequest multicast = experiment_on("ideal", Operation::kMulticast, "fibo", kMostFullNodes);
  multicast.bytes = 4'000, multicast.root = 77;
  expect_the_same(multicast);
}

}  // namespace
}  // namespace fibocast
