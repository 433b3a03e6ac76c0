// Whole nodes on the modelled networks take exactly as long as their engines alone.
#include "firmware_sim/full_nodes.h"

#include "collectives/algorithm_catalog.h"
#include "firmware_sim/experiment.h"
#include "firmware_sim/machine_presets.h"
#include "tests/firmware_sim/simulated.h"

namespace fibocast {
namespace {

ExperimentRequest on(const std::string& machine, Operation operation, const std::string& algorithm, Rank ranks) {
  std::string error;
  ExperimentRequest request;
  request.machine = machine_preset(machine, ranks, error).value();
  request.operation = operation;
  request.algorithm = algorithm;
  request.ranks = ranks;
  return request;
}

void expect_the_same(const ExperimentRequest& request) {
  std::string error;
  auto engines = Experiment::prepare(request, error), nodes = Experiment::prepare(request, error);
  ASSERT_TRUE(engines && nodes) << error;
  const auto expected = engines->run({}, error);
  const auto found = nodes->run_full_nodes(error);
  ASSERT_TRUE(expected && found) << error;
  EXPECT_EQ(found->messages, expected->messages);
  for (Rank v = 0; v < participating_ranks(engines->shape()); ++v)
    ASSERT_EQ(found->active[v], expected->active[v]) << request.machine.name << ' ' << engines->way() << ' ' << v;
}

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
      ExperimentRequest request = on(GetParam(), asked.operation, asked.algorithm, ranks);
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
  ExperimentRequest request = on("hnow", Operation::kMulticast, "fibo", 16);
  request.bytes = 100, request.root = 5, request.placement = Placement::kRandom;
  expect_the_same(request);
}

TEST(FullNodes, TreesThatAreNoFormula) {
  for (const char* tree : {"optimum", "hierarchical", "slow-first"}) {
    ExperimentRequest request = on("hnow", Operation::kMulticast, "", 8);
    request.tree = tree, request.bytes = 300, request.root = 2;
    expect_the_same(request);
  }
}

TEST(FullNodes, RefuseWithASentence) {
  const auto error_of = [](const ExperimentRequest& request) {
    std::string error;
    auto experiment = Experiment::prepare(request, error);
    EXPECT_FALSE(experiment->run_full_nodes(error));
    return error;
  };
  EXPECT_EQ(error_of(on("ideal", Operation::kBarrier, "fibo", 129)), "whole nodes are run up to 128 at a time");
  EXPECT_EQ(error_of(on("cbft", Operation::kBarrier, "binomial", 4)),
            "whole nodes run on networks that answer at once: not on this one");
  ExperimentRequest request = on("manna", Operation::kBarrier, "fibo", 19);
  request.machine.far_send = 1;
  EXPECT_EQ(error_of(request), "whole nodes do not know of networks that keep the sender longer");
}

}  // namespace
}  // namespace fibocast
