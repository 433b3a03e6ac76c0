#include "firmware_sim/simulate/troubled_answer.h"

#include <gtest/gtest.h>

#include "firmware_sim/machine_presets.h"

namespace fibocast {
namespace {

using Json = nlohmann::ordered_json;

Experiment barrier_of_three() {
  std::string error;
  ExperimentRequest request;
  request.machine = machine_preset("manna", 3, error).value();
  request.tree = "fibo";
  request.ranks = 3;
  return Experiment::prepare(request, error).value();
}

TroubledRank ok(Nanoseconds at) { return {.verdict = Verdict::kOk, .answered = at, .activated = at, .missing = {}}; }
TroubledRank failed(Verdict verdict) {
  return {.verdict = verdict, .answered = 12'000'000'000, .activated = 0, .missing = {1}};
}
TroubledRun run_of(const std::vector<TroubledRank>& ranks) {
  TroubledRun run;
  run.ranks = ranks;
  run.datagrams.sent = 20, run.datagrams.lost = 4;
  return run;
}

TEST(TroubledAnswer, OfSuccessHasEveryActivation) {
  const TroubledRun run = run_of({ok(100), ok(300), ok(200)});
  const Json json = troubled_json(barrier_of_three(), {loss(0.2)}, run);
  EXPECT_EQ(json["completion_ns"], 300);
  EXPECT_EQ(json["activation_ns"], Json::parse("[100, 300, 200]"));
  EXPECT_EQ(json["verdict_of_rank"], Json::parse(R"(["OK", "OK", "OK"])"));
  EXPECT_EQ(json["missing"], Json::parse("[[], [], []]"));
  EXPECT_EQ(json["datagrams_lost"], 4);
  EXPECT_EQ(json["faults"], Json::parse(R"(["loss 20 % from 0 ms on"])"));
  EXPECT_EQ(json["seed"], 1);
  EXPECT_EQ(json["tree"], "fibo");
  const std::string text = troubled_text(barrier_of_three(), {loss(0.2)}, run);
  EXPECT_TRUE(text.starts_with("barrier among 3 ranks, fibo on manna: 3 OK, 300 ns\n")) << text;
  EXPECT_NE(text.find("fault: loss 20 % from 0 ms on\n"), std::string::npos);
  EXPECT_NE(text.find("20 datagrams of which 4 were lost"), std::string::npos);
  EXPECT_NE(text.find("  rank 2: OK, active at 200 ns\n"), std::string::npos);
}

TEST(TroubledAnswer, OfFailureNamesWhoIsMissing) {
  const TroubledRun run = run_of({failed(Verdict::kDeadlineExceeded), {}, ok(200)});
  const Json json = troubled_json(barrier_of_three(), {}, run);
  EXPECT_TRUE(json["completion_ns"].is_null());
  EXPECT_EQ(json["verdict_of_rank"], Json::parse(R"(["DEADLINE_EXCEEDED", "NO_ANSWER", "OK"])"));
  EXPECT_EQ(json["activation_ns"], Json::parse("[null, null, 200]"));
  EXPECT_EQ(json["answered_ns"], Json::parse("[12000000000, null, 200]"));
  EXPECT_EQ(json["missing"], Json::parse("[[1], [], []]"));
  const std::string text = troubled_text(barrier_of_three(), {}, run);
  EXPECT_TRUE(text.starts_with("barrier among 3 ranks, fibo on manna: 1 NO_ANSWER, 1 OK, 1 DEADLINE_EXCEEDED\n"));
  EXPECT_NE(text.find("  rank 0: DEADLINE_EXCEEDED at 12 s, missing 1\n  rank 1: NO_ANSWER\n"), std::string::npos);
}

TEST(TroubledAnswer, ExitCodesAreThoseOfTheCommands) {
  EXPECT_EQ(exit_code(run_of({ok(1), ok(2), ok(3)})), 0);
  EXPECT_EQ(exit_code(run_of({ok(1), {}, ok(3)})), 1);
  EXPECT_EQ(exit_code(run_of({ok(1), failed(Verdict::kStale)})), 1);
  EXPECT_EQ(exit_code(run_of({failed(Verdict::kPeerLost), failed(Verdict::kDeadlineExceeded)})), 3);
  EXPECT_EQ(exit_code(run_of({{}, failed(Verdict::kPeerLost)})), 4);
  EXPECT_EQ(exit_code(run_of({ok(1), failed(Verdict::kRefused)})), 6);
}

}  // namespace
}  // namespace fibocast
