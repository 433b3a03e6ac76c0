// fibocast plan why, fibocast plan catalog.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <sstream>

#include "tests/runtime/cli/plan_program.h"

namespace fibocast {
namespace {

using test::Json;
using test::json;
using test::refusal;
using test::run;

PlanWhyOptions manna(const char* operation, Rank ranks) {
  PlanWhyOptions options;
  options.operation = operation, options.ranks = ranks;
  options.costs.s = "27us", options.costs.r = "88us";
  return options;
}

// Expects exit code 2 and one sentence with `part` in it.
void refuses(const PlanWhyOptions& options, const std::string& part) {
  const std::string answer = test::refusal(options);
  EXPECT_NE(answer.find(part), std::string::npos) << answer;
}

TEST(PlanWhy, A30BarrierAsJson) {
  const Json answer = json(manna("barrier", 19));
  EXPECT_EQ(answer["operation"], "barrier");
  EXPECT_EQ(answer["ranks"], 19);
  EXPECT_EQ(answer["bytes"], 0);
  EXPECT_EQ(answer["model"]["s"], 27000);
  EXPECT_EQ(answer["unit"], "ns");
  EXPECT_EQ(answer["candidates"][0]["algorithm"], "fibo");
  EXPECT_EQ(answer["candidates"][0]["predicted"], 805000);
  EXPECT_EQ(answer["candidates"][0]["messages"], 36);
  EXPECT_EQ(answer["candidates"][1]["predicted"], 954000);
  EXPECT_EQ(answer["chosen"], "dissemination:2");
  EXPECT_EQ(answer["lower_bound"]["predicted"], 494000);
  EXPECT_NEAR(answer["gap_percent"].get<double>(), 16.4, 0.01);
}

TEST(PlanWhy, SaysTheArithmeticInWords) {
  const test::PlanRun answer = run(manna("barrier", 19));
  EXPECT_EQ(answer.exit_code, 0);
  EXPECT_NE(answer.out.find("* dissemination:2"), std::string::npos) << answer.out;
  EXPECT_NE(answer.out.find("5 x 115 us = 575 us."), std::string::npos) << answer.out;
  EXPECT_NE(answer.out.find("no schedule takes less than 494 us = T(19; o, s+l)"), std::string::npos) << answer.out;
}

TEST(PlanWhy, AMulticastDownAFiboTreeIsOptimal) {
  const test::PlanRun answer = run(manna("multicast", 19));
  EXPECT_NE(answer.out.find("* fibo"), std::string::npos) << answer.out;
  EXPECT_NE(answer.out.find("the choice takes exactly that: it is optimal"), std::string::npos) << answer.out;
}

TEST(PlanWhy, BytesCostWhatTheModelSays) {
  PlanWhyOptions options = manna("multicast", 19);
  options.bytes = 1 << 20, options.costs.c = "20ns", options.costs.d = "20ns";
  const Json answer = json(options);
  EXPECT_EQ(answer["model"]["c"], 20);
  EXPECT_EQ(answer["bytes"], 1 << 20);
  for (const Json& c : answer["candidates"]) EXPECT_GE(c["predicted"], answer["lower_bound"]["predicted"]);
}

TEST(PlanWhy, CoLocatedNodesAreBoundByTheirProcessors) {
  PlanWhyOptions options = manna("barrier", 64);
  options.colocated = 64, options.processors = 2;
  const Json answer = json(options);
  EXPECT_EQ(answer["candidates"][0]["host_bound"], 2 * 63 * 115'000 / 2);
  EXPECT_GE(answer["gap_percent"], 0);
  EXPECT_LE(answer["gap_percent"], 15);
}

// What one phase saves by waking nodes less often it loses again when the next barrier follows at once.
TEST(PlanWhy, BarriersInARowCountTheirWork) {
  PlanWhyOptions options{.operation = "barrier", .ranks = 4};
  options.colocated = 4, options.processors = 2;
  options.costs.s = "3us", options.costs.l = "6us", options.costs.o = "3us", options.costs.wake = "20us";
  EXPECT_EQ(json(options)["chosen"], "dissemination:4");
  options.fans_out = true;
  const Json answer = json(options);
  EXPECT_EQ(answer["chosen"], "fibo");
  EXPECT_EQ(answer["fans_out"], true);
  const std::string why = answer["why"].dump();
  EXPECT_NE(why.find("fibo is the best of"), std::string::npos) << why;
  EXPECT_NE(why.find("work counts as well: 147 us + 18 us = 165 us."), std::string::npos) << why;
  EXPECT_NE(why.find("next comes sequential with 165 us, the same"), std::string::npos) << why;
}

TEST(PlanWhy, EveryOperationHasAnAnswer) {
  for (const char* operation : {"barrier", "multicast", "reduce", "allreduce", "scatter", "gather", "allgather",
                                "alltoall", "divide", "conquer"})
    for (const Rank ranks : {1u, 2u, 19u, 4096u}) {
      PlanWhyOptions options = manna(operation, ranks);
      if (options.operation != "barrier") options.bytes = 64;
      const Json answer = json(options);
      EXPECT_FALSE(answer["chosen"].is_null()) << operation << ranks;
    }
}

TEST(PlanWhy, FloatsExcludeOtherRoundings) {
  PlanWhyOptions options = manna("allreduce", 8);
  options.bytes = 64, options.type = "double";
  std::size_t refused = 0;
  const Json answer = json(options);
  for (const Json& c : answer["candidates"]) refused += c.contains("objection");
  EXPECT_EQ(refused, 3u);
}

TEST(PlanWhy, DifferentNodes) {
  const std::string path = testing::TempDir() + "fibocast_plan_why_nodes";
  std::ofstream(path) << "nodes fast 30\nnodes slow 34\n";
  for (const char* operation : {"barrier", "multicast"}) {
    PlanWhyOptions options;
    options.operation = operation, options.nodes = path;
    const Json answer = json(options);
    EXPECT_EQ(answer["ranks"], 64);
    EXPECT_TRUE(answer["chosen"].get<std::string>().starts_with("heterogeneous")) << answer["chosen"];
    for (const Json& c : answer["candidates"]) EXPECT_GE(c["predicted"], answer["lower_bound"]["predicted"]);
  }
  PlanWhyOptions options;
  options.nodes = path, options.operation = "scatter";
  refuses(options, "must be barrier or multicast");
  options.operation = "barrier", options.ranks = 3;
  refuses(options, "lists 64 nodes");
  std::remove(path.c_str());
}

// Nodes of one host share what `processors` says.
TEST(PlanWhy, TheModelOfADaemonsSettings) {
  const std::string file = testing::TempDir() + "why_model.toml";
  std::ofstream(file) << "[node]\nrank = 0\n[cluster]\nnodes = [\"a:1\", \"a:2\", \"b:1\"]\n"
                      << "[model]\ns_ns = 27000\nl_ns = 61000\no_ns = 27000\nsend_per_byte_ns = 0.25\nprocessors = 2\n";
  PlanWhyOptions options{.operation = "multicast", .ranks = 19, .bytes = 100};
  options.model = file;
  const Json answer = json(options);
  EXPECT_EQ(answer["model"]["s"], 27000);
  EXPECT_EQ(answer["model"]["l"], 61000);
  EXPECT_EQ(answer["model"]["o"], 27000);
  EXPECT_EQ(answer["model"]["c"], 0.25);
  EXPECT_EQ(answer["model"]["d"], 1);
  EXPECT_NE(run([&] {
              options.json = false;
              return options;
            }())
                .out.find("2 nodes on each host with 2 processors"),
            std::string::npos);
  options.costs.s = "1", options.costs.r = "1";
  refuses(options, "either --model or costs");
  std::ofstream(file) << "[model]\ns_ns = 0\n";
  options.costs = {};
  refuses(options, "model.s_ns");
  options.model = file + ".not";
  refuses(options, file + ".not");
  std::remove(file.c_str());
}

TEST(PlanWhy, WrongUseIsOneSentence) {
  refuses(manna("sing", 19), "there is no operation \"sing\"");
  refuses(manna("barrier", 0), "--ranks must be 1 to");
  PlanWhyOptions options = manna("allreduce", 8);
  options.type = "complex";
  refuses(options, "--type complex is unknown");
  options.type = "double", options.combine_operator = "xor";
  refuses(options, "not defined");
  options = manna("allreduce", 8), options.bytes = 12;
  refuses(options, "whole elements");
  options = manna("barrier", 8), options.bytes = 12;
  refuses(options, "a barrier carries no bytes");
  options = manna("alltoall", 4096), options.bytes = UINT64_MAX, options.costs.c = "1us";
  refuses(options, "64 bit");
  options = manna("conquer", 8), options.bytes = UINT64_MAX;
  refuses(options, "too many");
  options = manna("barrier", 8), options.colocated = 0;
  refuses(options, "--colocated");
  options = {}, options.nodes = "/nowhere/nodes";
  refuses(options, "cannot be read");
  options = {}, options.ranks = 8, options.costs.c = "1us";
  refuses(options, "--s with --r");
}

TEST(PlanCatalog, NamesTableAndJson) {
  std::ostringstream names, table, list, err;
  EXPECT_EQ(plan_catalog({}, names, err), 0);
  EXPECT_NE(names.str().find("allreduce  halving"), std::string::npos);
  EXPECT_EQ(plan_catalog({.markdown = true}, table, err), 0);
  EXPECT_EQ(table.str().find("| operation | algorithm |"), 0u);
  EXPECT_EQ(plan_catalog({.json = true}, list, err), 0);
  EXPECT_EQ(Json::parse(list.str())["algorithms"][0]["algorithm"], "fibo");
  list.str("");
  EXPECT_EQ(plan_catalog({.markdown = true, .json = true}, list, err), 2);
  EXPECT_EQ(Json::parse(list.str())["sentence"], "give either --json or --markdown");
  EXPECT_EQ(err.str(), "");
}

}  // namespace
}  // namespace fibocast
