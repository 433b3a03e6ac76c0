#include "collectives/models/fat_tree_flood.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "collectives/flood_order.h"
#include "tests/collectives/golden.h"
#include "tests/collectives/models/fat_trees.h"

namespace fibocast {
namespace {

using test::fat_tree;

constexpr FloodTies kAllTies[] = {{false, false}, {false, true}, {true, false}, {true, true}};

// Every leaf got every other leaf's packet once.
void expect_complete(Rank n, const FloodRun& run) {
  std::vector<std::vector<int>> got(n, std::vector<int>(n));
  for (const FloodHop& hop : run.hops)
    if (hop.to < n) ++got[hop.to][hop.source];
  for (Rank v = 0; v < n; ++v)
    for (Rank u = 0; u < n; ++u) EXPECT_EQ(got[v][u], u == v ? 0 : 1);
}

TEST(FatTreeFlood, E7E8Golden) {
  for (const auto& entry : test::golden("fattree.json", "flood")) {
    const FloodRun run = simulate_flooding({entry["n"], entry["c"].get<std::vector<std::uint64_t>>()});
    EXPECT_EQ(run.completion, entry["T"]);
    if (!entry.contains("up_wait")) continue;
    EXPECT_EQ(nlohmann::json(run.queues.up_wait), entry["up_wait"]);
    EXPECT_EQ(nlohmann::json(run.queues.down_wait), entry["down_wait"]);
    EXPECT_EQ(nlohmann::json(run.queues.up_peak), entry["up_peak"]);
    EXPECT_EQ(nlohmann::json(run.queues.down_peak), entry["down_peak"]);
  }
}

TEST(FatTreeFlood, E7EveryTieRuleOnTheConstantTree) {
  for (Rank n = 1; n <= 256; n *= 2)
    for (const FloodTies ties : kAllTies) {
      const FloodRun run = simulate_flooding(fat_tree(n), ties);
      EXPECT_EQ(run.completion, flood_steps(n)) << n;
      if (n <= 64) expect_complete(n, run);
    }
}

TEST(FatTreeFlood, E7MoreCapacityDoesNotHelp) {
  for (Rank n = 2; n <= 64; n *= 2)
    for (const FloodTies ties : kAllTies)
      EXPECT_EQ(simulate_flooding(fat_tree(n, "exponential"), ties).completion, flood_steps(n)) << n;
}

TEST(FatTreeFlood, E8QueuesForEveryTieRule) {
  for (Rank n = 2; n <= 256; n *= 2)
    for (const FloodTies ties : kAllTies) {
      const FloodQueues queues = simulate_flooding(fat_tree(n), ties).queues;
      const unsigned levels = tree_levels(n);
      for (unsigned h = 1; h <= levels; ++h) {
        EXPECT_EQ(queues.up_wait[h], flood_up_wait(levels, h)) << n << ' ' << h;
        EXPECT_EQ(queues.up_peak[h], h == levels ? 0 : flood_up_wait(levels, h) + 1);
        EXPECT_EQ(queues.down_wait[h], flood_down_wait(levels, h)) << n << ' ' << h;
        EXPECT_EQ(queues.down_peak[h], flood_down_wait(levels, h) + 1);
      }
    }
}

std::vector<FloodHop> all_hops(Rank n) {
  std::vector<FloodHop> hops;
  for (Rank from = 0; from < tree_nodes(n); ++from) {
    const TreeNeighbours around = neighbours(n, from);
    for (const Rank to : {around.parent, around.left, around.right})
      for (std::uint32_t i = 0; to != kNoRank && i < flood_count(n, from, to); ++i) {
        const FloodStep hop = flood_order(n, from, to, i);
        hops.push_back({hop.step, from, to, hop.source});
      }
  }
  return hops;
}

TEST(FloodOrder, E7IsWhatTheQueuesDo) {
  for (Rank n = 1; n <= 256; n *= 2) {
    auto simulated = simulate_flooding(fat_tree(n)).hops;
    auto computed = all_hops(n);
    std::sort(simulated.begin(), simulated.end());
    std::sort(computed.begin(), computed.end());
    EXPECT_EQ(simulated, computed) << n;
  }
}

TEST(FloodOrder, E17FourLeavesInFiveSteps) {
  EXPECT_EQ(flood_steps(4), 5u);
  const std::vector<std::pair<std::uint32_t, Rank>> to_leaf_0 = {{2, 1}, {4, 2}, {5, 3}};
  for (std::uint32_t i = 0; i < 3; ++i) {
    const FloodStep hop = flood_order(4, 4, 0, i);
    EXPECT_EQ(std::pair(hop.step, hop.source), to_leaf_0[i]);
  }
}

TEST(FloodOrder, ALargeTree) {
  const Rank n = Rank{1} << 20;
  const Rank router = neighbours(n, 5).parent;
  EXPECT_EQ(flood_count(n, router, 5), n - 1);
  EXPECT_EQ(flood_order(n, router, 5, n - 2).step, n + 1);
}

}  // namespace
}  // namespace fibocast
