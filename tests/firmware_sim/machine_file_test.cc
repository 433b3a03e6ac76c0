#include "firmware_sim/machine_file.h"

#include "firmware_sim/machine_presets.h"
#include "tests/firmware_sim/simulated.h"

namespace fibocast {
namespace {

std::string error_of_machine(const std::string& text) {
  std::string error;
  EXPECT_FALSE(parse_machine(text, "m.toml", error)) << text;
  return error;
}

TEST(MachineFile, SaysEverything) {
  std::string error;
  const auto d = parse_machine(R"(
    note = "measured"
    ports = "independent"
    [node]
    send = "27us"
    occupancy = "88us"
    send_per_byte = "0.5ns"
    [kinds.slow]
    factor = "3/2"
    occupancy = "100us"
    nodes = [1, 3]
    [network]
    kind = "crossbar"
    cluster_nodes = 2
    far_latency = "1us"
  )",
                               "m.toml", error);
  ASSERT_TRUE(d) << error;
  EXPECT_TRUE(d->is_time);
  EXPECT_EQ(d->note, "measured");
  EXPECT_EQ(d->ports, Ports::kIndependent);
  EXPECT_EQ(d->kind_of_node, (std::vector<std::uint32_t>{0, 1, 0, 1}));
  EXPECT_EQ(d->kinds[1].send, Rational(40'500));
  EXPECT_EQ(d->kinds[1].occupancy, Rational(100'000));
  EXPECT_EQ(d->kinds[1].send_per_byte, Rational(3, 4));
  EXPECT_EQ(d->network, NetworkKind::kCrossbar);
  const auto machine = build_machine(*d, 4, error);
  ASSERT_TRUE(machine) << error;
  EXPECT_EQ(machine->tick, Rational(1, 4));
  EXPECT_EQ(machine->network->enter({0, 3, 0}, 0).time, 4000u);
}

TEST(MachineFile, EveryKindOfNetwork) {
  for (const char* network : {"kind = 'ideal'\nlatency = '9/5'", "kind = 'mesh'\nrows = 2\ncolumns = 2\nhold = 1",
                              "kind = 'mesh'\nwormhole = false\nhold = 3", "kind = 'fat-tree'\ncapacity = '1,2'",
                              "kind = 'workstations'\nlatency = 16\nlatency_per_byte = '0.08'"}) {
    std::string error;
    const auto d = parse_machine(std::string("[network]\n") + network, "m.toml", error);
    ASSERT_TRUE(d) << network << ' ' << error;
    EXPECT_TRUE(build_machine(*d, 4, error)) << error;
  }
}

TEST(MachineFile, MistakesAreOneSentence) {
  EXPECT_EQ(error_of_machine("colour = 3"),
            "m.toml:1: there is no 'colour'; there are note, ports, node, kinds, network");
  EXPECT_EQ(error_of_machine("ports = 'both'"), "m.toml:1: ports is 'both'; allowed: \"shared\", \"independent\"");
  EXPECT_EQ(error_of_machine("node = 3"), "m.toml:1: node is 3; allowed: a table");
  EXPECT_EQ(error_of_machine("[node]\nsend = 0.5"),
            "m.toml:2: node.send is 0.5; allowed: a whole number or, in quotes, \"27us\", \"9/5\", \"0.8\"");
  EXPECT_EQ(error_of_machine("[node]\nsend = -1"),
            "m.toml:2: node.send is -1; allowed: a whole number or, in quotes, \"27us\", \"9/5\", \"0.8\"");
  EXPECT_EQ(error_of_machine("[node]\nspeed = 2"),
            "m.toml:2: there is no 'node.speed'; there are send, occupancy, send_per_byte, occupancy_per_byte");
  EXPECT_EQ(error_of_machine("[node]\nsend = '1us'\noccupancy = 3"),
            "m.toml: some costs have a unit of time and some have none");
  EXPECT_EQ(error_of_machine("[kinds.a]\nfactor = '2us'"),
            "m.toml:2: kinds.a.factor is '2us'; allowed: a whole number or, in quotes, \"3/2\", \"1.5\"");
  EXPECT_EQ(error_of_machine("[kinds.a]\nnodes = 3"), "m.toml:2: kinds.a.nodes is 3; allowed: a list of node numbers");
  EXPECT_EQ(error_of_machine("[kinds.a]\nnodes = [2, 2]"),
            "m.toml:2: kinds.a.nodes is 2; allowed: each node in one list");
  EXPECT_EQ(error_of_machine("[kinds.a]\nnodes = [99999999]"),
            "m.toml:2: kinds.a.nodes is 99999999; allowed: nodes below 16000000");
  EXPECT_EQ(error_of_machine("[network]\nrows = 3"),
            "m.toml:1: network.kind must be \"ideal\", \"crossbar\", \"mesh\", \"fat-tree\" or \"workstations\"");
  EXPECT_EQ(error_of_machine("[network]\nkind = 'ideal'\nrows = 3"),
            "m.toml:3: there is no 'network.rows'; there are kind, nodes, latency");
  EXPECT_EQ(error_of_machine("[network]\nkind = 'mesh'\nrows = '3'"),
            "m.toml:3: network.rows is '3'; allowed: a whole number");
  EXPECT_EQ(error_of_machine("[network]\nkind = 'mesh'\nwormhole = 1"),
            "m.toml:3: network.wormhole is 1; allowed: true, false");
  EXPECT_EQ(error_of_machine("[network]\nkind = 'fat-tree'\ncapacity = 1"),
            "m.toml:3: network.capacity is 1; allowed: a text in quotes");
  EXPECT_EQ(error_of_machine("[kinds.a]\nnodes = [1, 4]\n[network]\nkind = 'ideal'\nnodes = 4"),
            "m.toml: kinds.a.nodes has node 4; allowed: nodes below 4, which are all of this network");
  EXPECT_EQ(error_of_machine("[kinds.a]\nnodes = [6]\n[network]\nkind = 'mesh'\nrows = 2\ncolumns = 3"),
            "m.toml: kinds.a.nodes has node 6; allowed: nodes below 6, which are all of this network");
  EXPECT_TRUE(error_of_machine("[network").starts_with("m.toml:1: "));
}

TEST(MachinePresets, AllCanBeBuilt) {
  for (const MachinePreset& preset : machine_presets())
    for (const Rank ranks : {1u, 2u, 19u, 64u}) {
      std::string error;
      const auto d = machine_preset(preset.name, ranks, error);
      ASSERT_TRUE(d) << error;
      EXPECT_EQ(d->name, preset.name);
      EXPECT_TRUE(build_machine(*d, ranks, error)) << preset.name << ": " << error;
    }
  std::string error;
  EXPECT_FALSE(machine_preset("cray", 2, error));
  EXPECT_EQ(error,
            "there is no machine \"cray\": a file that ends in .toml, or one of ideal, manna, delta, cbft, ebft, hnow, "
            "hnow-literal");
}

// B18b: lambda = 1 + l / s is 1.2 for no bytes, 1.8 for 512 and 1.05 for 16 KiB.
TEST(MachinePresets, B18bTheDeltaIsReconstructedAndSaysSo) {
  std::string error;
  const MachineDescription d = machine_preset("delta", 64, error).value();
  EXPECT_NE(d.note.find("reconstructed"), std::string::npos);
  const Machine machine = build_machine(d, 64, error).value();
  const auto lambda = [&](std::uint64_t bytes) {
    const CostModel costs = planning_costs(d, machine, bytes);
    return 1 + static_cast<double>(costs.receive()) / static_cast<double>(costs.send);
  };
  EXPECT_NEAR(lambda(0), 1.2, 1e-9);
  EXPECT_NEAR(lambda(512), 1.8, 0.001);
  EXPECT_NEAR(lambda(16384), 1.05, 0.001);
  EXPECT_LT(lambda(65536), lambda(16384));
}

}  // namespace
}  // namespace fibocast
