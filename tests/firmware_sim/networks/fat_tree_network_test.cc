// Step counts of collective operations on binary fat trees (Dimakopoulos and Dimopoulos, section E), from the product's
// own schedules: every packet moves by itself, link by link.
#include "firmware_sim/networks/fat_tree_network.h"

#include <algorithm>

#include "collectives/models/fat_tree_flood.h"
#include "collectives/models/fat_tree_scatter.h"
#include "tests/firmware_sim/simulated.h"

namespace fibocast {
namespace {

using test::free_nodes;
using test::simulated;

FatTree tree_of(std::uint64_t leaves, const char* capacity) {
  std::string error;
  return make_fat_tree(leaves, capacity, error).value();
}

SimulationRun run_on(const FatTree& tree, Operation operation, Algorithm algorithm, Rank ranks) {
  FatTreeNetwork network(tree, 1, 0);
  const Plan plan{.reduction = {}, .distribution = {.s = 1, .r = 1}};
  const OperationShape shape{.operation = operation, .ranks = ranks, .total_bytes = 8, .choice = {algorithm}};
  return simulated(workload_of(plan, shape), free_nodes(), network);
}

constexpr const char* kCapacities[] = {"constant", "exponential"};

TEST(FatTreeNetwork, E5E6ScatterAndGather) {
  for (const char* capacity : kCapacities)
    for (Rank n = 2; n <= 256; n *= 2) {
      const FatTree tree = tree_of(n, capacity);
      EXPECT_EQ(run_on(tree, Operation::kScatter, Algorithm::kFurthestFirst, n).completion, scatter_steps(n));
      const SimulationRun gather = run_on(tree, Operation::kGather, Algorithm::kFurthestFirst, n);
      EXPECT_EQ(gather.completion, scatter_steps(n));
      EXPECT_EQ(gather.loads.waited, 0u);  // timed so that nobody waits on the way
    }
}

TEST(FatTreeNetwork, E5EachLeafHasItsPacketInTheStepOfThePaper) {
  const SimulationRun run = run_on(tree_of(8, "constant"), Operation::kScatter, Algorithm::kFurthestFirst, 8);
  EXPECT_EQ(run.active, (std::vector<Ticks>{0, 8, 8, 9, 6, 7, 8, 9}));
}

TEST(FatTreeNetwork, E7Flooding) {
  for (const char* capacity : kCapacities)
    for (Rank n = 2; n <= 128; n *= 2)
      EXPECT_EQ(run_on(tree_of(n, capacity), Operation::kAllgather, Algorithm::kFlooding, 2 * n - 1).completion,
                n == 2 ? 2 : n + 1);
}

TEST(FatTreeNetwork, E8QueuesOfAFlooding) {
  for (unsigned levels = 2; levels <= 7; ++levels) {
    const Rank n = Rank{1} << levels;
    const SimulationRun run = run_on(tree_of(n, "constant"), Operation::kAllgather, Algorithm::kFlooding, 2 * n - 1);
    std::uint64_t most = 0;
    for (unsigned h = 1; h <= levels; ++h)
      most = std::max({most, h < levels ? flood_up_wait(levels, h) : 0, flood_down_wait(levels, h)});
    EXPECT_EQ(std::ranges::max_element(run.loads.links, {}, &LinkLoad::queue_peak)->queue_peak, most);
  }
}

TEST(FatTreeNetwork, E13PipelinedTotalExchange) {
  for (Rank n = 4; n <= 64; n *= 2) {
    const Rank levels = static_cast<Rank>(std::bit_width(n) - 1);
    const SimulationRun exponential =
        run_on(tree_of(n, "exponential"), Operation::kAlltoall, Algorithm::kPhasedExponential, n);
    EXPECT_EQ(exponential.completion, n + 2 * levels - 2);
    EXPECT_EQ(exponential.loads.waited, 0u);
    if (n > 16) continue;  // more stages than a schedule has numbers
    const SimulationRun constant = run_on(tree_of(n, "constant"), Operation::kAlltoall, Algorithm::kPhasedConstant, n);
    EXPECT_EQ(constant.completion, (n * n - 1) / 3 + 2 * levels - 1);
    EXPECT_EQ(constant.loads.waited, 0u);
  }
}

TEST(FatTreeNetwork, E16ShorterTotalExchanges) {
  for (const auto& [n, steps] : {std::pair<Rank, Ticks>{8, 11}, {16, 21}, {32, 39}}) {
    const SimulationRun run = run_on(tree_of(n, "exponential"), Operation::kAlltoall, Algorithm::kPhasedXor, n);
    EXPECT_EQ(run.completion, steps);
    EXPECT_EQ(run.loads.waited, 0u);
  }
}

TEST(FatTreeNetwork, TheSchedulesOfFatterTreesWaitOnThinOnes) {
  const SimulationRun run = run_on(tree_of(8, "constant"), Operation::kAlltoall, Algorithm::kPhasedExponential, 8);
  EXPECT_GT(run.loads.waited, 0u);
  EXPECT_GT(run.completion, 12u);
}

TEST(FatTreeNetwork, MessagesOfSeveralPacketsHoldEachLinkLonger) {
  FatTreeNetwork network(tree_of(2, "constant"), 10, 100);
  Passage p = network.enter({0, 1, 250}, 5);
  EXPECT_FALSE(p.arrived);
  p = network.go_on(p.packet, p.time);
  p = network.go_on(p.packet, p.time);
  EXPECT_TRUE(p.arrived);
  EXPECT_EQ(p.time, 5u + 2 * 3 * 10);
}

TEST(FatTreeNetwork, BadParameters) {
  MachineDescription d{.network = NetworkKind::kFatTree};
  EXPECT_EQ(test::mistake(d), "");
  d.step = 0;
  EXPECT_EQ(test::mistake(d), "the step of a fat tree must be above 0");
  d.step = 1, d.nodes = 6;
  EXPECT_NE(test::mistake(d), "");
  d.nodes = 2;
  EXPECT_EQ(test::mistake(d), "the machine has 2 nodes, not 4");
  d.nodes = 0, d.capacity = "thick";
  EXPECT_NE(test::mistake(d), "");
  d.capacity = "2,2";
  EXPECT_NE(test::mistake(d), "");
  d.capacity = "1,1,1";
  EXPECT_NE(test::mistake(d), "");
}

}  // namespace
}  // namespace fibocast
