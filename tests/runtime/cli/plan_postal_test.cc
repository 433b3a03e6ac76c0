// fibocast plan alpha-table, plan combine, and the constructions of plan tree --tree lambda.
#include <gtest/gtest.h>

#include <sstream>

#include "tests/collectives/golden.h"
#include "tests/runtime/cli/plan_program.h"

namespace fibocast {
namespace {

using test::Json;
using test::json;
using test::PlanRun;
using test::refusal;
using test::run;

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(PlanAlphaTable, B11GoldenTables) {
  for (const auto& entry : test::golden("postal.json", "lookup")) {
    const Json table = json(PlanAlphaTableOptions{.lambda = entry["lam"], .max_ranks = entry["nmax"]});
    ASSERT_EQ(table["size"], entry["entries"].size());
    for (std::size_t i = 0; i < entry["entries"].size(); ++i) {
      const Json& got = table["entries"][i];
      EXPECT_EQ(Json({got["max"], got["from"], got["below"]}), Json(entry["entries"][i]));
    }
  }
}

TEST(PlanAlphaTable, SingleAlphaAndText) {
  EXPECT_NEAR(json(PlanAlphaTableOptions{.lambda = "2", .max_ranks = 1'000'000'000})["single_alpha"], 0.618034, 1e-6);
  EXPECT_TRUE(json(PlanAlphaTableOptions{.lambda = "1.8", .max_ranks = 1})["single_alpha"].is_null());
  EXPECT_EQ(run(PlanAlphaTableOptions{.lambda = "1.8", .max_ranks = 22}).out,
            "lambda = 1.8: of n ranks the sender keeps alpha n, rounded half up\n\n"
            "n up to 20: 15/26 <= alpha < 19/32, middle 487/832\n"
            "n up to 22: 25/42 <= alpha < 27/44, middle 1117/1848\n");
}

TEST(PlanAlphaTable, Refusals) {
  EXPECT_TRUE(contains(refusal(PlanAlphaTableOptions{.lambda = "0.9", .max_ranks = 8}), "at least 1"));
  EXPECT_TRUE(contains(refusal(PlanAlphaTableOptions{.lambda = "2us", .max_ranks = 8}), "no ratio"));
  EXPECT_TRUE(contains(refusal(PlanAlphaTableOptions{.lambda = "two", .max_ranks = 8}), "no ratio"));
  EXPECT_TRUE(contains(refusal(PlanAlphaTableOptions{.lambda = "2", .max_ranks = 0}), "1 to"));
  EXPECT_TRUE(contains(refusal(PlanAlphaTableOptions{.lambda = "2", .max_ranks = 3'000'000'000}), "1 to"));
}

TEST(PlanCombine, B21B22GoldenSchedules) {
  for (const auto& entry : test::golden("postal.json", "combine")) {
    const Json plan = json(PlanCombineOptions{.ranks = entry["n"], .lambda = std::to_string(entry["lam"].get<int>())});
    EXPECT_EQ(plan["time"], entry["t"]);
    EXPECT_EQ(plan["eps"], Json(entry["eps"]));
    EXPECT_EQ(plan["reach"], Json(entry["N"]));
    EXPECT_EQ(plan["messages"], entry["messages"]);
    Json schedule = Json::array();
    for (const Json& r : plan["schedule"]) schedule.push_back({r["round"], r["sends"], r["count"], r["offset"]});
    EXPECT_EQ(schedule, Json(entry["schedule"]));
  }
}

TEST(PlanCombine, B26B27NonIntegerLambda) {
  Json plan = json(PlanCombineOptions{.ranks = 64, .lambda = "5/2"});
  EXPECT_EQ(plan["scheme"], "delay-send");
  EXPECT_EQ(plan["time"], 12.5);
  EXPECT_EQ(plan["optimum"], 11.5);
  EXPECT_EQ(plan["delay_receive"], 13);
  EXPECT_EQ(plan["round_length"], 1.25);
  EXPECT_EQ(plan["schedule"][1]["starts"], 1.25);
  plan = json(PlanCombineOptions{.ranks = 64, .lambda = "5/2", .scheme = "delay-receive"});
  EXPECT_EQ(plan["time"], 13);
  EXPECT_EQ(plan["round_lambda"], 3);
  EXPECT_EQ(json(PlanCombineOptions{.ranks = 64, .lambda = "2.7"})["scheme"], "delay-receive");
  EXPECT_EQ(json(PlanCombineOptions{.ranks = 64, .lambda = "3"})["scheme"], "exact");
}

TEST(PlanCombine, B25Text) {
  EXPECT_EQ(run(PlanCombineOptions{.ranks = 10, .lambda = "2"}).out,
            "combine of 10 ranks, lambda = 2 (exact): rounds of 1, a message takes 2 of them\n\n"
            "round 1 from 0: T (1 contributions) to rank - 1\n"
            "round 2 from 1: nothing\n"
            "round 3 from 2: T (2 contributions) to rank - 2\n"
            "round 4 from 3: T (2 contributions) to rank - 4\n"
            "round 5 from 4: T (4 contributions) to rank - 6\n"
            "\nmessages: 40\ntime: 6 (lower bound 6; delayed receives 6, delayed sends 6)\n");
}

TEST(PlanCombine, HOneRankAndRefusals) {
  const Json one = json(PlanCombineOptions{.ranks = 1, .lambda = "1.8"});
  EXPECT_EQ(one["time"], 0);
  EXPECT_EQ(one["messages"], 0);
  EXPECT_TRUE(contains(refusal(PlanCombineOptions{.ranks = 0, .lambda = "2"}), "--ranks must be 1 to"));
  EXPECT_TRUE(contains(refusal(PlanCombineOptions{.ranks = 1ull << 32, .lambda = "2"}), "--ranks must be 1 to"));
  EXPECT_TRUE(contains(refusal(PlanCombineOptions{.ranks = 8, .lambda = "1/2"}), "at least 1"));
  EXPECT_TRUE(contains(refusal(PlanCombineOptions{.ranks = 8, .lambda = ""}), "no ratio"));
  EXPECT_TRUE(contains(refusal(PlanCombineOptions{.ranks = 1'000'000'000, .lambda = "100"}), "224 rounds"));
}

TEST(PlanTreeLambda, B7TheFractionImpliesThePartition) {
  PlanTreeOptions options{.tree = "lambda", .ranks = 64, .alpha = "0.5", .costs = {.lambda = "1.8"}};
  EXPECT_EQ(json(options)["completion"], 10.8);
  options.alpha = "0.58";
  EXPECT_EQ(json(options)["completion"], 9.2);
  options.alpha = "";
  for (const char* construction : {"queue", "bottomup", "alpha", "descent"}) {
    options.construction = construction;
    EXPECT_EQ(json(options)["completion"], 9.2) << construction;
  }
}

TEST(PlanTreeLambda, Refusals) {
  const PlanTreeOptions good{.tree = "lambda", .ranks = 8, .costs = {.lambda = "1.8"}};
  const auto refused = [&good](const std::string& tree, const std::string& construction, const std::string& alpha) {
    PlanTreeOptions options = good;
    options.tree = tree;
    options.construction = construction;
    options.alpha = alpha;
    return refusal(options);
  };
  EXPECT_TRUE(contains(refused("fibo", "", "0.5"), "belongs to --tree lambda"));
  EXPECT_TRUE(contains(refused("lambda", "queue", "0.5"), "belongs to --tree lambda"));
  EXPECT_TRUE(contains(refused("lambda", "alpha", "half"), "no fraction"));
  EXPECT_TRUE(contains(refused("lambda", "alpha", "1"), "less than 1"));
  EXPECT_TRUE(contains(refused("lambda", "alpha", "0"), "greater than 0"));
  EXPECT_TRUE(contains(refused("lambda", "sideways", ""), "allowed are queue"));
}

}  // namespace
}  // namespace fibocast
