// Whole nodes and engines alone must take equally long: what the short and the long test of that have in common.
#pragma once

#include <string>
#include <vector>

#include "firmware_sim/experiment.h"
#include "firmware_sim/full_nodes.h"
#include "firmware_sim/machine_presets.h"
#include "tests/firmware_sim/simulated.h"

namespace fibocast::test {

inline ExperimentRequest experiment_on(const std::string& machine, Operation operation, const std::string& algorithm,
                                       Rank ranks) {
  std::string error;
  ExperimentRequest request;
  request.machine = machine_preset(machine, ranks, error).value();
  request.operation = operation;
  request.algorithm = algorithm;
  request.ranks = ranks;
  return request;
}

// In every activation of every rank.
inline void expect_the_same(const ExperimentRequest& request) {
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

// By trees, and what else spreads or collects along few channels, among many on the ideal machine.
inline std::vector<ExperimentRequest> large_experiments(Rank ranks) {
  std::vector<ExperimentRequest> all;
  for (const char* tree : {"fibo", "lambda", "binomial"})
    for (const Operation operation :
         {Operation::kBarrier, Operation::kMulticast, Operation::kReduce, Operation::kAllreduce}) {
      all.push_back(experiment_on("ideal", operation, "", ranks));
      all.back().tree = tree;
      if (operation != Operation::kBarrier) all.back().bytes = 64;
    }
  for (const Operation operation : {Operation::kScatter, Operation::kGather}) {
    all.push_back(experiment_on("ideal", operation, "fibo", ranks));
    all.back().bytes = 8;
  }
  return all;
}

}  // namespace fibocast::test
