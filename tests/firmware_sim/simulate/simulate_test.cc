// What the program fibocast-simulate says and draws.
#include <sstream>

#include "firmware_sim/machine_presets.h"
#include "firmware_sim/simulate/answer.h"
#include "firmware_sim/simulate/chrome_trace.h"
#include "firmware_sim/simulate/timeline.h"
#include "tests/firmware_sim/simulated.h"

namespace fibocast {
namespace {

using Json = nlohmann::ordered_json;

struct Recorded {
  explicit Recorded(const char* machine, Rank root = 0) : experiment(prepare(machine, root)) {
    std::string error;
    run = experiment.run({.record = true}, error).value();
  }
  static Experiment prepare(const char* machine, Rank root) {
    std::string error;
    ExperimentRequest request;
    request.machine = machine_preset(machine, 4, error).value();
    request.operation = Operation::kMulticast;
    request.tree = "sequential";
    request.ranks = 4;
    request.root = root;
    return Experiment::prepare(request, error).value();
  }
  Experiment experiment;
  SimulationRun run;
};

TEST(SimulateAnswer, TimesCarryTheirUnit) {
  const Recorded manna("manna", 2);
  const Json json = answer_json(manna.experiment, manna.run);
  EXPECT_EQ(json["completion_ns"], 169'000);
  EXPECT_EQ(json["activation_ns"], Json::parse("[142000, 169000, 0, 115000]"));
  EXPECT_EQ(json["messages"], 3);
  EXPECT_EQ(json["seed"], 1);
  EXPECT_GT(json["events"], 6);
  EXPECT_EQ(json["tree"], "sequential");
  EXPECT_NE(answer_text(manna.experiment, manna.run).find("on manna: 169 us\n"), std::string::npos);
  const Recorded ideal("ideal");
  EXPECT_EQ(answer_json(ideal.experiment, ideal.run)["completion"], 6);
  EXPECT_EQ(answer_json(ideal.experiment, ideal.run)["activation"], Json::parse("[0, 4, 5, 6]"));
}

TEST(SimulateAnswer, LinksAndTheNoteOfAReconstruction) {
  const Recorded delta("delta");
  const Json json = answer_json(delta.experiment, delta.run);
  EXPECT_TRUE(json["note"].get<std::string>().starts_with("reconstructed"));
  EXPECT_EQ(json["links_used"], 3);
  EXPECT_EQ(json["links"][0]["link"], "row 0 column 0 east");
  EXPECT_EQ(json["links"][0]["messages"], 2);
  EXPECT_NE(answer_text(delta.experiment, delta.run).find("reconstructed"), std::string::npos);
}

TEST(ChromeTrace, IsAnArrayOfCompleteEvents) {
  const Recorded manna("manna");
  std::ostringstream out;
  write_chrome_trace(manna.experiment, manna.run, out);
  const Json trace = Json::parse(out.str());
  ASSERT_EQ(trace.size(), 6u);
  for (const Json& event : trace) EXPECT_EQ(event["ph"], "X");
  EXPECT_EQ(trace[0]["name"], "send to 1");
  EXPECT_EQ(trace[0]["ts"], 0.0);
  EXPECT_EQ(trace[0]["dur"], 27.0);
  EXPECT_EQ(trace[3]["name"], "receive from 0");
  EXPECT_EQ(trace[3]["pid"], 1);
  EXPECT_EQ(trace[3]["ts"], 27.0);
}

TEST(Timeline, ALinePerRank) {
  const Recorded ideal("ideal");
  EXPECT_EQ(timeline_text(ideal.experiment, ideal.run),
            "    0  sss\n"
            "    1  ---r*\n"
            "    2  ----r*\n"
            "    3  -----r*\n");
  EXPECT_EQ(timeline_text(ideal.experiment, ideal.run, 3),
            "    0  ss\n"
            "    1  -r*\n"
            "    2  --*\n"
            "    3  --r*\n");
}

}  // namespace
}  // namespace fibocast
