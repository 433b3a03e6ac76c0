#include "collectives/models/workstations.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

#include "collectives/models/workstation_trees.h"
#include "tests/collectives/golden.h"
#include "tests/collectives/models/workstation_costs.h"

namespace fibocast {
namespace {

using enum WorkstationPreset;
using test::machine;

// A number of the file, exactly as it is written there.
Rational exact(const nlohmann::json& number) { return parse_quantity(number.dump()).value().value; }

WorkstationPreset preset_of(const nlohmann::json& entry) { return entry["xc"] == 16 ? kLiteral : kFolded; }

TickedWorkstations machine_of(const nlohmann::json& entry) {
  return machine(entry["cfg"], preset_of(entry), entry["m"]);
}

void expect_times(const TickedWorkstations& m, const std::vector<std::uint64_t>& ticks, const nlohmann::json& golden) {
  ASSERT_EQ(ticks.size(), golden.size());
  for (std::size_t i = 0; i < ticks.size(); ++i) EXPECT_EQ(m.time(ticks[i]), exact(golden[i]));
}

Rational broadcast(const std::string& letters, WorkstationPreset preset, std::uint64_t bytes) {
  const TickedWorkstations m = machine(letters, preset, bytes);
  std::string error;
  return m.time(completion(choose_workstation_tree("binomial", m.costs, 0, error).value(), m.costs));
}

Rational scatter(const std::string& letters, WorkstationPreset preset, std::uint64_t bytes) {
  const TickedWorkstations m = machine(letters, preset, bytes);
  return m.time(std::ranges::max(scatter_times(m.costs, 0)));
}

Rational gather(const std::string& letters, WorkstationPreset preset, std::uint64_t bytes,
                GatherModel model = GatherModel::kLiteral) {
  const TickedWorkstations m = machine(letters, preset, bytes);
  return m.time(gather_times(m.costs, 0, model).completion());
}

TEST(Workstations, C1GoldenPointToPoint) {
  const auto type = [](const nlohmann::json& letter) {
    return letter == "F" ? fast_workstation() : slow_workstation();
  };
  for (const auto& entry : test::golden("hnow.json", "ptp"))
    EXPECT_EQ(point_to_point_time(type(entry["sender"]), type(entry["receiver"]), workstation_link(preset_of(entry)),
                                  entry["m"]),
              exact(entry["t"]));
}

TEST(Workstations, C3OnlyTheFoldedPresetGivesTable2) {
  const WorkstationType fast = fast_workstation();
  const WorkstationType slow = slow_workstation();
  const auto table = [&](WorkstationPreset preset) {
    const WorkstationLink link = workstation_link(preset);
    return std::vector<Rational>{point_to_point_time(fast, fast, link, 0), point_to_point_time(fast, slow, link, 0),
                                 point_to_point_time(slow, fast, link, 0), point_to_point_time(slow, slow, link, 0)};
  };
  EXPECT_EQ(table(kFolded), (std::vector<Rational>{170, 200, 200, 230}));
  EXPECT_EQ(table(kLiteral), (std::vector<Rational>{186, 216, 216, 246}));
}

TEST(Workstations, C7C8C14GoldenBroadcasts) {
  for (const auto& entry : test::golden("hnow.json", "bcast")) {
    const TickedWorkstations m = machine_of(entry);
    const std::string name = entry["tree"] == "hier" ? "hierarchical" : entry["tree"];
    std::string error;
    const Tree tree = choose_workstation_tree(name, m.costs, 0, error).value();
    expect_times(m, activation_times(tree, m.costs), entry["times"]);
    EXPECT_EQ(m.time(completion(tree, m.costs)), exact(entry["t"]));
  }
}

TEST(Workstations, C9GoldenScatters) {
  for (const auto& entry : test::golden("hnow.json", "scatter")) {
    const TickedWorkstations m = machine_of(entry);
    const std::vector<std::uint64_t> times = scatter_times(m.costs, entry["root"]);
    expect_times(m, times, entry["times"]);
    EXPECT_EQ(m.time(std::ranges::max(times)), exact(entry["t"]));
  }
}

TEST(Workstations, C10C11GoldenGathers) {
  for (const auto& entry : test::golden("hnow.json", "gather")) {
    const TickedWorkstations m = machine_of(entry);
    const GatherTimes literal = gather_times(m.costs, entry["root"], GatherModel::kLiteral);
    expect_times(m, literal.arrive, entry["arrive"]);
    expect_times(m, literal.receive, entry["receive"]);
    EXPECT_EQ(m.time(literal.completion()), exact(entry["t"]));
    const GatherTimes serialised = gather_times(m.costs, entry["root"], GatherModel::kSerialised);
    EXPECT_EQ(m.time(serialised.completion()), exact(entry["t_serial"]));
  }
}

TEST(Workstations, C9C10C11GoldenOtherMachines) {
  for (const auto& entry : test::golden("hnow.json", "custom")) {
    WorkstationCluster cluster{{}, {}, {exact(entry["xc"]), exact(entry["xm"])}};
    for (const auto& c : entry["nodes"]) {
      cluster.nodes.push_back(static_cast<std::uint32_t>(cluster.types.size()));
      cluster.types.push_back({"", exact(c[0]), exact(c[1]), exact(c[2]), exact(c[3])});
    }
    const TickedWorkstations m = workstations_in_ticks(cluster, entry["m"]);
    EXPECT_EQ(m.time(std::ranges::max(scatter_times(m.costs, 0))), exact(entry["scatter_t"]));
    EXPECT_EQ(m.time(gather_times(m.costs, 0, GatherModel::kLiteral).completion()), exact(entry["gather_t"]));
    EXPECT_EQ(m.time(gather_times(m.costs, 0, GatherModel::kSerialised).completion()), exact(entry["gather_serial_t"]));
  }
}

struct FourNodes {
  const char* letters;
  WorkstationPreset preset;
  std::vector<Rational> empty;     // broadcast, scatter, gather of 0 bytes
  std::vector<Rational> thousand;  // of 1000
};

TEST(Workstations, C12FourConfigurations) {
  const std::vector<FourNodes> paper = {
      {"FFFF", kLiteral, {372, 306, 406}, {692, 566, 626}},   {"FFSS", kLiteral, {462, 336, 406}, {1012, 646, 742}},
      {"SFSF", kLiteral, {462, 396, 496}, {1092, 1046, 866}}, {"FSFS", kLiteral, {402, 336, 406}, {772, 646, 742}},
      {"FFFF", kFolded, {340, 290, 390}, {660, 550, 610}},    {"FFSS", kFolded, {430, 320, 390}, {980, 630, 710}},
      {"SFSF", kFolded, {430, 380, 480}, {1060, 1030, 850}},  {"FSFS", kFolded, {370, 320, 390}, {740, 630, 710}}};
  for (const FourNodes& c : paper) {
    for (const std::uint64_t m : {0, 1000})
      EXPECT_EQ((std::vector{broadcast(c.letters, c.preset, m), scatter(c.letters, c.preset, m),
                             gather(c.letters, c.preset, m)}),
                m == 0 ? c.empty : c.thousand)
          << c.letters << ' ' << m;
  }
}

TEST(Workstations, C13ThePlacementOfTheSameNodesMatters) {
  EXPECT_EQ(broadcast("FFSS", kLiteral, 0), Rational(462));
  EXPECT_EQ(broadcast("FSFS", kLiteral, 0), Rational(402));
  // Observation 1: with send and receive costs added up, the two directions of Fig. 2 would cost the same.
  EXPECT_NE(scatter("SFSF", kFolded, 1000), scatter("FSFS", kFolded, 1000));
  EXPECT_NE(point_to_point_time(fast_workstation(), slow_workstation(), workstation_link(kFolded), 1000),
            point_to_point_time(slow_workstation(), fast_workstation(), workstation_link(kFolded), 1000));
}

// Fig. 8: k fast nodes of n, the root is one of them.
std::string fast_of(std::size_t k, std::size_t n) { return std::string(k, 'F') + std::string(n - k, 'S'); }

TEST(Workstations, C17GatherOnEightNodes) {
  const auto times = [](std::uint64_t bytes) {
    std::vector<std::string> times;
    for (std::size_t k = 1; k <= 8; ++k) times.push_back(gather(fast_of(k, 8), kFolded, bytes).to_decimal_string());
    return times;
  };
  using Times = std::vector<std::string>;
  EXPECT_EQ(times(0), (Times{"860", "830", "830", "830", "830", "830", "830", "830"}));
  EXPECT_EQ(times(1024),
            (Times{"1341.28", "1282.48", "1223.68", "1178.16", "1178.16", "1178.16", "1178.16", "1178.16"}));
  EXPECT_EQ(times(8192),
            (Times{"6507.84", "6507.84", "6507.84", "6507.84", "6507.84", "6507.84", "6507.84", "5412.88"}));
}

// True for small messages only, by equation 12 as printed: up to 1056 and 896 bytes in steps of 16.
TEST(Workstations, C17NoGainBeyondFourFastNodesForSmallMessages) {
  for (const std::size_t n : {8, 16}) {
    const auto gains = [n](WorkstationPreset preset, std::uint64_t bytes) {
      return gather(fast_of(n, n), preset, bytes) < gather(fast_of(4, n), preset, bytes);
    };
    for (std::uint64_t bytes = 0; bytes <= 2048; ++bytes) {
      ASSERT_EQ(gains(kFolded, bytes), bytes > 1071) << bytes;
      ASSERT_EQ(gains(kLiteral, bytes), bytes > 900) << bytes;
    }
  }
}

TEST(Workstations, C17TheSerialisedWireIsSaturatedByThreeFastNodes) {
  for (const WorkstationPreset preset : {kFolded, kLiteral})
    for (const std::size_t n : {8, 16})
      for (std::uint64_t bytes = 0; bytes <= 1'000'000; bytes = bytes * 5 / 4 + 1)
        ASSERT_EQ(gather(fast_of(3, n), preset, bytes, GatherModel::kSerialised),
                  gather(fast_of(n, n), preset, bytes, GatherModel::kSerialised))
            << bytes;
}

TEST(Workstations, OneNodeTakesNoTime) {
  EXPECT_EQ(broadcast("F", kLiteral, 100), Rational(0));
  EXPECT_EQ(scatter("S", kLiteral, 100), Rational(0));
  EXPECT_EQ(gather("F", kLiteral, 100), Rational(0));
}

TEST(Workstations, AnyRootScattersAndGathers) {
  const TickedWorkstations m = machine("SFSF", kFolded, 0);
  const std::vector<std::uint64_t> times = scatter_times(m.costs, 1);
  EXPECT_EQ(m.time(times[0]), Rational(60 + 140));
  EXPECT_EQ(times[1], 0u);
  EXPECT_EQ(m.time(times[2]), Rational(120 + 140));
  EXPECT_EQ(m.time(gather_times(m.costs, 1, GatherModel::kLiteral).completion()), Rational(60 + 3 * 110));
}

TEST(Workstations, TypesWithoutNodesDoNotMatter) {
  const std::uint64_t bytes = 1ull << 60;
  const WorkstationCluster cluster{{{"one", 1, 0, 0, 0}, slow_workstation()}, {0, 0}, {0, 0}};
  EXPECT_EQ(workstations_in_ticks(cluster, bytes).costs.nodes[1], (NodeCost{1, 0}));
}

TEST(Workstations, C4PingPong) {
  const WorkstationLink link = workstation_link(kFolded);
  const auto one_way = [&](const WorkstationType& a, const WorkstationType& b) {
    return point_to_point_time(a, b, link, 1024);
  };
  EXPECT_EQ(one_way(fast_workstation(), fast_workstation()) * 2, Rational(66768, 100));
  EXPECT_EQ(one_way(fast_workstation(), slow_workstation()) + one_way(slow_workstation(), fast_workstation()),
            Rational(912));
}

TEST(Workstations, WhatDoesNotFitIsRefused) {
  EXPECT_THROW(machine("FF", kLiteral, UINT64_MAX), std::overflow_error);
  std::string error;
  EXPECT_FALSE(workstations_of_letters("FX", kLiteral, error));
  EXPECT_NE(error, "");
  EXPECT_FALSE(workstations_of_letters("", kLiteral, error));
  EXPECT_FALSE(parse_workstation_preset("Literal"));
}

}  // namespace
}  // namespace fibocast
