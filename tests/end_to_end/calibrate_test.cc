// fibocast calibrate on an emulated machine gives back what was set, within 3 %, for nodes of one kind and of two, and
// predicts what it has not measured; the daemons then plan by it.
#include <gtest/gtest.h>

#include <fstream>
#include <map>

#include "tests/end_to_end/programs.h"

namespace fibocast {
namespace {

constexpr double kShareOff = 0.03;
constexpr NodeId kEmulated = 5;

void expect_near(const Json& estimate, double truth, const char* what) {
  EXPECT_NEAR(estimate["value"].get<double>(), truth, kShareOff * truth) << what;
}

class Calibrate : public testing::Test {
 protected:
  // r = 88 us, of which the wire has `latency`.
  void up_emulated(NodeId nodes, int latency, const Words& more = {}) {
    Words words{"-n", std::to_string(nodes), "--scale", "100", "--machine", "manna"};
    for (const std::string& setting : {"l_ns=" + std::to_string(latency), "o_ns=" + std::to_string(88'000 - latency),
                                       std::string("send_per_byte_ns=2"), std::string("receive_per_byte_ns=3")})
      words.insert(words.end(), {"--settings", "emulation." + setting});
    words.insert(words.end(), more.begin(), more.end());
    cluster_.up(words);
  }
  // A rank that was held back starts with twice the send time.
  void start_slow(NodeId rank) {
    const std::string path = cluster_.dir() + "/node-" + std::to_string(rank) + ".toml";
    std::ifstream in(path);
    std::string text((std::istreambuf_iterator<char>(in)), {});
    const auto at = text.find("s_ns = 27000");
    ASSERT_NE(at, std::string::npos) << text;
    std::ofstream(path) << text.replace(at, 12, "s_ns = 54000");
    ASSERT_EQ(cluster_.run({"up", "--only", std::to_string(rank), "--quiet"}).exit_code, 0);
  }
  Json calibrated(const Words& more = {}, const std::string& repetitions = "3") {
    Words words{"calibrate", "--json", "--repetitions", repetitions};
    words.insert(words.end(), more.begin(), more.end());
    const Ended ended = cluster_.run(words);
    EXPECT_EQ(ended.exit_code, 0) << ended.err << ended.out;
    return ended.exit_code == 0 ? ended.json() : Json{};
  }
  TestCluster cluster_;
};

// l : o = 0:1, 1:1, 9:1
class CalibrateSplit : public Calibrate, public testing::WithParamInterface<int> {};
INSTANTIATE_TEST_SUITE_P(Latencies, CalibrateSplit, testing::Values(0, 44'000, 79'200));

TEST_P(CalibrateSplit, OneKindOfNodes) {
  up_emulated(kEmulated, GetParam());
  const std::string file = cluster_.file("model.toml");
  const Json answer = calibrated({"--apply", "--output", file}, "5");  // two of five may be disturbed
  ASSERT_FALSE(answer.is_null());
  const Json& model = answer["model"];
  expect_near(model["s_ns"], 27'000, "s");
  expect_near(model["r_ns"], 88'000, "r = R_c + X_c");
  expect_near(model["o_ns"], 88'000 - GetParam(), "o");
  EXPECT_NEAR(model["l_ns"]["value"].get<double>(), GetParam(), kShareOff * std::max(GetParam(), 88'000)) << "l";
  expect_near(model["lambda"], 1 + 88.0 / 27, "lambda");
  expect_near(model["send_per_byte_ns"], 2, "S_m");
  expect_near(model["receive_per_byte_ns"], 3, "R_m + X_m");
  EXPECT_EQ(answer["types"].size(), 1u);
  for (const Json& check : answer["checks"]) EXPECT_NEAR(check["error"].get<double>(), 0, 0.1) << check;
  Running why({"fibocast", "plan", "why", "--operation", "barrier", "--ranks", "5", "--model", file}, {},
              cluster_.file(""));
  EXPECT_EQ(why.wait().exit_code, 0);
  auto status = cluster_.client(0)->status();
  ASSERT_TRUE(status.ok());
  for (const GroupInfo& group : status->groups)
    EXPECT_EQ(group.name.find("calibrate-"), std::string::npos) << "its groups are removed";
}

TEST_F(Calibrate, PredictsABarrierOfSixteen) {
  up_emulated(16, 22'000);
  const Json answer = calibrated({}, "2");
  ASSERT_FALSE(answer.is_null());
  EXPECT_EQ(answer["checks"][0]["operation"], "barrier");
  for (const Json& check : answer["checks"]) EXPECT_NEAR(check["error"].get<double>(), 0, 0.1) << check;
}

// The real thing: the choice is measured beside the others. No time is asserted here.
TEST_F(Calibrate, TheChoiceIsMeasuredBesideTheOthers) {
  cluster_.up({"-n", "4"});
  const std::string file = cluster_.file("model.toml");
  const Json answer = calibrated({"--output", file});
  ASSERT_FALSE(answer.is_null());
  EXPECT_GE(answer["model"]["processors"], 1);
  EXPECT_GE(answer["stolen_seconds"], 0);
  ASSERT_EQ(answer["checks"].size(), 3u);
  for (const Json& check : answer["checks"]) {
    ASSERT_GT(check["candidates"].size(), 4u) << check;
    std::map<std::string, double> finals;
    for (const Json& c : check["candidates"])
      if (c.contains("final_ns")) finals[c["algorithm"]] = c["final_ns"];
    ASSERT_EQ(finals.size(), 2u) << "who was chosen and a rival: " << check;
    const double chosen = finals.at(check["chosen"]), best = finals.at(check["best"]);
    for (const auto& [name, time] : finals) EXPECT_GE(time, best) << name;
    EXPECT_NEAR(check["excess"]["value"].get<double>(), chosen / best - 1, 1e-6) << check;
  }
  Running why({"fibocast", "plan", "why", "--operation", "barrier", "--ranks", "4", "--model", file, "--json"}, {},
              cluster_.file(""));
  const Ended said = why.wait();
  ASSERT_EQ(said.exit_code, 0) << said.err;
  EXPECT_EQ(said.json()["measured"], answer["checks"][0]["chosen"]);
}

TEST_F(Calibrate, GroupsGetPlansByWhatWasMeasured) {
  cluster_.up({"-n", "4"});
  ASSERT_EQ(cluster_.run({"group", "create", "work", "--ranks", "0-3", "--rank", "0"}).exit_code, 0);
  const Json answer = calibrated({"--apply", "--socket", cluster_.dir() + "/node-2.sock"});
  ASSERT_FALSE(answer.is_null());
  EXPECT_EQ(answer["planned_groups"], Json::array({"work"}));
  EXPECT_EQ(answer["clock_bound_ns"], 0) << "all on this host";
  EXPECT_FALSE(answer["unidentified"].empty());
}

TEST_F(Calibrate, SlowNodesAreFound) {
  up_emulated(kEmulated, 22'000, {"--hold", "3,4"});
  for (const NodeId rank : {3u, 4u}) start_slow(rank);
  const Json answer = calibrated({}, "5");  // the costs of one node stand on fewer times than those of all
  ASSERT_FALSE(answer.is_null());
  EXPECT_EQ(answer["types"], Json::array({{0, 1, 2}, {3, 4}}));
  for (NodeId rank = 0; rank < kEmulated; ++rank) {
    expect_near(answer["per_node"][rank]["s_ns"], rank < 3 ? 27'000 : 54'000, "s");
    expect_near(answer["per_node"][rank]["r_ns"], 88'000, "r");
  }
}

TEST_F(Calibrate, MistakesAreOneSentence) {
  const Ended none = cluster_.run({"calibrate"});
  EXPECT_EQ(none.exit_code, 5);
  EXPECT_NE(none.err.find("no local cluster is up"), std::string::npos) << none.err;
  cluster_.up({"-n", "2"});
  const Ended few = cluster_.run({"calibrate"});
  EXPECT_EQ(few.exit_code, 2);
  EXPECT_NE(few.err.find("at least 3 daemons; this cluster has 2"), std::string::npos) << few.err;
}

}  // namespace
}  // namespace fibocast
