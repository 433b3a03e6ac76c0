// fibocast plan schedule with every algorithm of the catalogue.
#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "collectives/algorithm_catalog.h"
#include "collectives/schedule.h"
#include "collectives/validate.h"
#include "runtime/cli/plan_command.h"

namespace fibocast {
namespace {

using Json = nlohmann::ordered_json;

// An example of a name with a parameter.
std::string example_of(const AlgorithmEntry& entry) {
  std::string name(entry.name);
  if (name.ends_with(":K")) name.back() = '3';
  if (name.ends_with(":L")) name = "lambda:3.5";
  if (name.ends_with(":ALPHA")) name = "share:0.7";
  return name;
}

PlanScheduleOptions options_for(const AlgorithmEntry& entry, Rank ranks) {
  PlanScheduleOptions options;
  options.operation = operation_name(entry.operation);
  options.algorithm = example_of(entry);
  options.ranks = ranks;
  options.bytes = 800;
  options.costs = {.s = "27us", .r = "88us"};
  options.check = true;
  return options;
}

std::string text(const PlanScheduleOptions& options) {
  std::ostringstream out, err;
  EXPECT_EQ(plan_schedule(options, out, err), 0) << err.str();
  return out.str();
}

Json json(PlanScheduleOptions options) {
  options.json = true;
  return Json::parse(text(options));
}

std::string refusal(const PlanScheduleOptions& options) {
  std::ostringstream out, err;
  EXPECT_EQ(plan_schedule(options, out, err), 2);
  EXPECT_EQ(out.str(), "");
  return err.str();
}

PlanScheduleOptions reduction(const std::string& type, const std::string& combine_operator) {
  PlanScheduleOptions options{.operation = "allreduce", .algorithm = "combine_eager", .ranks = 8, .bytes = 8};
  options.type = type, options.combine_operator = combine_operator;
  options.costs = {.s = "1", .r = "1"};
  return options;
}

TEST(PlanScheduleOfAnyAlgorithm, TheWholeTextCanBeReadBackAndIsRight) {
  for (const AlgorithmEntry& entry : algorithm_catalog())
    for (const Rank ranks : {1u, 5u, 8u}) {
      const PlanScheduleOptions options = options_for(entry, ranks);
      const std::string printed = text(options);
      std::string error;
      const auto schedule = parse_schedule(printed, error);
      ASSERT_TRUE(schedule) << options.operation << ' ' << options.algorithm << ": " << error;
      EXPECT_EQ(algorithm_name(schedule->shape.operation, schedule->shape.choice), options.algorithm);
      EXPECT_EQ(participating_ranks(schedule->shape), ranks);
      EXPECT_TRUE(validate(*schedule).ok) << options.operation << ' ' << options.algorithm;
      EXPECT_NE(printed.find("# predicted: "), std::string::npos);
      EXPECT_NE(printed.find("# proved for "), std::string::npos);
    }
}

TEST(PlanScheduleOfAnyAlgorithm, JsonSaysWhichWasTakenAndWhatIsProved) {
  for (const AlgorithmEntry& entry : algorithm_catalog()) {
    const Json schedule = json(options_for(entry, 6));
    EXPECT_EQ(schedule["algorithm"], example_of(entry));
    EXPECT_EQ(schedule["check"]["ok"], true);
    EXPECT_EQ(schedule["check"].contains("same_bits"), combines(entry.operation));
    EXPECT_EQ(schedule["schedule"].size(), schedule["ranks"].get<std::size_t>());
    EXPECT_EQ(schedule["unit"], "ns");
  }
}

TEST(PlanScheduleOfAnyAlgorithm, TheCheckTellsBitsAndOrder) {
  PlanScheduleOptions options = reduction("int64", "sum");
  EXPECT_NE(text(options).find("algorithm combine_eager\n"), std::string::npos);
  options.check = true;
  EXPECT_NE(text(options).find("other bits at other ranks; the operator must be commutative"), std::string::npos);
  EXPECT_EQ(json(options)["check"]["same_bits"], false);
  options.algorithm = "fibo";
  EXPECT_NE(text(options).find("the same bits at every rank; the order of the ranks is kept"), std::string::npos);
  EXPECT_EQ(json(options)["check"]["keeps_order"], true);
}

TEST(PlanScheduleOfAnyAlgorithm, EveryFieldOfATransferIsInTheJson) {
  PlanScheduleOptions options = reduction("int32", "max");
  options.ranks = 2;
  const Json partial = json(options)["schedule"][0]["stages"];
  EXPECT_EQ(partial[0]["sends"], Json::parse(R"([{"to":1,"carries":"partial","stage":1,"registers":"T"}])"));
  EXPECT_EQ(partial[1]["receives"], Json::parse(R"([{"from":1,"carries":"partial","stage":1,"registers":"TS"}])"));
  options.algorithm = "ring";
  EXPECT_EQ(json(options)["schedule"][1]["stages"][1]["receives"],
            Json::parse(R"([{"from":0,"carries":"blocks","stage":1,"first_block":0,"blocks":1,)"
                        R"("on_receive":"combine-left"}])"));
  options.algorithm = "doubling";
  EXPECT_EQ(json(options)["schedule"][1]["stages"][1]["receives"],
            Json::parse(R"([{"from":0,"carries":"partial","stage":1,"registers":"T","on_receive":"combine-left"}])"));
  const Json exchange = json({.operation = "alltoall", .algorithm = "bruck", .ranks = 2, .bytes = 4});
  EXPECT_EQ(exchange["schedule"][0]["stages"][0]["sends"],
            Json::parse(R"([{"to":1,"carries":"bit-blocks","stage":1,"bit":0,"on_receive":"store"}])"));
  EXPECT_FALSE(exchange.contains("type"));
}

TEST(PlanScheduleOfAnyAlgorithm, SharesAreOfElements) {
  PlanScheduleOptions options{.operation = "divide", .algorithm = "share:0.7", .ranks = 2, .bytes = 80};
  EXPECT_EQ(json(options)["schedule"][1]["stages"][0]["receives"][0]["blocks"], 56);
  options.type = "int64";
  EXPECT_EQ(json(options)["type"], "int64");
  EXPECT_EQ(json(options)["schedule"][1]["stages"][0]["receives"][0]["first_block"], 3);
  EXPECT_EQ(json(options)["schedule"][1]["stages"][0]["receives"][0]["blocks"], 7);
  options.combine_operator = "sum";
  EXPECT_NE(refusal(options).find("--type for divide"), std::string::npos);
  options.operation = "conquer", options.type = "";
  EXPECT_EQ(json(options)["schedule"][0]["stages"][0]["receives"][0]["on_receive"], "join");
  options.algorithm = "share:1.7";
  EXPECT_NE(refusal(options).find("at most 4 decimals"), std::string::npos);
}

TEST(PlanScheduleOfAnyAlgorithm, AFloodingHasRouters) {
  const PlanScheduleOptions options{.operation = "allgather", .algorithm = "flooding", .ranks = 4, .bytes = 10};
  EXPECT_EQ(json(options)["ranks"], 7);
  EXPECT_EQ(json(options)["routers"], 3);
  EXPECT_NE(text(options).find("# ranks 4 to 6 are routers\n"), std::string::npos);
}

// A barrier's proof keeps no blocks: it is no longer than its messages.
TEST(PlanScheduleOfAnyAlgorithm, ABarrierOfManyRanksIsProved) {
  PlanScheduleOptions options{.algorithm = "binomial", .ranks = 10'000, .rank = 1, .check = true};
  EXPECT_EQ(json(options)["check"]["ok"], true);
}

TEST(PlanScheduleOfAnyAlgorithm, PlannedIsResolved) {
  PlanScheduleOptions options{.operation = "allgather", .ranks = 5, .bytes = 10};
  EXPECT_EQ(json(options)["algorithm"], "bruck");
  options.bytes = 100'000;
  EXPECT_EQ(json(options)["algorithm"], "ring");
  options.operation = "barrier", options.costs = {.lambda = "9/5"};
  EXPECT_EQ(json(options)["algorithm"], "fibo");
}

TEST(PlanScheduleOfAnyAlgorithm, LambdaIsTheFiboTreeOfTheseCosts) {
  PlanScheduleOptions options{.operation = "scatter", .algorithm = "lambda", .ranks = 20, .bytes = 10};
  options.costs = {.lambda = "9/5"};
  const std::string lambda = text(options);
  options.algorithm = "fibo";
  EXPECT_EQ(lambda, text(options));
}

TEST(PlanScheduleOfAnyAlgorithm, RefusalsAreOneSentence) {
  EXPECT_NE(refusal(reduction("double", "sum")).find("for floating point choose"), std::string::npos);
  EXPECT_NE(refusal(reduction("double", "xor")).find("not defined"), std::string::npos);
  EXPECT_NE(refusal(reduction("complex", "sum")).find("there are bytes, int32"), std::string::npos);
  EXPECT_NE(refusal(reduction("int32", "mean")).find("there are min, max"), std::string::npos);
  PlanScheduleOptions options = reduction("int64", "sum");
  options.bytes = 12;
  EXPECT_NE(refusal(options).find("whole elements of 8 bytes"), std::string::npos);
  options.operation = "gather";
  EXPECT_NE(refusal(options).find("--type and --operator are for reduce"), std::string::npos);
  EXPECT_NE(refusal({.operation = "allreduce", .algorithm = "ring", .ranks = 1000}).find("255 stages"),
            std::string::npos);
  EXPECT_NE(refusal({.operation = "alltoall", .ranks = 100'000}).find("give --rank"), std::string::npos);
  EXPECT_NE(refusal({.operation = "gather", .algorithm = "binomial", .ranks = 100'000, .check = true}).find("too much"),
            std::string::npos);
  EXPECT_NE(refusal({.operation = "reduce", .ranks = 3}).find("needs costs"), std::string::npos);
  EXPECT_NE(refusal({.operation = "gather", .algorithm = "kary:2", .ranks = 3}).find("there are planned, fibo"),
            std::string::npos);
}

}  // namespace
}  // namespace fibocast
