#include "collectives/data_layout.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "collectives/algorithm_catalog.h"
#include "collectives/schedule.h"

namespace fibocast {
namespace {

constexpr Plan kPlan = {.reduction = {.s = 88, .r = 27}, .distribution = {.s = 27, .r = 88}};

struct Range {
  std::uint64_t begin, end;
};

OperationShape shape_of(const AlgorithmEntry& entry, Rank ranks, std::uint64_t bytes) {
  OperationShape shape{.operation = entry.operation, .ranks = ranks, .total_bytes = bytes};
  shape.choice = entry.choice;
  if (combines(entry.operation)) shape.type = ElementType::kInt64, shape.op = CombineOperator::kSum;
  return shape;
}

// What a receive writes beside the rank's own data: messages that wait.
bool waits(const Transfer& t) {
  return t.carries == Carries::kPartial || t.carries == Carries::kBitBlocks || t.on_receive != OnReceive::kStore;
}

TEST(DataLayout, EverythingLiesInTheMemoryAndWaitingMessagesLieApart) {
  for (const AlgorithmEntry& entry : algorithm_catalog()) {
    for (const Rank ranks : {1u, 2u, 3u, 7u, 13u, 16u}) {
      const OperationShape shape = shape_of(entry, ranks, 80);
      if (!is_possible(shape)) continue;
      for (Rank me = 0; me < ranks; ++me) {
        const RankPart part = build_rank_part(kPlan, shape, me).value();
        std::vector<std::uint64_t> offsets(part.transfers.size());
        const DataLayout layout = lay_out(shape, part.view(), me, 0, offsets);
        std::vector<Range> waiting;
        for (const Stage& stage : part.stages)
          for (std::uint32_t i = 0; i < stage.receives; ++i) {
            const std::uint32_t index = stage.first_transfer + i;
            const std::uint64_t bytes = transfer_bytes(shape, part.transfers[index], 0);
            ASSERT_LE(offsets[index] + bytes, layout.bytes) << entry.name;
            if (waits(part.transfers[index]) && bytes > 0) waiting.push_back({offsets[index], offsets[index] + bytes});
          }
        std::ranges::sort(waiting, {}, &Range::begin);
        for (std::size_t i = 1; i < waiting.size(); ++i) ASSERT_LE(waiting[i - 1].end, waiting[i].begin) << entry.name;
        ASSERT_LE(layout.output + layout.result_bytes, std::max(layout.bytes, layout.result_bytes)) << entry.name;
      }
    }
  }
}

TEST(DataLayout, ARankOfAScatterHoldsItsSubtreeOnly) {
  const OperationShape shape = [] {
    OperationShape s{.operation = Operation::kScatter, .ranks = 8, .total_bytes = 100};
    s.choice = {Algorithm::kTrees, TreeKind::kBinomial};
    return s;
  }();
  std::vector<std::uint64_t> offsets(16);
  EXPECT_EQ(lay_out(shape, build_rank_part(kPlan, shape, 0).value().view(), 0, 0, offsets).bytes, 800u);
  EXPECT_EQ(lay_out(shape, build_rank_part(kPlan, shape, 4).value().view(), 4, 0, offsets).bytes, 400u);
  EXPECT_EQ(lay_out(shape, build_rank_part(kPlan, shape, 7).value().view(), 7, 0, offsets).bytes, 100u);
}

TEST(Shape, VectorsAreCutIntoWholeElements) {
  OperationShape shape{.operation = Operation::kAllreduce, .ranks = 3, .total_bytes = 5 * 8};
  shape.choice = {Algorithm::kRing}, shape.type = ElementType::kDouble, shape.op = CombineOperator::kSum;
  EXPECT_EQ(block_count(shape), 3u);
  EXPECT_EQ(block_offset(shape, 0), 0u);
  EXPECT_EQ(block_offset(shape, 1), 8u);
  EXPECT_EQ(block_offset(shape, 2), 24u);
  EXPECT_EQ(block_offset(shape, 3), 40u);
}

TEST(Shape, BitBlocksAreThoseWithTheBit) {
  OperationShape shape{.operation = Operation::kAlltoall, .ranks = 7, .total_bytes = 10};
  shape.choice = {Algorithm::kBruck};
  const auto bytes = [&](std::uint32_t bit) {
    return transfer_bytes(shape, {.first_block = bit, .carries = Carries::kBitBlocks}, 0);
  };
  EXPECT_EQ(bytes(0), 30u);  // 1, 3, 5
  EXPECT_EQ(bytes(1), 30u);  // 2, 3, 6
  EXPECT_EQ(bytes(2), 30u);  // 4, 5, 6
}

}  // namespace
}  // namespace fibocast
