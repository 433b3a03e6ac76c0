// What Cordsen et al. 1997 and Banikazemi et al. 1999 state, as tests/golden/claims.json lists it: each recomputed.
#include <gtest/gtest.h>

#include <cmath>

#include "collectives/cost_model.h"
#include "collectives/growth.h"
#include "collectives/models/workstation_trees.h"
#include "collectives/models/workstations.h"
#include "collectives/tree_binomial.h"
#include "collectives/tree_fibo.h"
#include "collectives/tree_kary.h"
#include "collectives/tree_sequential.h"
#include "tests/collectives/golden.h"
#include "tests/collectives/models/workstation_costs.h"

namespace fibocast {
namespace {

using test::machine;

nlohmann::json claim(int id) {
  for (auto& claim : test::golden("claims.json", "claims"))
    if (claim["id"] == id) return claim;
  ADD_FAILURE() << id;
  return {};
}

nlohmann::json computed(int id) { return claim(id)["computed"]; }

TEST(Claims, Paper003GrowthAndBases) {
  std::vector<std::uint64_t> f;
  for (int t = 0; t <= 15; ++t) f.push_back(growth(t, 1, 3));
  EXPECT_EQ(computed(1), f);
  EXPECT_NE(claim(1)["printed"], f);
  for (const auto& [id, r] : {std::pair{7, 2}, {8, 3}, {9, 8}})
    EXPECT_NEAR(computed(id).get<double>(), growth_base(1, r), 0.00005);
  std::vector<int> below;  // where the printed lower bound of f is above it
  for (int t = 0; t <= 60; ++t)
    if (std::pow(1.31607, t) > static_cast<double>(growth(t, 1, 1))) below.push_back(t);
  EXPECT_EQ(computed(10), below);
}

TEST(Claims, Paper003SixtyFourProcesses) {
  EXPECT_EQ(computed(2), completion(tree_fibo(64, 1, 3), 1, 3));
  EXPECT_EQ(computed(3), completion(tree_kary(127, 2), 1, 3));
  EXPECT_EQ(computed(4), completion(tree_kary(64, 2), 1, 3));
  EXPECT_EQ(computed(5), completion(tree_binomial(64), 1, 3));
  EXPECT_EQ(computed(6), completion(tree_kary(73, 8), 1, 3));
}

TEST(Claims, A27NineteenProcesses) {
  const LatencyRatio manna = extract_latencies(115, 142).value();
  EXPECT_EQ(computed(11), (std::vector{manna.s, manna.r}));
  EXPECT_EQ(computed(12), completion(tree_sequential(19), manna.s, manna.r));
  EXPECT_EQ(computed(13), completion(tree_fibo(19, 1, 0), manna.s, manna.r));
  EXPECT_EQ(computed(14), completion(tree_fibo(19, 1, 3), manna.s, manna.r));
  // The gains are of the measured times that the paper prints.
  const auto gain = [](int slow, int fast) {
    return 100 * (1 - claim(fast)["printed"].get<double>() / claim(slow)["printed"].get<double>());
  };
  EXPECT_NEAR(computed(15).get<double>(), gain(12, 14), 0.05);
  EXPECT_NEAR(computed(16).get<double>(), gain(13, 14), 0.05);
}

TEST(Claims, A28SequentialOrBinomial) {
  std::vector<Rank> sequential;
  for (Rank p = 2; p <= 200; ++p)
    if (completion(tree_sequential(p), 27, 88) < completion(tree_binomial(p), 27, 88)) sequential.push_back(p);
  EXPECT_EQ(computed(17), sequential);
}

TEST(Claims, Paper001Table2) {
  std::vector<double> times;
  const WorkstationLink link = workstation_link(WorkstationPreset::kLiteral);
  for (const auto& sender : {fast_workstation(), slow_workstation()})
    for (const auto& receiver : {fast_workstation(), slow_workstation()})
      times.push_back(point_to_point_time(sender, receiver, link, 0).approximately());
  EXPECT_EQ(computed(28), times);
}

TEST(Claims, C15HierarchicalUpToFourKilobytes) {
  std::vector<std::uint64_t> crossovers;
  for (const WorkstationPreset preset : {WorkstationPreset::kFolded, WorkstationPreset::kLiteral}) {
    std::uint64_t bytes = 0;
    for (bool is_better = true; is_better; ++bytes) {
      const HeterogeneousCosts costs = machine("FFFFSSSS", preset, bytes).costs;
      is_better = completion(tree_hierarchical(costs, 0), costs) < completion(tree_slow_first(costs, 0), costs);
    }
    crossovers.push_back(bytes - 1);
  }
  EXPECT_EQ(computed(29), crossovers);
}

TEST(Claims, C17FourFastNodes) {
  for (const auto& [key, bytes] : {std::pair{"Xc0_m1024", 1024u}, {"Xc0_m8192", 8192u}}) {
    std::vector<double> times;
    for (std::size_t k = 1; k <= 8; ++k) {
      const auto m = machine(std::string(k, 'F') + std::string(8 - k, 'S'), WorkstationPreset::kFolded, bytes);
      times.push_back(m.time(gather_times(m.costs, 0, GatherModel::kLiteral).completion()).approximately());
    }
    EXPECT_EQ(computed(30)[key], times);
  }
}

}  // namespace
}  // namespace fibocast
