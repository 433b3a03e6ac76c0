#include <gtest/gtest.h>

#include <sstream>
#include <vector>

#include "collectives/schedule.h"
#include "collectives/validate.h"
#include "tests/runtime/cli/plan_program.h"

namespace fibocast {
namespace {

using test::Json;
using test::json;
using test::refusal;
using test::run;

const CostOptions kManna = {.s = "27", .r = "88"};

TEST(PlanTree, Json) {
  const Json tree = json(PlanTreeOptions{.ranks = 8, .costs = {.s = "1", .r = "1"}});
  EXPECT_EQ(tree.dump(), R"({"tree":"fibo","ranks":8,"root":0,"s":1,"r":1,"completion":5,"reduction_completion":5,)"
                         R"("parent":[-1,0,0,0,3,0,5,5],"children":[[5,3,2,1],[],[],[4],[],[7,6],[],[]],)"
                         R"("activation":[0,5,4,3,5,2,5,4]})");
}

TEST(PlanTree, NineteenRanksOfManna) {
  const Json tree = json(PlanTreeOptions{.ranks = 19, .costs = kManna});
  EXPECT_EQ(tree["completion"], 311);
  EXPECT_EQ(tree["reduction_completion"], 731);
  EXPECT_EQ(json(PlanTreeOptions{.tree = "sequential", .ranks = 19, .costs = kManna})["completion"], 574);
  EXPECT_EQ(json(PlanTreeOptions{.tree = "binomial:mask", .ranks = 19, .costs = kManna})["completion"], 487);
}

TEST(PlanTree, TimesAreNanoseconds) {
  const Json tree = json(PlanTreeOptions{.ranks = 19, .costs = {.s = "27us", .r = "0.088ms"}});
  EXPECT_EQ(tree["unit"], "ns");
  EXPECT_EQ(tree["completion"], 311'000);
}

TEST(PlanTree, RationalCosts) {
  EXPECT_EQ(json(PlanTreeOptions{.tree = "lambda", .ranks = 64, .costs = {.lambda = "9/5"}})["completion"], 9.2);
  EXPECT_EQ(json(PlanTreeOptions{.tree = "lambda", .ranks = 2, .costs = {.lambda = "7/3"}})["completion"], "7/3");
  EXPECT_EQ(json(PlanTreeOptions{.ranks = 64, .costs = {.s = "1/2", .r = "1.5"}})["completion"], 7.5);
}

TEST(PlanTree, LatencyAndOccupancy) {
  const Json tree = json(PlanTreeOptions{.ranks = 19, .costs = {.s = "27", .l = "61", .o = "27"}});
  EXPECT_EQ(tree["r"], 88);
  EXPECT_EQ(tree["completion"], 311);
  EXPECT_EQ(tree["reduction_completion"], 311);
}

TEST(PlanTree, RootAndConstruction) {
  PlanTreeOptions options{.tree = "lambda", .ranks = 8, .root = 3, .costs = {.lambda = "2"}};
  EXPECT_EQ(json(options)["parent"][3], -1);
  EXPECT_EQ(json(options)["children"][3], Json({4, 5, 6, 0}));  // 1, 2, 3, 5 plus 3 modulo 8
  options.root = 0;
  EXPECT_EQ(json(options)["parent"], Json({-1, 0, 0, 0, 1, 0, 1, 2}));
  options.construction = "descent";
  EXPECT_EQ(json(options)["parent"], Json({-1, 0, 0, 0, 3, 0, 5, 5}));
}

TEST(PlanTree, Text) {
  EXPECT_EQ(run(PlanTreeOptions{.ranks = 5, .costs = {.s = "1us", .r = "1us"}}).out,
            "fibo, 5 ranks, root 0, s = 1 us, r = 1 us\n"
            "\n"
            "0  at 0 ns\n"
            "|- 3  at 2 us\n"
            "|  `- 4  at 4 us\n"
            "|- 2  at 3 us\n"
            "`- 1  at 4 us\n"
            "\n"
            "distribution: 4 us\n"
            "reduction up the same tree: 4 us\n");
}

TEST(PlanTree, Refusals) {
  EXPECT_NE(refusal(PlanTreeOptions{.tree = "oak", .ranks = 4, .costs = kManna}).find("allowed are sequential"),
            std::string::npos);
  EXPECT_NE(refusal(PlanTreeOptions{.ranks = 4}).find("needs costs"), std::string::npos);
  EXPECT_NE(refusal(PlanTreeOptions{.ranks = 0, .costs = kManna}).find("--ranks"), std::string::npos);
  EXPECT_NE(refusal(PlanTreeOptions{.ranks = 4, .root = 4, .costs = kManna}).find("0 to 3"), std::string::npos);
  const std::vector<CostOptions> wrong = {{.s = "1"},
                                          {.r = "1"},
                                          {.s = "0", .r = "1"},
                                          {.s = "-1", .r = "1"},
                                          {.s = "x", .r = "1"},
                                          {.s = "1us", .r = "2"},
                                          {.s = "1", .r = "1", .l = "1"},
                                          {.s = "1", .lambda = "2"},
                                          {.lambda = "0.9"},
                                          {.lambda = "2us"},
                                          {.s = "1", .r = "99999999999999999999"},
                                          {.s = "1/18446744073709551615", .r = "1/18446744073709551614"}};
  for (const CostOptions& costs : wrong) refusal(PlanTreeOptions{.ranks = 4, .costs = costs});
}

TEST(PlanSchedule, CheckedBarrier) {
  const Json schedule = json(PlanScheduleOptions{.ranks = 19, .check = true, .costs = kManna});
  EXPECT_EQ(schedule["completion"], 805);
  EXPECT_EQ(schedule["schedule"].size(), 19u);
  EXPECT_TRUE(schedule["check"]["ok"]);
  EXPECT_NE(schedule["check"]["message"].get<std::string>().find("no deadlock"), std::string::npos);
  EXPECT_EQ(schedule["schedule"][4]["stages"][0]["waits_for_arrival"], true);
}

TEST(PlanSchedule, SegmentedMulticast) {
  const Json schedule = json(PlanScheduleOptions{.operation = "multicast",
                                                 .algorithm = "kary:1",
                                                 .ranks = 3,
                                                 .bytes = 100,
                                                 .segment_bytes = 30,
                                                 .check = true,
                                                 .costs = kManna});
  EXPECT_EQ(schedule["schedule"][0]["stages"][0]["repeat"], 4);
  EXPECT_EQ(schedule["schedule"][1]["stages"][0]["receives"],
            Json::parse(R"([{"from":0,"carries":"payload","stage":0}])"));
  EXPECT_TRUE(schedule["check"]["ok"]);
}

TEST(PlanSchedule, OneRankOfAThousandMillion) {
  PlanScheduleOptions options{.ranks = 1'000'000'000, .rank = 123'456'789, .costs = kManna};
  const Json schedule = json(options);
  EXPECT_EQ(schedule["schedule"].size(), 1u);
  EXPECT_EQ(schedule["schedule"][0]["rank"], 123'456'789);
  EXPECT_EQ(schedule["schedule"][0]["stages"].size(), 2u);
  EXPECT_EQ(run(options).exit_code, 0);
}

TEST(PlanSchedule, TextCanBeReadBack) {
  const test::PlanRun result = run(PlanScheduleOptions{.ranks = 7, .costs = kManna});
  std::string error;
  const auto schedule = parse_schedule(result.out, error);
  ASSERT_TRUE(schedule) << error;
  EXPECT_TRUE(validate(*schedule).ok);
  EXPECT_NE(result.out.find("predicted: "), std::string::npos);
}

TEST(PlanSchedule, Refusals) {
  EXPECT_NE(refusal(PlanScheduleOptions{.operation = "dance", .costs = kManna}).find("barrier, multicast"),
            std::string::npos);
  EXPECT_NE(refusal(PlanScheduleOptions{.algorithm = "oak", .costs = kManna}).find("there are planned"),
            std::string::npos);
  EXPECT_NE(refusal(PlanScheduleOptions{.algorithm = "binomial:mask", .costs = kManna}).find("cannot run"),
            std::string::npos);
  EXPECT_NE(refusal(PlanScheduleOptions{.ranks = 1'000'000'000, .costs = kManna}).find("--rank"), std::string::npos);
  EXPECT_NE(
      refusal(PlanScheduleOptions{.ranks = 1'000'000'000, .rank = 1, .check = true, .costs = kManna}).find("--check"),
      std::string::npos);
  EXPECT_NE(refusal(PlanScheduleOptions{.ranks = 3, .rank = 3, .costs = kManna}).find("0 to 2"), std::string::npos);
  EXPECT_NE(
      refusal(PlanScheduleOptions{.algorithm = "sequential", .ranks = 1'000'000'000, .rank = 0}).find("transfers"),
      std::string::npos);
}

TEST(PlanCommand, ParsesItsOptions) {
  CLI::App app;
  int exit_code = -1;
  add_plan_command(app, exit_code);
  testing::internal::CaptureStdout();
  app.parse("plan tree --tree binary --ranks 3 --s 2 --r 1 --json");
  EXPECT_EQ(Json::parse(testing::internal::GetCapturedStdout())["completion"], 5);
  EXPECT_EQ(exit_code, 0);
  EXPECT_THROW(app.parse("plan"), CLI::ParseError);
  EXPECT_THROW(app.parse("plan tree --ranks 3 --construction sideways"), CLI::ParseError);
}

TEST(PlanCommand, ATreeNeedsRanksOrNodes) {
  CLI::App app;
  int exit_code = -1;
  add_plan_command(app, exit_code);
  testing::internal::CaptureStderr();
  app.parse("plan tree --tree binary");
  EXPECT_NE(testing::internal::GetCapturedStderr().find("--ranks must be 1 to"), std::string::npos);
  EXPECT_EQ(exit_code, 2);
}

}  // namespace
}  // namespace fibocast
