// Whole nodes on the modelled networks take exactly as long as their engines alone.
#include "firmware_sim/full_nodes.h"

#include <algorithm>

#include "tests/firmware_sim/full_nodes.h"

namespace fibocast {
namespace {

using test::expect_the_same;
using test::experiment_on;

class FullNodesOn : public testing::TestWithParam<const char*> {};

TEST_P(FullNodesOn, TakeAsLongAsTheirEngines) {
  struct Asked {
    Operation operation;
    const char* algorithm;
    std::uint64_t bytes;
  };
  for (const Asked& asked : {Asked{Operation::kBarrier, "fibo", 0},
                             {Operation::kBarrier, "dissemination:2", 0},
                             {Operation::kMulticast, "fibo", 512},
                             {Operation::kMulticast, "binomial", 800},
                             {Operation::kReduce, "fibo", 64},
                             {Operation::kScatter, "sequential", 100},
                             {Operation::kGather, "fibo", 24}})
    for (const Rank ranks : {2u, 7u, 19u}) {
      // All send at once and contend: who is first depends on more than the source.
      if (GetParam() == std::string("delta") && asked.algorithm == std::string("dissemination:2")) continue;
      ExperimentRequest request = experiment_on(GetParam(), asked.operation, asked.algorithm, ranks);
      request.bytes = asked.bytes;
      expect_the_same(request);
    }
}

INSTANTIATE_TEST_SUITE_P(Machines, FullNodesOn, testing::Values("ideal", "manna", "delta", "hnow", "hnow-literal"),
                         [](const auto& tested) {
                           std::string name = tested.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(FullNodes, AnotherRootAndRandomPlaces) {
  ExperimentRequest request = experiment_on("hnow", Operation::kMulticast, "fibo", 16);
  request.bytes = 100, request.root = 5, request.placement = Placement::kRandom;
  expect_the_same(request);
}

TEST(FullNodes, TreesThatAreNoFormula) {
  for (const char* tree : {"optimum", "hierarchical", "slow-first"}) {
    ExperimentRequest request = experiment_on("hnow", Operation::kMulticast, "", 8);
    request.tree = tree, request.bytes = 300, request.root = 2;
    expect_the_same(request);
  }
}

TEST(FullNodes, AreMany) {
  for (const ExperimentRequest& request : test::large_experiments(256)) expect_the_same(request);
}

TEST(FullNodes, RefuseWithASentence) {
  const auto error_of = [](const ExperimentRequest& request) {
    std::string error;
    auto experiment = Experiment::prepare(request, error);
    EXPECT_FALSE(experiment->run_full_nodes(error));
    return error;
  };
  EXPECT_EQ(error_of(experiment_on("ideal", Operation::kBarrier, "fibo", 10'001)),
            "whole nodes are run up to 10000 at a time");
  EXPECT_EQ(error_of(experiment_on("cbft", Operation::kBarrier, "binomial", 4)),
            "whole nodes run on networks that answer at once: not on this one");
  ExperimentRequest request = experiment_on("manna", Operation::kBarrier, "fibo", 19);
  request.machine.far_send = 1;
  EXPECT_EQ(error_of(request), "whole nodes do not know of networks that keep the sender longer");
}

}  // namespace
}  // namespace fibocast
