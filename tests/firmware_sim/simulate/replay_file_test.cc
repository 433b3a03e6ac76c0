#include "firmware_sim/simulate/replay_file.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>

namespace fibocast {
namespace {

using Json = nlohmann::ordered_json;

Json tree(int s, int r) { return {{"kind", 4}, {"arity", 2}, {"s", s}, {"r", r}}; }

Json trace() {
  Json about;
  about["machine"] = {{"s_ns", 27},
                      {"l_ns", 0},
                      {"o_ns", 88},
                      {"send_per_byte_ns", 0.5},
                      {"receive_per_byte_ns", 0},
                      {"ports", "independent"}};
  about["groups"] = Json::array({{{"id", 7},
                                  {"name", "pair"},
                                  {"members", {1, 4}},
                                  {"participants", 1},
                                  {"reduction", tree(88, 27)},
                                  {"distribution", tree(27, 88)}}});
  Json barrier{{"group", 7},          {"generation", 5}, {"operation", "barrier"},    {"root", 0},
               {"algorithm", "fibo"}, {"bytes", 0},      {"segment_bytes", 0},        {"type", "bytes"},
               {"operator", "none"},  {"whole", true},   {"called_ns", {1000, 2000}}, {"activated_ns", {3000, 4000}}};
  Json earlier = barrier, broken = barrier, strange = barrier;
  earlier["generation"] = 4;
  broken["whole"] = false;
  strange["group"] = 8;
  about["operations"] = Json::array({barrier, earlier, broken, strange});
  return {{"traceEvents", Json::array()}, {"fibocast", about}};
}

class ReplayFile : public testing::Test {
 protected:
  std::optional<Incident> read(const std::string& text, const std::string& algorithm = {}) {
    std::ofstream(file_) << text;
    return read_incident(file_, algorithm, error_);
  }
  ~ReplayFile() override { std::remove(file_.c_str()); }
  // Tests run side by side: each has a file of its own.
  const std::string file_ = testing::TempDir() + "replay_file_test_" +
                            testing::UnitTest::GetInstance()->current_test_info()->name() + ".json";
  std::string error_;
};

TEST_F(ReplayFile, HoldsTheWholeOperationsInOrder) {
  const auto incident = read(trace().dump());
  ASSERT_TRUE(incident.has_value()) << error_;
  EXPECT_EQ(incident->machine.send, 27);
  EXPECT_EQ(incident->machine.send_per_byte, 0.5);
  EXPECT_EQ(incident->machine.ports, NicPorts::kIndependent);
  ASSERT_EQ(incident->groups.size(), 1u);
  EXPECT_EQ(incident->groups[0].members, (std::vector<NodeId>{1, 4}));
  EXPECT_EQ(incident->groups[0].plan.reduction.s, 88u);
  ASSERT_EQ(incident->operations.size(), 2u);
  EXPECT_EQ(incident->operations[0].generation, 4u);
  EXPECT_EQ(incident->operations[1].shape.choice, AlgorithmChoice{Algorithm::kTrees});
  EXPECT_EQ(incident->operations[1].called, (std::vector<Nanoseconds>{1000, 2000}));
}

TEST_F(ReplayFile, AnotherTreeTakesThePlaceOfTheRecordedOne) {
  const auto incident = read(trace().dump(), "kary:3");
  ASSERT_TRUE(incident.has_value()) << error_;
  EXPECT_EQ(incident->operations[0].shape.choice.tree, TreeKind::kKary);
  EXPECT_EQ(incident->operations[0].shape.choice.parameter, 3);
}

TEST_F(ReplayFile, WhatIsNoTraceIsASentence) {
  for (const char* text : {"", "no", "{}", "[1]", R"({"fibocast": {"machine": 5}})"}) {
    EXPECT_FALSE(read(text).has_value()) << text;
    EXPECT_NE(error_.find("no trace"), std::string::npos) << error_;
  }
  EXPECT_FALSE(read_incident(file_ + ".not", {}, error_).has_value());
  EXPECT_NE(error_.find("cannot be read"), std::string::npos) << error_;
}

TEST_F(ReplayFile, SaysHowItWent) {
  const auto incident = read(trace().dump());
  ASSERT_TRUE(incident.has_value());
  const Json answer = replay_json(*incident, {{3000, 3500}, {3700, 3200}});
  EXPECT_EQ(answer["same_order"], 1);
  EXPECT_EQ(answer["of"], 2);
  EXPECT_EQ(answer["operations"][0]["recorded_ns"], 2000);
  EXPECT_EQ(answer["operations"][0]["replayed_ns"], 1500);
  EXPECT_EQ(answer["operations"][1]["inversions"], 1);
  EXPECT_EQ(answer["operations"][1]["replayed_order"], Json({1, 0}));
  EXPECT_NE(replay_text(answer).find("1 of 2 operations"), std::string::npos) << replay_text(answer);
}

}  // namespace
}  // namespace fibocast
