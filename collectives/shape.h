// What is asked of a group in one operation: which operation, by which algorithm, how much data of which kind. All of
// it travels with the operation's messages, because members that differ in any of it would wait for each other for
// ever. Core: no heap, no exceptions.
#pragma once

#include <algorithm>
#include <cstdint>

#include "collectives/rank_schedule.h"
#include "collectives/types.h"

namespace fibocast {

// Values go over the wire: append only.
enum class TreeKind : std::uint8_t {
  kSequential = 1,
  kBinomial = 2,  // the Fibo(1,0) shape
  kKary = 3,      // heap order
  kFibo = 4,
  kLambda = 5,  // lambda = 1 + r/s: the Fibo-tree of (s, r), numbered in contiguous subtrees
  kGiven = 6,   // Plan::given; never part of an AlgorithmChoice
};

// How an operation is done. Values go over the wire: append only.
enum class Algorithm : std::uint8_t {
  kPlanned = 0,             // whatever the group's plan says for this operation and size
  kTrees = 1,               // up the reduction tree, down the distribution tree, or one of them
  kDissemination = 2,       // barrier: in round i to the ranks at distances j k^i; parameter: k >= 2
  kDelayReceive = 3,        // barrier, allreduce: postal combine for ceil(lambda) (B20-B22, B26)
  kDelaySend = 4,           // ... for floor(lambda) in longer rounds (B27)
  kCombineEager = 5,        // ... the better of the two, driven by arrivals alone
  kRing = 6,                // allreduce, allgather: block by block around the ring
  kHalving = 7,             // reduce, allreduce: recursive halving, then doubling or the parts to the root
  kFurthestFirst = 8,       // scatter, gather: the root with each rank, in the order of a fat tree (E5, E6)
  kFlooding = 9,            // allgather: ranks n .. 2n - 2 are routers, each sends on what it gets (E7)
  kBruck = 10,              // allgather, alltoall: log2 p rounds
  kPairwise = 11,           // reduce, allreduce, allgather, alltoall: each with each, beginning with the next rank
  kPhasedConstant = 12,     // alltoall in the steps of a fat tree of constant capacity (E11)
  kPhasedExponential = 13,  // ... of exponential capacity (E12)
  kPhasedXor = 14,          // ... the shorter one (E16)
  kScatterAllgather = 15,   // multicast: a part to each rank, then all parts to all
  kBinomialShares = 16,     // divide, conquer: the message of phase i carries the share alpha^i (D2)
  kDoubling = 17,           // allreduce: recursive doubling, the whole vector in each round
  kScatterDoubling = 18,    // multicast: a part to each rank, then all parts to all in log2 p rounds
  kScatterPairwise = 19,    // multicast: a part to each rank, which sends it to all others
};

// An algorithm with its parameter.
struct AlgorithmChoice {
  Algorithm algorithm = Algorithm::kPlanned;
  TreeKind tree{};  // kTrees, kScatterAllgather: 0 = the plan's own trees
  // k of kDissemination, arity of kKary, alpha of kBinomialShares in 1/kWholeShare, lambda of kLambda in 1/kWholeLambda
  // (0: that of the plan).
  std::uint16_t parameter = 0;
  bool operator==(const AlgorithmChoice&) const = default;
};

// alpha = 1; alpha is 1 .. kWholeShare of them.
inline constexpr std::uint16_t kWholeShare = 10'000;
// lambda = 1, the least there is.
inline constexpr std::uint16_t kWholeLambda = 100;

// Values go over the wire: append only.
enum class ElementType : std::uint8_t { kBytes = 0, kInt32 = 1, kInt64 = 2, kUint64 = 3, kFloat = 4, kDouble = 5 };
enum class CombineOperator : std::uint8_t {
  kNone = 0,
  kMin = 1,
  kMax = 2,
  kSum = 3,
  kProd = 4,
  kAnd = 5,
  kOr = 6,
  kXor = 7
};

// 1, 4 or 8.
std::uint32_t element_bytes(ElementType type);
// AND, OR and XOR are for integers.
bool is_defined(CombineOperator op, ElementType type);
// The result depends on the order of combining.
inline bool rounds(ElementType type) { return type == ElementType::kFloat || type == ElementType::kDouble; }

// One operation to be scheduled.
struct OperationShape {
  Operation operation = Operation::kBarrier;
  Rank ranks = 1;
  // multicast: of the payload; reduce, allreduce: of each rank's vector; divide, conquer: of the root's vector; the
  // others: of one rank's block.
  std::uint64_t total_bytes = 0;
  std::uint32_t segment_bytes = 0;  // 0 = one message
  AlgorithmChoice choice = {};      // kPlanned only before build_rank_schedule(): it asks the plan
  ElementType type = ElementType::kBytes;
  CombineOperator op = CombineOperator::kNone;

  // Number of segments: at least 1. More than fit here are the most that do, which no schedule can have.
  std::uint32_t segments() const {
    if (segment_bytes == 0 || total_bytes == 0) return 1;
    return static_cast<std::uint32_t>(std::min<std::uint64_t>((total_bytes - 1) / segment_bytes + 1, UINT32_MAX));
  }
};

// One of the enumerators.
inline bool is_operation(Operation op) { return op >= Operation::kBarrier && op <= Operation::kConquer; }
// OperationShape::total_bytes is that of one rank's block.
inline bool has_block_of_each_rank(Operation op) { return op >= Operation::kScatter && op <= Operation::kAlltoall; }
// Blocks are single elements of the root's vector, and each rank has a share of them.
inline bool is_of_shares(Operation op) { return op == Operation::kDivide || op == Operation::kConquer; }
// Operations in which receivers take what comes whether they have called or not: the source does not wait for them.
inline bool is_push(Operation op) {
  return op == Operation::kMulticast || op == Operation::kScatter || op == Operation::kDivide;
}
// Whole vectors are combined.
inline bool combines(Operation op) { return op == Operation::kReduce || op == Operation::kAllreduce; }

// Ranks that take part with an application; the others (only those of kFlooding) pass messages on.
Rank participating_ranks(const OperationShape& shape);

// A multicast that begins with a part to each rank.
inline bool scatters_parts(Algorithm a) {
  return a == Algorithm::kScatterAllgather || a == Algorithm::kScatterDoubling || a == Algorithm::kScatterPairwise;
}
// The vector of a reduction or the payload of a multicast travels in block_count() blocks.
bool is_cut_into_blocks(const OperationShape& shape);
// Blocks that Transfer::first_block counts. Of a vector: equal parts, as many as the algorithm needs. Of a
// divide and a conquer: elements. Else one for each rank; of an alltoall those to send, by destination, then those
// received, by source.
Rank block_count(const OperationShape& shape);
// Where `block` begins in the operation's data, in bytes: block <= block_count().
std::uint64_t block_offset(const OperationShape& shape, Rank block);
// Bytes of one repetition of a transfer.
std::uint64_t transfer_bytes(const OperationShape& shape, const Transfer& transfer, std::uint32_t repetition);
// Blocks are counted from the rank itself: block j belongs to rank me + j (mod ranks).
bool has_relative_blocks(const OperationShape& shape);

}  // namespace fibocast
