#include <gtest/gtest.h>

#include <sstream>

#include "collectives/fat_tree_shape.h"
#include "tests/runtime/cli/plan_program.h"

namespace fibocast {
namespace {

using test::Json;

Json json(const PlanFattreeOptions& options) { return test::json(options); }
std::string refusal(const PlanFattreeOptions& options) { return test::refusal(options); }

TEST(PlanFattree, ColumnsOfLargeNumbersStayApart) {
  std::ostringstream out;
  std::ostringstream err;
  EXPECT_EQ(plan_fattree({.leaves = 1 << 20}, out, err), 0) << err.str();
  const Json tree = json({.leaves = 1 << 20});
  const std::string all = tree["bounds"]["alltoall"].dump() + "  " + tree["times"]["alltoall"].dump() + "\n";
  EXPECT_NE(out.str().find(all), std::string::npos) << out.str();
}

TEST(PlanFattree, BoundsAndTimes) {
  const Json tree = json({.leaves = 8, .capacities = "exponential"});
  EXPECT_EQ(tree["capacities"].dump(), "[1,2,4]");
  EXPECT_EQ(tree["bounds"].dump(), R"({"broadcast":6,"scatter":9,"gather":9,"allgather":9,"alltoall":9})");
  EXPECT_EQ(tree["times"]["alltoall"], 12);
  EXPECT_EQ(tree["times"]["alltoall_serial"], 16);
  EXPECT_EQ(tree["alltoall_lower_bounds"]["sound"], 11);
  EXPECT_FALSE(tree.contains("schedule"));
}

TEST(PlanFattree, EveryOperationTakesItsTime) {
  for (const std::uint64_t n : {1u, 2u, 4u, 16u, 64u})
    for (const std::string capacities : {"constant", "exponential"})
      for (const std::string operation : {"broadcast", "scatter", "gather", "allgather", "alltoall"}) {
        const Json tree = json({.leaves = n, .capacities = capacities, .operation = operation});
        EXPECT_EQ(tree["steps"], tree["times"][operation]) << operation << ' ' << n;
        EXPECT_EQ(tree["conflict_free"], true);
      }
}

TEST(PlanFattree, SchedulesOfATotalExchange) {
  PlanFattreeOptions options{.leaves = 8, .capacities = "exponential", .operation = "alltoall", .algorithm = "xor"};
  EXPECT_EQ(json(options)["steps"], 11);
  EXPECT_EQ(json(options)["schedule"].size(), 56u);
  options.algorithm = "serial";
  EXPECT_EQ(json(options)["steps"], 16);
  options.algorithm = "pairs";
  EXPECT_EQ(json(options)["steps"], 36);
  options.capacities = "1,2,2";
  options.algorithm = "pipelined";
  EXPECT_EQ(json(options)["steps"], 16);
}

TEST(PlanFattree, TheRootMayBeAnyLeaf) {
  const Json tree = json({.leaves = 8, .operation = "scatter", .root = 7});
  EXPECT_EQ(tree["schedule"][0].dump(), "[1,7,3]");
  EXPECT_EQ(json({.leaves = 4, .operation = "broadcast", .root = 2})["schedule"][0].dump(), "[1,2,5,2]");
}

TEST(PlanFattree, E3EachLeafIsReachedAsSoonAsItsDistanceAllows) {
  for (const Rank root : {0u, 5u}) {
    int leaves = 0;
    const Json tree = json({.leaves = 16, .operation = "broadcast", .root = root});
    for (const Json& hop : tree["schedule"]) {
      if (hop[2] >= 16) continue;
      EXPECT_EQ(hop[0], 2 * common_level(root, hop[2]));
      ++leaves;
    }
    EXPECT_EQ(leaves, 15);
  }
}

TEST(PlanFattree, E14OtherRatiosAreATarget) {
  const Json tree = json({.leaves = 8, .capacities = "1,1,4"});
  EXPECT_EQ(tree["alltoall_has_schedule"], false);
  EXPECT_EQ(tree["alltoall_phases"][0]["dispatches"], 8);
  EXPECT_NE(refusal({.leaves = 8, .capacities = "1,1,4", .operation = "alltoall"}).find("twice"), std::string::npos);
}

TEST(PlanFattree, LargeTreesWithoutTheirSchedule) {
  const Json tree = json({.leaves = 1 << 30, .operation = "alltoall"});
  EXPECT_TRUE(tree.contains("schedule_omitted"));
  EXPECT_EQ(tree["times"]["allgather"], (1 << 30) + 1);
}

TEST(PlanFattree, Text) {
  std::ostringstream out;
  std::ostringstream err;
  EXPECT_EQ(plan_fattree({.leaves = 4, .operation = "allgather"}, out, err), 0);
  EXPECT_NE(out.str().find("\nallgather             5       5\n"), std::string::npos) << out.str();
  EXPECT_NE(out.str().find("\n           1           0           4           0\n"), std::string::npos) << out.str();
  EXPECT_NE(out.str().find("allgather: 5 steps"), std::string::npos) << out.str();
}

TEST(PlanFattree, HMistakesAreSentences) {
  EXPECT_NE(refusal({.leaves = 0}).find("power of two"), std::string::npos);
  EXPECT_NE(refusal({.leaves = 12}).find("power of two"), std::string::npos);
  EXPECT_NE(refusal({.leaves = 4, .capacities = "2,2"}).find("must be 1"), std::string::npos);
  EXPECT_NE(refusal({.leaves = 4, .capacities = "1"}).find("levels"), std::string::npos);
  EXPECT_NE(refusal({.leaves = 4, .operation = "sort"}).find("--operation"), std::string::npos);
  EXPECT_NE(refusal({.leaves = 4, .operation = "scatter", .root = 4}).find("--root"), std::string::npos);
  EXPECT_NE(refusal({.leaves = 4, .operation = "alltoall", .algorithm = "luck"}).find("--algorithm"),
            std::string::npos);
  EXPECT_NE(refusal({.leaves = 2, .operation = "alltoall", .algorithm = "pairs"}).find("4 leaves"), std::string::npos);
  EXPECT_NE(refusal({.leaves = 4, .operation = "alltoall", .algorithm = "xor"}).find("exponential"), std::string::npos);
}

}  // namespace
}  // namespace fibocast
