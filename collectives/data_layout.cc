#include "collectives/data_layout.h"

#include <algorithm>

#include "collectives/divide.h"

namespace fibocast {

namespace {

bool is_of_blocks(const OperationShape& shape) {
  if (combines(shape.operation)) return is_cut_into_blocks(shape);
  return shape.operation != Operation::kBarrier && shape.operation != Operation::kMulticast;
}

struct BlockRange {
  Rank first = 0, end = 0;
};

// The blocks that the rank's transfers and its own data touch.
BlockRange blocks_of(const OperationShape& shape, const RankSchedule& schedule, Rank me) {
  const Rank all = block_count(shape);
  if (is_of_shares(shape.operation)) {
    const Share share = whole_share(shape, me);
    return {share.first, share.end()};
  }
  const bool some = shape.operation == Operation::kScatter || shape.operation == Operation::kGather;
  if (!some) return {0, all};
  BlockRange range{me, me + 1};
  for (const Stage& stage : schedule.stages) {
    for (std::uint32_t i = 0; i < stage.receives + stage.sends; ++i) {
      const Transfer& t = schedule.transfers[stage.first_transfer + i];
      range.first = std::min(range.first, std::uint32_t{t.first_block});
      range.end = std::max(range.end, t.first_block + t.blocks);
    }
  }
  return range;
}

// Bytes beside the others for one transfer: what is received there must wait to be combined, or is packed to be sent.
std::uint64_t staging_bytes(const OperationShape& shape, const Transfer& t, bool is_receive) {
  const std::uint64_t bytes = transfer_bytes(shape, t, 0);
  if (t.carries == Carries::kBitBlocks) return bytes;
  if (!is_receive) return 0;
  if (t.carries == Carries::kPartial) return t.registers == (kRegisterT | kRegisterS) ? 2 * bytes : bytes;
  return t.carries == Carries::kBlocks && t.on_receive != OnReceive::kStore ? bytes : 0;
}

class Placement {
 public:
  Placement(const OperationShape& shape, DataLayout& layout, std::span<std::uint64_t> offsets)
      : shape_(shape), layout_(layout), offsets_(offsets) {}

  void place(const Transfer& t, std::uint32_t index, bool is_receive) {
    const std::uint64_t staging = staging_bytes(shape_, t, is_receive);
    if (staging > 0)
      offsets_[index] = layout_.bytes, layout_.bytes += staging;
    else if (t.carries == Carries::kBlocks)
      offsets_[index] = block_place(shape_, layout_, t.first_block);
    else
      offsets_[index] = t.carries == Carries::kPayload ? layout_.payload : layout_.work;
  }

 private:
  const OperationShape& shape_;
  DataLayout& layout_;
  std::span<std::uint64_t> offsets_;
};

std::uint64_t share_bytes(const OperationShape& shape, Rank me) {
  return std::uint64_t{final_share(shape, me).count} * element_bytes(shape.type);
}

}  // namespace

std::uint64_t block_place(const OperationShape& shape, const DataLayout& layout, Rank block) {
  return layout.work + block_offset(shape, block) - block_offset(shape, layout.first_block);
}

std::uint64_t input_bytes(const OperationShape& shape, Rank me) {
  const std::uint64_t all = participating_ranks(shape) * shape.total_bytes;
  switch (shape.operation) {
    case Operation::kBarrier: return 0;
    case Operation::kMulticast: return me == 0 ? shape.total_bytes : 0;
    case Operation::kScatter: return me == 0 ? all : 0;
    case Operation::kAlltoall: return all;
    case Operation::kDivide: return me == 0 ? shape.total_bytes : 0;
    case Operation::kConquer: return share_bytes(shape, me);
    default: return me < participating_ranks(shape) ? shape.total_bytes : 0;
  }
}

std::uint64_t result_bytes(const OperationShape& shape, Rank me) {
  const std::uint64_t all = participating_ranks(shape) * shape.total_bytes;
  switch (shape.operation) {
    case Operation::kBarrier: return 0;
    case Operation::kReduce:
    case Operation::kConquer: return me == 0 ? shape.total_bytes : 0;
    case Operation::kDivide: return share_bytes(shape, me);
    case Operation::kGather: return me == 0 ? all : 0;
    case Operation::kAllgather:
    case Operation::kAlltoall: return me < participating_ranks(shape) ? all : 0;
    default: return shape.total_bytes;
  }
}

bool needs_reordering(const OperationShape& shape, Rank me, Rank root) {
  if (shape.operation == Operation::kGather) return me == 0 && root != 0;
  return has_relative_blocks(shape);
}

DataLayout lay_out(const OperationShape& shape, const RankSchedule& schedule, Rank me, Rank root,
                   std::span<std::uint64_t> offsets) {
  DataLayout layout;
  if (shape.operation == Operation::kBarrier) return layout;
  layout.result_bytes = result_bytes(shape, me);
  if (is_of_blocks(shape)) {
    const BlockRange range = blocks_of(shape, schedule, me);
    layout.first_block = range.first;
    layout.bytes = block_offset(shape, range.end) - block_offset(shape, range.first);
  } else {
    layout.bytes = shape.total_bytes;
  }
  const bool goes_down = shape.operation == Operation::kAllreduce && shape.choice.algorithm == Algorithm::kTrees;
  const bool has_result_apart = goes_down && me != 0;
  if (has_result_apart) layout.payload = layout.bytes, layout.bytes += shape.total_bytes;
  Placement placement(shape, layout, offsets);
  for (const Stage& stage : schedule.stages)
    for (std::uint32_t i = 0; i < stage.receives + stage.sends; ++i)
      placement.place(schedule.transfers[stage.first_transfer + i], stage.first_transfer + i, i < stage.receives);
  if (needs_reordering(shape, me, root)) layout.output = layout.bytes, layout.bytes += layout.result_bytes;
  return layout;
}

}  // namespace fibocast
