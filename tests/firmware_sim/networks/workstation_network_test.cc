// The papers' workstations (Banikazemi et al. 1999, section C): the simulated times are those of its formulas.
#include "firmware_sim/networks/workstation_network.h"

#include <algorithm>

#include "collectives/models/workstation_trees.h"
#include "collectives/models/workstations.h"
#include "collectives/models/workstations_optimum.h"
#include "tests/firmware_sim/simulated.h"

namespace fibocast {
namespace {

using test::simulated;

// Costs per message of one size, as the formulas take them.
struct Workstations {
  Workstations(const char* letters, WorkstationPreset preset, std::uint64_t bytes) {
    std::string error;
    const WorkstationCluster cluster = workstations_of_letters(letters, preset, error).value();
    machine = workstations_in_ticks(cluster, bytes);
    nodes.kinds.clear();
    for (const NodeCost& cost : machine.costs.nodes) {
      nodes.kind_of.push_back(static_cast<std::uint32_t>(nodes.kinds.size()));
      nodes.kinds.push_back({cost.send, cost.receive});
    }
  }
  SimulationRun run(const Workload& workload) const {
    WorkstationNetwork network(static_cast<std::uint32_t>(nodes.kinds.size()), machine.costs.link, 0);
    return simulated(workload, nodes, network);
  }
  SimulationRun broadcast(const std::string& tree_name) const {
    std::string error;
    const Tree tree = choose_workstation_tree(tree_name, machine.costs, 0, error).value();
    return run(test::along(tree, Operation::kMulticast));
  }
  SimulationRun along_root(Operation operation) const {
    const OperationShape shape{.operation = operation,
                               .ranks = static_cast<Rank>(nodes.kinds.size()),
                               .choice = {Algorithm::kTrees, TreeKind::kSequential}};
    return run(workload_of(Plan{}, shape));
  }
  Rational time(Ticks ticks) const { return machine.time(ticks); }

  TickedWorkstations machine;
  NodeTable nodes;
};

constexpr WorkstationPreset kPresets[] = {WorkstationPreset::kLiteral, WorkstationPreset::kFolded};

TEST(WorkstationNetwork, C12BroadcastScatterAndGather) {
  struct Row {
    const char* letters;
    std::uint64_t broadcast[4], scatter[4];  // literal m = 0, 1000, folded m = 0, 1000
  };
  const Row rows[] = {{"FFFF", {372, 692, 340, 660}, {306, 566, 290, 550}},
                      {"FFSS", {462, 1012, 430, 980}, {336, 646, 320, 630}},
                      {"SFSF", {462, 1092, 430, 1060}, {396, 1046, 380, 1030}},
                      {"FSFS", {402, 772, 370, 740}, {336, 646, 320, 630}}};
  for (const Row& row : rows)
    for (std::size_t i = 0; i < 4; ++i) {
      const Workstations machine(row.letters, kPresets[i / 2], i % 2 * 1000);
      EXPECT_EQ(machine.time(machine.broadcast("binomial").completion), Rational(row.broadcast[i])) << row.letters;
      EXPECT_EQ(machine.time(machine.along_root(Operation::kScatter).completion), Rational(row.scatter[i]));
    }
}

// Equation 12 is beyond any machine: its i-th message waits i times for the wire although it was free (C10, C11).
TEST(WorkstationNetwork, C11GatherIsTheCausalFormAndNeverLaterThanEquation12) {
  for (const WorkstationPreset preset : kPresets)
    for (const char* letters : {"FFFF", "FFSS", "SFSF", "FSFS", "FSSSSFFF", "S", "FS"})
      for (const std::uint64_t bytes : {0, 1000, 4096, 16384}) {
        const Workstations machine(letters, preset, bytes);
        const Ticks completion = machine.along_root(Operation::kGather).completion;
        EXPECT_EQ(completion, gather_times(machine.machine.costs, 0, GatherModel::kSerialised).completion());
        EXPECT_LE(completion, gather_times(machine.machine.costs, 0, GatherModel::kLiteral).completion());
      }
  const Workstations machine("FFSS", WorkstationPreset::kLiteral, 1000);
  EXPECT_EQ(machine.time(gather_times(machine.machine.costs, 0, GatherModel::kLiteral).completion()), Rational(742));
  EXPECT_LT(machine.time(machine.along_root(Operation::kGather).completion), Rational(742));
}

TEST(WorkstationNetwork, C15HierarchicalAgainstSequential) {
  for (const std::uint64_t bytes : {0, 2400, 4000, 16384}) {
    const Workstations folded("FFFFSSSS", WorkstationPreset::kFolded, bytes);
    EXPECT_EQ(folded.time(folded.broadcast("hierarchical").completion), Rational(490) + Rational(47, 100) * bytes);
    EXPECT_EQ(folded.time(folded.broadcast("slow-first").completion), Rational(530) + Rational(46, 100) * bytes);
    const Workstations literal("FFFFSSSS", WorkstationPreset::kLiteral, bytes);
    EXPECT_EQ(literal.time(literal.broadcast("hierarchical").completion), Rational(522) + Rational(47, 100) * bytes);
    EXPECT_EQ(literal.time(literal.broadcast("slow-first").completion), Rational(546) + Rational(46, 100) * bytes);
  }
}

TEST(WorkstationNetwork, C16Optimum) {
  struct Row {
    std::uint64_t bytes;
    Rational literal, folded;
  };
  for (const Row& row : {Row{0, 432, 410}, Row{1024, {81088, 100}, {77888, 100}},
                         Row{4096, {194752, 100}, {191552, 100}}, Row{16384, {649408, 100}, {646208, 100}}}) {
    const Workstations literal("FFFFSSSS", WorkstationPreset::kLiteral, row.bytes);
    EXPECT_EQ(literal.time(literal.broadcast("optimum").completion), row.literal);
    const Workstations folded("FFFFSSSS", WorkstationPreset::kFolded, row.bytes);
    EXPECT_EQ(folded.time(folded.broadcast("optimum").completion), row.folded);
  }
}

TEST(WorkstationNetwork, EveryTreeTakesAsLongAsItsFormula) {
  for (const WorkstationPreset preset : kPresets)
    for (const char* name : {"heterogeneous", "heterogeneous:best", "binary", "sequential", "kary:3"}) {
      const Workstations machine("FSFSSSFFSFSSF", preset, 777);
      std::string error;
      const Tree tree = choose_workstation_tree(name, machine.machine.costs, 0, error).value();
      EXPECT_EQ(machine.broadcast(name).active, activation_times(tree, machine.machine.costs)) << name;
      EXPECT_GE(machine.run(test::along(tree, Operation::kReduce)).completion,
                reduction_completion(tree, machine.machine.costs));
    }
}

TEST(WorkstationNetwork, BytesTakeTimeOnTheWire) {
  WorkstationNetwork network(3, 10, 2);
  EXPECT_EQ(network.enter({0, 2, 5}, 100).time, 120u);
  EXPECT_EQ(network.enter({1, 2, 0}, 101).time, 130u);  // behind the first
  EXPECT_EQ(network.enter({0, 1, 0}, 101).time, 111u);
  EXPECT_EQ(network.loads().waited, 19u);
  EXPECT_EQ(network.usual_transit(5), 20u);
}

TEST(WorkstationNetwork, BadParameters) {
  MachineDescription d{.network = NetworkKind::kWorkstations};
  EXPECT_EQ(test::mistake(d), "");
  d.nodes = 3;
  EXPECT_EQ(test::mistake(d), "the machine has 3 nodes, not 4");
  d.nodes = 17'000'000;
  EXPECT_EQ(test::mistake(d), "a machine has at most 16000000 nodes");
  d.nodes = 4, d.kind_of_node = {0, 1};
  EXPECT_EQ(test::mistake(d), "a node is of a kind that is not described");
  d.kinds.clear();
  EXPECT_EQ(test::mistake(d), "a machine has at least one kind of node");
  d = {.network = NetworkKind::kWorkstations, .latency = {1, 4'000'000'007}, .hold = {1, 4'294'967'291}};
  EXPECT_EQ(test::mistake(d), "the costs are too large or have too many digits");
}

}  // namespace
}  // namespace fibocast
