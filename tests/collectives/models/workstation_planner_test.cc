// The best tree on different nodes, and its certificate.
#include "collectives/models/workstation_planner.h"

#include <gtest/gtest.h>

#include <random>

#include "collectives/models/workstations.h"

namespace fibocast {
namespace {

TEST(WorkstationPlanner, NothingBeatsTheBound) {
  std::mt19937 random(1);
  for (int i = 0; i < 200; ++i) {
    HeterogeneousCosts costs{.nodes = {}, .link = random() % 5};
    for (Rank v = 0; v < 1 + random() % 60; ++v) costs.nodes.push_back({1 + random() % 20, random() % 30});
    for (const Operation operation : {Operation::kBarrier, Operation::kMulticast}) {
      const PlanAnswer a = plan_workstations_answer(operation, costs, 8);
      ASSERT_TRUE(a.chosen);
      for (const Candidate& c : a.candidates)
        if (c.objection.empty()) {
          ASSERT_GE(c.predicted, a.bound.ticks) << c.name << ' ' << a.bound.formula;
          ASSERT_GE(c.predicted, a.best()->predicted);
        }
    }
  }
}

TEST(WorkstationPlanner, EqualNodesAreTheHomogeneousMachine) {
  const HeterogeneousCosts costs{.nodes = std::vector<NodeCost>(19, {27, 88}), .link = 0};
  const PlanAnswer multicast = plan_workstations_answer(Operation::kMulticast, costs, 0);
  EXPECT_EQ(multicast.best()->predicted, 311u);  // A27
  EXPECT_EQ(multicast.bound.ticks, 311u);
  EXPECT_EQ(plan_workstations_answer(Operation::kBarrier, costs, 0).best()->predicted, 805u);  // A30
}

TEST(WorkstationPlanner, FourThousandNodesAreAnswered) {
  const auto cluster = workstations_in_ticks({{slow_workstation(), fast_workstation()},
                                              std::vector<std::uint32_t>(4096, 0),
                                              workstation_link(WorkstationPreset::kLiteral)},
                                             1024);
  EXPECT_TRUE(plan_workstations_answer(Operation::kBarrier, cluster.costs, 1024).chosen);
}

}  // namespace
}  // namespace fibocast
