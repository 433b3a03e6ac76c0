#include "collectives/shape.h"

#include <algorithm>
#include <bit>

namespace fibocast {

namespace {

// A vector, or a multicast's payload, is one thing that some algorithms cut into blocks.
bool is_divided(Operation op) { return combines(op) || op == Operation::kMulticast; }

std::uint64_t bytes_of_segment(const OperationShape& shape, std::uint32_t segment) {
  if (shape.segments() == 1) return shape.total_bytes;
  const std::uint64_t before = std::uint64_t{segment} * shape.segment_bytes;
  return std::min<std::uint64_t>(shape.segment_bytes, shape.total_bytes - before);
}

// Of the indices below `count`, those with this bit set.
std::uint64_t with_bit(Rank count, std::uint32_t bit) {
  const std::uint64_t half = std::uint64_t{1} << bit;
  const std::uint64_t rest = count % (2 * half);
  return count / (2 * half) * half + (rest > half ? rest - half : 0);
}

}  // namespace

std::uint32_t element_bytes(ElementType type) {
  switch (type) {
    case ElementType::kBytes: return 1;
    case ElementType::kInt32:
    case ElementType::kFloat: return 4;
    default: return 8;
  }
}

bool is_defined(CombineOperator op, ElementType type) {
  const bool bitwise = op == CombineOperator::kAnd || op == CombineOperator::kOr || op == CombineOperator::kXor;
  if (op == CombineOperator::kNone || op > CombineOperator::kXor || type > ElementType::kDouble) return false;
  return bitwise ? !rounds(type) : type != ElementType::kBytes;
}

Rank participating_ranks(const OperationShape& shape) {
  return shape.choice.algorithm == Algorithm::kFlooding ? (shape.ranks + 1) / 2 : shape.ranks;
}

bool is_cut_into_blocks(const OperationShape& shape) {
  const Algorithm a = shape.choice.algorithm;
  if (combines(shape.operation)) return a == Algorithm::kRing || a == Algorithm::kHalving || a == Algorithm::kPairwise;
  return shape.operation == Operation::kMulticast && scatters_parts(a);
}

Rank block_count(const OperationShape& shape) {
  const Algorithm a = shape.choice.algorithm;
  if (is_of_shares(shape.operation)) return static_cast<Rank>(shape.total_bytes / element_bytes(shape.type));
  if (is_divided(shape.operation)) {
    if (!is_cut_into_blocks(shape)) return 1;
    return a == Algorithm::kHalving ? std::bit_floor(shape.ranks) : shape.ranks;
  }
  const bool both_sides = shape.operation == Operation::kAlltoall && a != Algorithm::kBruck;
  return both_sides ? 2 * shape.ranks : participating_ranks(shape);
}

std::uint64_t block_offset(const OperationShape& shape, Rank block) {
  if (is_of_shares(shape.operation)) return std::uint64_t{block} * element_bytes(shape.type);
  if (!is_divided(shape.operation)) return block * shape.total_bytes;
  const std::uint64_t size = element_bytes(shape.type);
  const std::uint64_t elements = shape.total_bytes / size, count = block_count(shape);
  // elements * block / count without overflow
  return (elements / count * block + elements % count * block / count) * size;
}

std::uint64_t transfer_bytes(const OperationShape& shape, const Transfer& t, std::uint32_t repetition) {
  switch (t.carries) {
    case Carries::kToken: return 0;
    case Carries::kPayload: return bytes_of_segment(shape, repetition);
    case Carries::kPartial: return shape.total_bytes;
    case Carries::kBlocks: return block_offset(shape, t.first_block + t.blocks) - block_offset(shape, t.first_block);
    case Carries::kBitBlocks: return with_bit(block_count(shape), t.first_block) * shape.total_bytes;
  }
  return 0;
}

bool has_relative_blocks(const OperationShape& shape) { return shape.choice.algorithm == Algorithm::kBruck; }

}  // namespace fibocast
