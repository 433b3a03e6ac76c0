#include "collectives/predict.h"

#include <gtest/gtest.h>

#include "collectives/tree_catalog.h"
#include "tests/collectives/machines.h"

namespace fibocast {
namespace {

using test::kBothPorts;

constexpr TreeSpec kFiboDown = {.s = 27, .r = 88};
constexpr TreeSpec kFiboUp = {.s = 88, .r = 27};
constexpr TreeSpec kBinomial = {.kind = TreeKind::kBinomial};
constexpr TreeSpec kSequential = {.kind = TreeKind::kSequential};

CostModel manna(Ports ports) { return {.send = 27, .latency = 0, .occupancy = 88, .ports = ports}; }

Prediction predicted(const Plan& plan, const OperationShape& shape, const CostModel& model) {
  return predict(build_schedule(plan, shape).value(), model).value();
}

// A multicast along any tree, also one that no daemon runs.
Schedule multicast_along(const Tree& tree, std::uint64_t bytes = 0, std::uint32_t segment = 0) {
  Schedule schedule{{Operation::kMulticast, tree.size(), bytes, segment}, std::vector<RankPart>(tree.size())};
  for (Rank v = 0; v < tree.size(); ++v) {
    RankPart& part = schedule.ranks[v];
    Stage stage{.repeat = schedule.shape.segments(), .waits_for_arrival = v == 0};
    if (v != 0) {
      part.transfers.push_back({.peer = tree.parent(v), .carries = Carries::kPayload});
      stage.receives = 1;
    }
    for (const Rank child : tree.children(v)) {
      part.transfers.push_back({.peer = child, .carries = Carries::kPayload});
      ++stage.sends;
    }
    part.stages.push_back(stage);
  }
  return schedule;
}

TEST(Predict, A1ActivationOfEveryTree) {
  for (const TreeCatalogEntry& entry : tree_catalog())
    for (const auto& [s, r] : {std::pair<std::uint64_t, std::uint64_t>{1, 3}, {27, 88}, {20, 4}, {3, 0}})
      for (Rank p : {1u, 2u, 3u, 10u, 19u, 64u, 100u, 300u}) {
        std::string error;
        const std::string name = entry.name == "kary:K" ? "kary:3" : std::string(entry.name);
        const Tree tree = choose_tree(name, {.s = s, .r = r}, error).value().build(p);
        const std::vector<std::uint64_t> expected = activation_times(tree, s, r);
        for (const Ports ports : kBothPorts)
          for (const std::uint64_t o : {std::uint64_t{0}, r / 2, r}) {
            const auto result =
                predict(multicast_along(tree), {.send = s, .latency = r - o, .occupancy = o, .ports = ports});
            ASSERT_TRUE(result);
            ASSERT_EQ(result->active, expected) << name << ' ' << p;
          }
      }
}

TEST(Predict, A30BarriersOfNineteenRanks) {
  for (const Ports ports : kBothPorts) {
    const auto barrier = [&](const TreeSpec& up, const TreeSpec& down) {
      return predicted({up, down, 0}, {.ranks = 19}, manna(ports)).completion;
    };
    EXPECT_EQ(barrier(kFiboDown, kFiboDown), 1042u);
    EXPECT_EQ(barrier(kBinomial, kBinomial), 954u);
    EXPECT_EQ(barrier(kFiboUp, kFiboDown), 805u);
  }
}

TEST(Predict, A30Reductions) {
  for (const Ports ports : kBothPorts) {
    const auto reduction = [&](const TreeSpec& up) {
      return predicted({up, kFiboDown, 0}, {.ranks = 19}, manna(ports)).stage_active[0][0];
    };
    EXPECT_EQ(reduction(kFiboDown), 731u);
    EXPECT_EQ(reduction(kBinomial), 494u);
    EXPECT_EQ(reduction(kFiboUp), 494u);
  }
}

TEST(Predict, A27Distributions) {
  for (const auto& [tree, expected] :
       {std::pair<TreeSpec, std::uint64_t>{kSequential, 574}, {kBinomial, 460}, {kFiboDown, 311}})
    EXPECT_EQ(predicted({kBinomial, tree, 0}, {.operation = Operation::kMulticast, .ranks = 19}, manna(Ports::kShared))
                  .completion,
              expected);
}

// A Fibo-tree is its own mirror if a receive occupies the parent as long as a send does, s = o, the rest of r being
// wire: the postal model. The whole barrier then takes 2 T = 622. With no occupancy at all each level of the
// reduction costs s + r, and it is 2 (27 + 88) + 311.
TEST(Predict, A31BarrierByTheSplitOfTheReceiveLatency) {
  const Plan plan{kFiboDown, kFiboDown, 0};
  for (const Ports ports : kBothPorts) {
    const auto barrier = [&](std::uint64_t l, std::uint64_t o) {
      return predicted(plan, {.ranks = 19}, {.send = 27, .latency = l, .occupancy = o, .ports = ports}).completion;
    };
    EXPECT_EQ(barrier(0, 88), 1042u);
    EXPECT_EQ(barrier(88 - 27, 27), 622u);
    EXPECT_EQ(barrier(88, 0), 541u);
  }
}

TEST(Predict, A31FanIn) {
  const CostModel model{.send = 5, .latency = 11, .occupancy = 7};
  for (Rank k = 1; k <= 20; ++k)
    EXPECT_EQ(predicted({kSequential, kSequential, 0}, {.ranks = k + 1}, model).stage_active[0][0], 5u + 11 + k * 7);
}

TEST(Predict, ReductionsAgreeWithTheTreeModel) {
  for (const TreeSpec& up : {kFiboDown, kFiboUp, kBinomial, kSequential})
    for (Rank p = 1; p <= 150; ++p) {
      std::string error;
      const TreeCatalogEntry& entry = tree_catalog()[up.kind == TreeKind::kSequential ? 0
                                                     : up.kind == TreeKind::kBinomial ? 3
                                                                                      : 7];
      const Tree tree = choose_tree(entry.name, {.s = up.s, .r = up.r}, error)->build(p);
      const CostModel model{.send = 27, .latency = 30, .occupancy = 58};
      EXPECT_EQ(predicted({up, kBinomial, 0}, {.ranks = p}, model).stage_active[0][0],
                reduction_completion(tree, 27, 58, 30));
    }
}

TEST(Predict, BytesOccupySenderAndReceiver) {
  const CostModel model{.send = 10, .latency = 5, .occupancy = 3, .send_per_byte = 2, .occupancy_per_byte = 1};
  const OperationShape shape{.operation = Operation::kMulticast, .ranks = 2, .total_bytes = 100};
  EXPECT_EQ(predicted({kSequential, kSequential, 0}, shape, model).completion, 10u + 200 + 5 + 3 + 100);
}

// Two segments of 60 and 40 bytes down a chain of three: the pipeline overlaps.
TEST(Predict, SegmentsTravelInAPipeline) {
  const TreeSpec chain{.kind = TreeKind::kKary, .arity = 1};
  const OperationShape shape{.operation = Operation::kMulticast, .ranks = 3, .total_bytes = 100, .segment_bytes = 60};
  const CostModel model{.send = 10, .latency = 5, .occupancy = 3, .send_per_byte = 1, .ports = Ports::kIndependent};
  const Prediction result = predicted({chain, chain, 0}, shape, model);
  // Rank 1: segment 0 at 78, segment 1 at 128. Rank 2: its second segment is sent at max(128, 78 + 70).
  EXPECT_EQ(result.active, (std::vector<std::uint64_t>{0, 128, 148 + 50 + 8}));
}

TEST(Predict, SharedPortsQueueByRequest) {
  const TreeSpec chain{.kind = TreeKind::kKary, .arity = 1};
  const OperationShape shape{.operation = Operation::kMulticast, .ranks = 3, .total_bytes = 2, .segment_bytes = 1};
  const CostModel model{.send = 10, .latency = 0, .occupancy = 10, .ports = Ports::kShared};
  // Rank 1 has segment 0 at 20. Segment 1 asks for its processor at 20 too and, a receive, goes first: 30. Both sends
  // follow.
  EXPECT_EQ(predicted({chain, chain, 0}, shape, model).active, (std::vector<std::uint64_t>{0, 30, 60}));
}

TEST(Predict, NotBeforeIsHonoured) {
  Schedule schedule = build_schedule({kSequential, kSequential, 0}, {Operation::kMulticast, 2, 0, 0}).value();
  schedule.ranks[0].stages[0].not_before = 1000;
  const auto result = predict(schedule, manna(Ports::kShared));
  ASSERT_TRUE(result);
  EXPECT_EQ(result->completion, 1115u);
}

TEST(Predict, AScheduleThatNeverEndsHasNoPrediction) {
  Schedule schedule = build_schedule({kFiboUp, kFiboDown, 0}, {.ranks = 19}).value();
  schedule.ranks[0].stages[1].sends = 0;
  EXPECT_FALSE(predict(schedule, manna(Ports::kShared)));
  schedule = build_schedule({kFiboUp, kFiboDown, 0}, {.ranks = 19}).value();
  schedule.ranks[0].transfers[0].peer = 18;
  EXPECT_FALSE(predict(schedule, manna(Ports::kShared)));
}

TEST(Predict, OneRankTakesNoTime) { EXPECT_EQ(predicted({}, {.ranks = 1}, manna(Ports::kShared)).completion, 0u); }

}  // namespace
}  // namespace fibocast
