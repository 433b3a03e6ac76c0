#include "firmware_sim/networks/crossbar_network.h"

#include "tests/firmware_sim/simulated.h"

namespace fibocast {
namespace {

TEST(CrossbarNetwork, InsideAndAcross) {
  CrossbarNetwork network(8, 4, {.latency = 3, .far_latency = 10, .far_send = 5});
  EXPECT_EQ(network.enter({0, 3, 100}, 7).time, 10u);
  EXPECT_EQ(network.enter({3, 4, 100}, 7).time, 17u);
  EXPECT_EQ(network.extra_send(0, 3), 0u);
  EXPECT_EQ(network.extra_send(4, 3), 5u);
  EXPECT_EQ(network.shortest_transit(), 3u);
  EXPECT_EQ(network.loads().links.size(), 2u);
  EXPECT_EQ(network.loads().longest_way, 2u);
}

// s = 2, o = 1: the root, node 0, sends to 1, 2, 3 in its cluster and to 4 in the other.
TEST(CrossbarNetwork, SendAndReceiveLatenciesDifferByTheTarget) {
  CrossbarNetwork network(5, 4, {.latency = 3, .far_latency = 10, .far_send = 5});
  const OperationShape shape{
      .operation = Operation::kMulticast, .ranks = 5, .choice = {Algorithm::kTrees, TreeKind::kSequential}};
  const SimulationRun run = test::simulated(workload_of(Plan{}, shape), {.kinds = {{2, 1}}}, network);
  EXPECT_EQ(run.active, (std::vector<Ticks>{0, 2 + 4, 4 + 4, 6 + 4, 6 + 7 + 11}));
}

TEST(CrossbarNetwork, BadParameters) {
  MachineDescription d{.network = NetworkKind::kCrossbar};
  EXPECT_EQ(test::mistake(d), "");
  for (const std::uint64_t nodes : {std::uint64_t{0}, std::uint64_t{16'000'001}}) {
    d.cluster_nodes = nodes;
    EXPECT_EQ(test::mistake(d), "a crossbar has 1 to 16000000 nodes");
  }
  d.cluster_nodes = 16, d.nodes = 2;
  EXPECT_EQ(test::mistake(d), "the machine has 2 nodes, not 4");
}

TEST(IdealNetwork, BadParameters) {
  MachineDescription d;
  EXPECT_EQ(test::mistake(d), "");
  EXPECT_EQ(test::mistake(d, 0), "an operation needs at least one rank");
  d.nodes = 3;
  EXPECT_EQ(test::mistake(d), "the machine has 3 nodes, not 4");
}

}  // namespace
}  // namespace fibocast
