#include "firmware_sim/full_node_limits.h"

#include <gtest/gtest.h>

#include "collectives/cost_model.h"

namespace fibocast {
namespace {

Limits limits_of(const OperationShape& shape, Rank root = 0) {
  std::string error;
  const auto limits =
      full_node_limits(fibo_plan(CostModel{.send = 1, .latency = 2, .occupancy = 1}), shape, root, error);
  EXPECT_TRUE(limits) << error;
  return limits.value_or(Limits{});
}

TEST(FullNodeLimits, AreThoseOfTheBusiestRank) {
  // The root has all others as its children, to hear from and to tell.
  const Limits one = limits_of({.ranks = 15, .choice = {Algorithm::kTrees, TreeKind::kSequential}});
  EXPECT_EQ(one.nodes, 15u);
  EXPECT_EQ(one.channels, 14u);
  EXPECT_EQ(one.transfers, 2u * 14);
  EXPECT_EQ(one.stages, 2u);
  const Limits pairs = limits_of({.operation = Operation::kAlltoall, .ranks = 9, .total_bytes = 8});
  EXPECT_EQ(pairs.channels, 8u);
}

// Along the fibo-tree from the root, and along the barrier's from rank 0.
TEST(FullNodeLimits, CountPeersOnce) {
  const OperationShape shape{.operation = Operation::kMulticast, .ranks = 64, .total_bytes = 8};
  const Limits same = limits_of(shape), other = limits_of(shape, 21);
  EXPECT_GT(other.channels, same.channels);
  EXPECT_LE(other.channels, 2 * same.channels);
}

TEST(FullNodeLimits, RefuseMoreThanThereIsMemoryFor) {
  std::string error;
  const OperationShape shape{.ranks = 10'000, .choice = {Algorithm::kTrees, TreeKind::kSequential}};
  EXPECT_FALSE(full_node_limits(fibo_plan({.send = 1, .latency = 2, .occupancy = 1}), shape, 0, error));
  EXPECT_TRUE(error.starts_with("10000 whole nodes with up to 9999 peers each need ")) << error;
  EXPECT_TRUE(error.ends_with(" MiB, of which 8192 may be used: fewer ranks, or trees with fewer children")) << error;
}

// They would run the operation without the data, and take less time than engines alone.
TEST(FullNodeLimits, RefuseMoreBytesThanANodeTakes) {
  std::string error;
  const Plan plan = fibo_plan({.send = 1, .latency = 2, .occupancy = 1});
  OperationShape shape{.operation = Operation::kMulticast, .ranks = 4, .choice = {Algorithm::kTrees}};
  for (const std::uint64_t bytes : std::vector<std::uint64_t>{(16 << 20) + 1, 1'000'000'000'000}) {
    shape.total_bytes = bytes;
    EXPECT_FALSE(full_node_limits(plan, shape, 0, error));
    EXPECT_EQ(error, "a rank brings " + std::to_string(bytes) +
                         " bytes, and whole nodes take 16777216 at most: choose fewer, or engines alone");
    EXPECT_FALSE(connected_node_limits(plan, shape, 0, error));
  }
  shape.total_bytes = 16 << 20;
  EXPECT_TRUE(full_node_limits(plan, shape, 0, error)) << error;
  shape.operation = Operation::kScatter;  // that of all others, too
  EXPECT_FALSE(full_node_limits(plan, shape, 0, error));
}

}  // namespace
}  // namespace fibocast
