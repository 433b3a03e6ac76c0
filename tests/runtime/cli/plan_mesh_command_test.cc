#include <gtest/gtest.h>

#include <sstream>

#include "tests/runtime/cli/plan_program.h"

namespace fibocast {
namespace {

using test::Json;

Json json(const PlanMeshOptions& options) { return test::json(options); }
std::string refusal(const PlanMeshOptions& options) { return test::refusal(options); }

TEST(PlanMesh, Json) {
  const Json mesh = json({.order = 3, .mapping = "growing", .alpha = "1/2"});
  EXPECT_EQ(mesh["width"], 4);
  EXPECT_EQ(mesh["height"], 2);
  EXPECT_EQ(mesh["x"].dump(), "[0,1,3,2,0,1,3,2]");
  EXPECT_EQ(mesh["y"].dump(), "[0,0,0,0,1,1,1,1]");
  EXPECT_EQ(mesh["parent"].dump(), "[1,3,3,7,5,7,7,-1]");
  EXPECT_EQ(mesh["phase"].dump(), "[3,2,3,1,3,2,3,0]");
  EXPECT_EQ(mesh["large_messages"]["store_and_forward"], 0.875);
  EXPECT_EQ(mesh["large_messages"]["exact"], true);
  EXPECT_EQ(mesh["small_messages"]["store_and_forward"], 3);
  EXPECT_EQ(mesh["phases"].size(), 3u);
}

TEST(PlanMesh, D10bBoundAndLockstep) {
  const Json times = json({.order = 6})["large_messages"];
  EXPECT_EQ(times["store_and_forward"], 10);
  EXPECT_EQ(times["store_and_forward_lockstep"], 8);
  EXPECT_EQ(times["wormhole"], 8);
}

TEST(PlanMesh, FractionsThatDoNotFitAreRoundedAndSaySo) {
  const Json times = json({.order = 40, .alpha = "0.9"})["large_messages"];
  EXPECT_EQ(times["exact"], false);
  EXPECT_GT(times["store_and_forward"].get<double>(), times["perfect"].get<double>());
  EXPECT_EQ(json({.order = 4, .alpha = "1/sqrt2"})["alpha"], "1/sqrt2");
  EXPECT_NEAR(json({.order = 4, .alpha = "1/sqrt2"})["large_messages"]["perfect"].get<double>(), 1.81066, 1e-5);
}

TEST(PlanMesh, D18OneNode) {
  const Json mesh = json({.order = 0});
  EXPECT_EQ(mesh["nodes"], 1);
  EXPECT_EQ(mesh["large_messages"]["slowdown_store_and_forward"], 1);
  EXPECT_EQ(mesh["phases"].dump(), "[]");
  EXPECT_EQ(mesh["parent"].dump(), "[-1]");
}

TEST(PlanMesh, LargeOrdersWithoutTheirNodes) {
  const Json mesh = json({.order = 60});
  EXPECT_FALSE(mesh.contains("x"));
  EXPECT_EQ(mesh["phases"].back()["dilation"], std::uint64_t{1} << 28);
}

TEST(PlanMesh, Text) {
  std::ostringstream out;
  std::ostringstream err;
  EXPECT_EQ(plan_mesh({.order = 4, .mapping = "reflecting"}, out, err), 0);
  EXPECT_NE(out.str().find("\n    4                   8          1               0\n"), std::string::npos) << out.str();
  EXPECT_NE(out.str().find("   0   1   5   4\n   2   3   7   6\n"), std::string::npos) << out.str();
}

TEST(PlanMesh, HMistakesAreSentences) {
  for (const std::string alpha : {"0", "1.5", "-1", "x", "", "1ms", "1/0"})
    EXPECT_NE(refusal({.order = 3, .alpha = alpha}).find("--alpha"), std::string::npos) << alpha;
  EXPECT_NE(refusal({.order = 3, .mapping = "twisted"}).find("--mapping"), std::string::npos);
  EXPECT_NE(refusal({.order = 61}).find("--order"), std::string::npos);
}

}  // namespace
}  // namespace fibocast
