// fibocast calibrate on an emulated machine gives back what was set, within 3 %, for nodes of one kind and of two, and
// predicts what it has not measured; the daemons then plan by it.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <optional>
#include <vector>

#include "tests/end_to_end/programs.h"

namespace fibocast {
namespace {

constexpr double kShareOff = 0.03;
constexpr NodeId kEmulated = 5;

void expect_near(const Json& estimate, double truth, const char* what) {
  EXPECT_NEAR(estimate["value"].get<double>(), truth, kShareOff * truth) << what;
}

// A cluster that calibrates itself.
class Calibrated {
 public:
  void up(Words words) { cluster_.up(std::move(words)); }
  // r = 88 us, of which the wire has `latency`, and everything a hundred times slower.
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
  void begin(const Words& more = {}, const std::string& repetitions = "3") {
    Words words{"calibrate", "--json", "--repetitions", repetitions};
    words.insert(words.end(), more.begin(), more.end());
    running_.emplace(cluster_.start(words));
  }
  Json answer() {
    const Ended ended = running_->wait();
    EXPECT_EQ(ended.exit_code, 0) << ended.err << ended.out;
    return ended.exit_code == 0 ? ended.json() : Json{};
  }
  TestCluster& cluster() { return cluster_; }

 private:
  TestCluster cluster_;
  std::optional<Running> running_;
};

void expect_split(const Json& answer, int latency) {
  ASSERT_FALSE(answer.is_null());
  const Json& model = answer["model"];
  expect_near(model["s_ns"], 27'000, "s");
  expect_near(model["r_ns"], 88'000, "r = R_c + X_c");
  expect_near(model["o_ns"], 88'000 - latency, "o");
  EXPECT_NEAR(model["l_ns"]["value"].get<double>(), latency, kShareOff * std::max(latency, 88'000)) << "l";
  expect_near(model["lambda"], 1 + 88.0 / 27, "lambda");
  expect_near(model["send_per_byte_ns"], 2, "S_m");
  expect_near(model["receive_per_byte_ns"], 3, "R_m + X_m");
  EXPECT_EQ(answer["types"].size(), 1u);
  for (const Json& check : answer["checks"]) EXPECT_NEAR(check["error"].get<double>(), 0, 0.1) << check;
}

void expect_plan_and_no_groups(TestCluster& cluster, const std::string& file) {
  Running why({"fibocast", "plan", "why", "--operation", "barrier", "--ranks", "5", "--model", file}, {},
              cluster.file(""));
  EXPECT_EQ(why.wait().exit_code, 0);
  auto status = cluster.client(0)->status();
  ASSERT_TRUE(status.ok());
  for (const GroupInfo& group : status->groups)
    EXPECT_EQ(group.name.find("calibrate-"), std::string::npos) << "its groups are removed";
}

// At once: an emulated cluster waits for three quarters of its time.
TEST(Calibrate, NodesOfOneKindWithThreeSplitsOfR) {
  const std::vector<int> latencies{0, 44'000, 79'200};  // l : o = 0:1, 1:1, 9:1
  std::vector<Calibrated> of(latencies.size());
  for (std::size_t i = 0; i < of.size(); ++i) of[i].up_emulated(kEmulated, latencies[i]);
  for (Calibrated& one : of)  // two of five may be disturbed
    one.begin({"--apply", "--output", one.cluster().file("model.toml")}, "5");
  for (std::size_t i = 0; i < of.size(); ++i) {
    SCOPED_TRACE(latencies[i]);
    expect_split(of[i].answer(), latencies[i]);
    expect_plan_and_no_groups(of[i].cluster(), of[i].cluster().file("model.toml"));
  }
}

TEST(Calibrate, FindsSlowNodes) {
  Calibrated five;
  five.up_emulated(kEmulated, 22'000, {"--hold", "3,4"});
  for (const NodeId rank : {3u, 4u}) five.start_slow(rank);
  five.begin({}, "5");  // the costs of one node stand on fewer times than those of all
  const Json answer = five.answer();
  ASSERT_FALSE(answer.is_null());
  EXPECT_EQ(answer["types"], Json::array({{0, 1, 2}, {3, 4}}));
  for (NodeId rank = 0; rank < kEmulated; ++rank) {
    expect_near(answer["per_node"][rank]["s_ns"], rank < 3 ? 27'000 : 54'000, "s");
    expect_near(answer["per_node"][rank]["r_ns"], 88'000, "r");
  }
}

TEST(Calibrate, PredictsABarrierOfSixteen) {
  Calibrated sixteen;
  sixteen.up_emulated(16, 22'000);
  sixteen.begin({}, "2");
  const Json answer = sixteen.answer();
  ASSERT_FALSE(answer.is_null());
  EXPECT_EQ(answer["checks"][0]["operation"], "barrier");
  for (const Json& check : answer["checks"]) EXPECT_NEAR(check["error"].get<double>(), 0, 0.1) << check;
}

// The real thing: the choice is measured beside the others. No time is asserted here.
TEST(Calibrate, TheChoiceIsMeasuredBesideTheOthers) {
  Calibrated four;
  four.up({"-n", "4"});
  const std::string file = four.cluster().file("model.toml");
  four.begin({"--output", file});
  const Json answer = four.answer();
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
              four.cluster().file(""));
  const Ended said = why.wait();
  ASSERT_EQ(said.exit_code, 0) << said.err;
  EXPECT_EQ(said.json()["measured"], answer["checks"][0]["chosen"]);
}

TEST(Calibrate, GroupsGetPlansByWhatWasMeasured) {
  Calibrated four;
  four.up({"-n", "4"});
  ASSERT_EQ(four.cluster().run({"group", "create", "work", "--ranks", "0-3", "--rank", "0"}).exit_code, 0);
  four.begin({"--apply", "--socket", four.cluster().dir() + "/node-2.sock"});
  const Json answer = four.answer();
  ASSERT_FALSE(answer.is_null());
  EXPECT_EQ(answer["planned_groups"], Json::array({"work"}));
  EXPECT_EQ(answer["clock_bound_ns"], 0) << "all on this host";
  EXPECT_FALSE(answer["unidentified"].empty());
}

TEST(Calibrate, MistakesAreOneSentence) {
  TestCluster cluster;
  const Ended none = cluster.run({"calibrate"});
  EXPECT_EQ(none.exit_code, 5);
  EXPECT_NE(none.err.find("no local cluster is up"), std::string::npos) << none.err;
  cluster.up({"-n", "2"});
  const Ended few = cluster.run({"calibrate"});
  EXPECT_EQ(few.exit_code, 2);
  EXPECT_NE(few.err.find("at least 3 daemons; this cluster has 2"), std::string::npos) << few.err;
}

}  // namespace
}  // namespace fibocast
