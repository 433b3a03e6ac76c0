#include "firmware_sim/fault_file.h"

#include <gtest/gtest.h>

namespace fibocast {
namespace {

using Kind = Fault::Kind;

std::string error_of_faults(const std::string& text) {
  std::string error;
  EXPECT_FALSE(parse_faults(text, "f.toml", 8, error)) << text;
  return error;
}

std::string error_of_fault(const std::string& lines) { return error_of_faults("[[fault]]\n" + lines); }

std::vector<Fault> read(const std::string& text) {
  std::string error;
  const auto faults = parse_faults(text, "f.toml", 8, error);
  EXPECT_TRUE(faults) << error;
  return faults.value_or(std::vector<Fault>());
}

TEST(FaultFile, SaysEverything) {
  const std::vector<Fault> faults = read(R"(
    [[fault]]
    kind = "delay"
    begins_ms = 0.5
    heals_ms = 100
    nodes = [4, 1]
    probability = 0.2
    time_ms = 3
    [[fault]]
    kind = "crash"
    nodes = [7]
  )");
  ASSERT_EQ(faults.size(), 2u);
  EXPECT_EQ(faults[0].kind, Kind::kDelay);
  EXPECT_EQ(faults[0].begins, 500'000);
  EXPECT_EQ(faults[0].heals, 100'000'000);
  EXPECT_EQ(faults[0].nodes, (std::vector<NodeId>{1, 4}));
  EXPECT_EQ(faults[0].probability, 0.2);
  EXPECT_EQ(faults[0].time, 3'000'000);
  EXPECT_EQ(faults[1].kind, Kind::kCrash);
  EXPECT_EQ(faults[1].begins, 0);
  EXPECT_EQ(faults[1].heals, kNever);
  EXPECT_EQ(faults[1].nodes, std::vector<NodeId>{7});
}

TEST(FaultFile, EveryKindWithAllItsKeys) {
  EXPECT_EQ(fault_kinds().size(), 10u);
  for (const Kind kind : fault_kinds()) {
    std::string text = std::string("[[fault]]\nkind = '") + kind_name(kind) + "'\nbegins_ms = 1\nnodes = [0]\n";
    if (kind != Kind::kClockJump) text += "heals_ms = 2\n";
    if (has_probability(kind)) text += "probability = 1\n";
    if (has_time(kind)) text += "time_ms = 0.001\n";
    const std::vector<Fault> faults = read(text);
    ASSERT_EQ(faults.size(), 1u) << text;
    EXPECT_EQ(faults[0].kind, kind);
    EXPECT_EQ(faults[0].time, has_time(kind) ? 1'000 : 0);
  }
}

TEST(FaultFile, MayBeEmptyAndFaultsOfMessagesMayConcernAll) {
  EXPECT_TRUE(read("").empty());
  const std::vector<Fault> faults = read("[[fault]]\nkind = 'loss'\nprobability = 0.5");
  ASSERT_EQ(faults.size(), 1u);
  EXPECT_TRUE(concerns(faults[0], 5));
}

TEST(FaultFile, MistakesInTheOutlineAreOneSentence) {
  EXPECT_TRUE(error_of_faults("[[fault]\n").starts_with("f.toml:1: "));
  EXPECT_EQ(error_of_faults("[[faults]]\nkind = 'loss'"), "f.toml:1: there is no 'faults'; there are fault");
  EXPECT_EQ(error_of_faults("\nfault = 3"), "f.toml:2: fault is 3; allowed: tables that begin with [[fault]]");
  EXPECT_TRUE(error_of_faults("[fault]\nkind = 'loss'").ends_with("; allowed: tables that begin with [[fault]]"));
  const std::string kinds = "loss, duplicate, reorder, delay, partition, one-way, pause, crash, slow, clock-jump";
  EXPECT_EQ(error_of_faults("\n[[fault]]\nnodes = [1]"), "f.toml:2: the fault has no kind; allowed: " + kinds);
  EXPECT_EQ(error_of_fault("kind = 'fire'"), "f.toml:2: kind is 'fire'; allowed: " + kinds);
  EXPECT_EQ(error_of_fault("kind = 3"), "f.toml:2: kind is 3; allowed: a text in quotes");
}

TEST(FaultFile, KeysThatAKindDoesNotHaveAreNamed) {
  EXPECT_EQ(error_of_fault("kind = 'loss'\ncolour = 3"),
            "f.toml:3: there is no 'loss.colour'; there are kind, begins_ms, heals_ms, nodes, probability");
  EXPECT_EQ(error_of_fault("kind = 'pause'\nnodes = [1]\nprobability = 0.5"),
            "f.toml:4: there is no 'pause.probability'; there are kind, begins_ms, heals_ms, nodes");
  EXPECT_EQ(error_of_fault("kind = 'clock-jump'\nnodes = [1]\ntime_ms = 1\nheals_ms = 5"),
            "f.toml:5: there is no 'clock-jump.heals_ms'; there are kind, begins_ms, nodes, time_ms");
}

TEST(FaultFile, MistakesInValuesAreOneSentence) {
  EXPECT_EQ(error_of_fault("kind = 'loss'\nbegins_ms = -1"),
            "f.toml:3: begins_ms is -1; allowed: milliseconds, 0 to 1000000000");
  EXPECT_EQ(error_of_fault("kind = 'loss'\nheals_ms = '5ms'"),
            "f.toml:3: heals_ms is '5ms'; allowed: milliseconds, 0 to 1000000000");
  EXPECT_EQ(error_of_fault("kind = 'delay'\ntime_ms = nan"),
            "f.toml:3: time_ms is nan; allowed: milliseconds, 0 to 1000000000");
  EXPECT_EQ(error_of_fault("kind = 'loss'\nprobability = 20"), "f.toml:3: probability is 20; allowed: 0 to 1");
  const std::string allowed = "; allowed: node numbers below 8, each once, as in [1, 4]";
  EXPECT_EQ(error_of_fault("kind = 'crash'\nnodes = 3"), "f.toml:3: nodes is 3" + allowed);
  EXPECT_EQ(error_of_fault("kind = 'crash'\nnodes = [8]"), "f.toml:3: nodes is 8" + allowed);
  EXPECT_EQ(error_of_fault("kind = 'crash'\nnodes = [2, 2]"), "f.toml:3: nodes is 2" + allowed);
  EXPECT_EQ(error_of_fault("kind = 'crash'\nnodes = ['a']"), "f.toml:3: nodes is 'a'" + allowed);
}

TEST(FaultFile, WhatDoesNotFitTogetherIsSaidWithTheFaultsLine) {
  EXPECT_EQ(error_of_faults("\n[[fault]]\nkind = 'loss'\nbegins_ms = 5\nheals_ms = 5"),
            "f.toml:2: loss: it heals before it begins");
  EXPECT_EQ(error_of_fault("kind = 'slow'\nnodes = [1]"), "f.toml:1: slow: needs a time above 0");
  EXPECT_EQ(error_of_fault("kind = 'partition'"), "f.toml:1: partition: needs nodes");
  EXPECT_EQ(error_of_fault("kind = 'crash'"), "f.toml:1: crash: needs nodes");
}

}  // namespace
}  // namespace fibocast
