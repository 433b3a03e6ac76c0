#include "firmware_sim/experiment.h"

#include "firmware_sim/machine_presets.h"
#include "tests/firmware_sim/simulated.h"

namespace fibocast {
namespace {

ExperimentRequest on(const char* machine, Operation operation, Rank ranks) {
  std::string error;
  ExperimentRequest request;
  request.machine = machine_preset(machine, ranks, error).value();
  request.operation = operation;
  request.ranks = ranks;
  return request;
}

SimulationRun run(const ExperimentRequest& request) {
  std::string error;
  auto experiment = Experiment::prepare(request, error);
  EXPECT_TRUE(experiment) << error;
  const auto run = experiment ? experiment->run({}, error) : std::nullopt;
  EXPECT_TRUE(run) << error;
  return run.value_or(SimulationRun{});
}

std::string error_of(const ExperimentRequest& request) {
  std::string error;
  EXPECT_FALSE(Experiment::prepare(request, error));
  return error;
}

// A27 and A30, on one crossbar.
TEST(Experiment, TheNineteenNodesOfManna) {
  ExperimentRequest request = on("manna", Operation::kMulticast, 19);
  request.machine.cluster_nodes = 32;
  for (const auto& [tree, time] : {std::pair{"sequential", 574}, {"binomial", 460}, {"fibo", 311}, {"lambda", 311}}) {
    request.tree = tree;
    EXPECT_EQ(run(request).completion, static_cast<Ticks>(time) * kMicrosecond) << tree;
  }
  request.operation = Operation::kBarrier;
  request.tree = "fibo";
  EXPECT_EQ(run(request).completion, 805 * kMicrosecond);
  request.tree = "binomial";
  EXPECT_EQ(run(request).completion, 954 * kMicrosecond);
}

// B15 at lambda = 9/5: 10.8 and 9.2, 4/27 less; on the mesh without conflicts as on the ideal machine.
TEST(Experiment, B15TheLambdaTreeGainsFourOf27) {
  ExperimentRequest request = on("ideal", Operation::kMulticast, 64);
  request.machine.ports = Ports::kIndependent;
  request.machine.kinds = {{.name = "node", .send = 1, .occupancy = 0}};
  request.machine.latency = Rational(4, 5);
  request.machine.hold = 1;
  for (const NetworkKind network : {NetworkKind::kIdeal, NetworkKind::kMesh}) {
    request.machine.network = network;
    const auto time = [&](const char* tree) {
      std::string error;
      request.tree = tree;
      return Experiment::prepare(request, error)->time(run(request).completion);
    };
    EXPECT_EQ(time("lambda"), Rational(46, 5));
    EXPECT_EQ(time("binomial:halving"), Rational(54, 5));
  }
}

TEST(Experiment, AnotherRootIsARotation) {
  ExperimentRequest request = on("ideal", Operation::kMulticast, 10);
  request.tree = "fibo";
  const SimulationRun first = run(request);
  request.root = 7;
  std::string error;
  EXPECT_EQ(run(request).active, first.active);  // by virtual rank
  EXPECT_EQ(Experiment::prepare(request, error)->real_rank(0), 7u);
  EXPECT_EQ(Experiment::prepare(request, error)->real_rank(4), 1u);
}

// The congestion experiment (Bruck et al. 1996): 64 KB on 8 x 8 nodes.
TEST(Experiment, B19RandomPlacementCostsConflictsAndTime) {
  ExperimentRequest request = on("delta", Operation::kMulticast, 64);
  request.bytes = 65536;
  for (const char* tree : {"lambda", "binomial", "binomial:halving"}) {
    request.tree = tree;
    request.placement = Placement::kRowMajor;
    const SimulationRun row_major = run(request);
    request.placement = Placement::kRandom;
    for (request.seed = 1; request.seed <= 20; ++request.seed) {
      const SimulationRun random = run(request);
      EXPECT_GT(random.loads.conflicts, row_major.loads.conflicts) << tree;
      EXPECT_GT(random.completion, row_major.completion) << tree;
    }
  }
}

// D8: each phase of the reflecting mapping is free of contention; placed at random the messages meet.
TEST(Experiment, D8ADivideIsLaidOutOnTheMesh) {
  ExperimentRequest request = on("delta", Operation::kDivide, 64);
  std::string error;
  request.algorithm = "share:0.5", request.bytes = 1 << 20;
  request.placement = Placement::kRandom;
  const SimulationRun random = run(request);
  request.placement = Placement::kReflecting;
  const SimulationRun reflecting = run(request);
  EXPECT_LT(reflecting.loads.conflicts, random.loads.conflicts);
  EXPECT_LT(reflecting.completion, random.completion);
  request.machine = machine_preset("ideal", 64, error).value();
  EXPECT_EQ(error_of(request), "this placement is for a mesh of at least 8 rows and 8 columns");
}

TEST(Experiment, ASeedReplaysItsPlacement) {
  ExperimentRequest request = on("delta", Operation::kMulticast, 64);
  request.bytes = 512;
  request.placement = Placement::kRandom;
  request.seed = 5;
  const SimulationRun first = run(request);
  EXPECT_EQ(run(request).active, first.active);
  request.seed = 6;
  EXPECT_NE(run(request).active, first.active);
}

TEST(Experiment, WorkstationsHaveTreesOfTheirOwn) {
  ExperimentRequest request = on("hnow", Operation::kMulticast, 8);
  request.tree = "hierarchical";
  EXPECT_EQ(run(request).completion, 490 * kMicrosecond);  // C15
  request.tree = "slow-first";
  EXPECT_EQ(run(request).completion, 530 * kMicrosecond);
  request.tree = "optimum";
  EXPECT_EQ(run(request).completion, 410 * kMicrosecond);  // C16
  request.operation = Operation::kGather;
  request.tree = "sequential";
  std::string error;
  EXPECT_TRUE(Experiment::prepare(request, error)->gather_by_equation_12());
  request.tree = "binomial";
  EXPECT_FALSE(Experiment::prepare(request, error)->gather_by_equation_12());
}

TEST(Experiment, FloodingBringsItsRouters) {
  std::string error;
  ExperimentRequest request = on("cbft", Operation::kAllgather, 8);
  request.algorithm = "flooding";
  const SimulationRun r = run(request);
  EXPECT_EQ(r.active.size(), 15u);
  EXPECT_EQ(r.completion, 9u);  // E7
  request.machine = machine_preset("ideal", 8, error).value();
  EXPECT_EQ(run(request).active.size(), 15u);
}

TEST(Experiment, RefusesWithASentence) {
  ExperimentRequest request = on("ideal", Operation::kMulticast, 4);
  request.root = 4;
  EXPECT_EQ(error_of(request), "the root must be a rank, 0 to 3");
  request.root = 0, request.tree = "oak";
  EXPECT_NE(error_of(request), "");
  request.operation = Operation::kScatter;
  EXPECT_EQ(error_of(request), "the tree \"oak\" is for barrier, multicast, reduce and allreduce");
  request.tree = "", request.algorithm = "quick";
  EXPECT_TRUE(error_of(request).starts_with("there is no algorithm \"quick\" for scatter"));
  request = on("delta", Operation::kMulticast, 4);
  request.bytes = UINT64_MAX;
  EXPECT_EQ(error_of(request), "so many bytes take longer than can be counted in the ticks of this machine");
  request = on("cbft", Operation::kAllgather, 6);
  request.algorithm = "flooding";
  EXPECT_EQ(error_of(request), "a flooding on a fat tree takes all its leaves: 8 ranks");
  request = on("ideal", Operation::kBarrier, 4);
  request.bytes = 7;
  EXPECT_EQ(error_of(request), "a barrier carries no bytes: leave --bytes out");
  request.operation = Operation::kAllreduce;
  EXPECT_NE(error_of(request), "");
}

// What does not fit into its counters must not be answered as if it were something smaller.
TEST(Experiment, RefusesMorePiecesAndBytesThanCanBeCounted) {
  ExperimentRequest request = on("ideal", Operation::kMulticast, 3);
  request.tree = "fibo";
  request.segment_bytes = 1;
  for (const std::uint64_t bytes :
       std::vector<std::uint64_t>{(1ull << 20) + 1, 1ull << 32, (1ull << 32) + 1, UINT64_MAX}) {
    request.bytes = bytes;
    EXPECT_EQ(error_of(request),
              std::to_string(bytes) + " bytes in segments of 1 are more than 1048576 segments: choose larger ones");
  }
  request.bytes = 1ull << 20;
  std::string error;
  EXPECT_TRUE(Experiment::prepare(request, error)) << error;
  request = on("ideal", Operation::kAlltoall, 4);
  request.bytes = UINT64_MAX / 4;
  EXPECT_EQ(error_of(request), "all together would send more bytes than can be counted");
  request.bytes = UINT64_MAX / 64;
  EXPECT_TRUE(Experiment::prepare(request, error)) << error;
}

TEST(Experiment, SaysWhatIsWrongWithTheMachine) {
  ExperimentRequest request = on("ideal", Operation::kMulticast, 4);
  request.machine.name = "m.toml";
  request.machine.kinds.front().send = request.machine.latency = Rational(0);
  EXPECT_EQ(error_of(request), "m.toml: a send must cost its node something, or the network must take some time");
  request.machine.kinds.front().send = Rational(1);
  request.machine.nodes = 3;
  EXPECT_EQ(error_of(request), "m.toml: the machine has 3 nodes, not 4");
  request = on("ideal", Operation::kMulticast, 4);
  request.tree = "oak";
  EXPECT_TRUE(error_of(request).starts_with("there is no tree \"oak\"; allowed are fibo, lambda, heterogeneous, "))
      << error_of(request);
}

}  // namespace
}  // namespace fibocast
