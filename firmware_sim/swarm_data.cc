#include "firmware_sim/swarm_data.h"

#include <algorithm>
#include <array>
#include <cstring>
namespace fibocast {
namespace {

using Bytes = std::vector<std::byte>;

Rank ranks_of(const ScenarioGroup& group) { return static_cast<Rank>(group.members.size()); }

bool brings_several(Operation o) { return o == Operation::kScatter || o == Operation::kAlltoall; }

Bytes input(const ScenarioGroup& group, const ScenarioOperation& o, std::uint64_t key, Rank rank) {
  return pattern(key ^ (rank + 1ull) << 40, brings_several(o.operation) ? o.bytes * ranks_of(group) : o.bytes);
}

Bytes block(const Bytes& all, Rank number, std::uint64_t bytes) {
  const auto begin = all.begin() + static_cast<std::ptrdiff_t>(number * bytes);
  return {begin, begin + static_cast<std::ptrdiff_t>(bytes)};
}

// 64 bits at a time, modulo 2^64: the order does not matter.
Bytes sum(const ScenarioGroup& group, const ScenarioOperation& o, std::uint64_t key) {
  Bytes total(o.bytes);
  for (Rank rank = 0; rank < ranks_of(group); ++rank) {
    const Bytes mine = input(group, o, key, rank);
    for (std::size_t i = 0; i + 8 <= mine.size(); i += 8) {
      std::uint64_t a = 0, b = 0;
      std::memcpy(&a, total.data() + i, 8), std::memcpy(&b, mine.data() + i, 8);
      a += b;
      std::memcpy(total.data() + i, &a, 8);
    }
  }
  return total;
}

Bytes collected(const ScenarioGroup& group, const ScenarioOperation& o, std::uint64_t key, Rank rank) {
  Bytes all;
  for (Rank from = 0; from < ranks_of(group); ++from) {
    const Bytes theirs = input(group, o, key, from);
    const Bytes part = o.operation == Operation::kAlltoall ? block(theirs, rank, o.bytes) : theirs;
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

}  // namespace

OperationShape shape_of(const ScenarioGroup& group, const ScenarioOperation& o) {
  OperationShape shape{o.operation, ranks_of(group), o.bytes, 0};
  shape.choice = o.choice;
  if (combines(o.operation) || o.operation == Operation::kConquer)
    shape.type = ElementType::kUint64, shape.op = CombineOperator::kSum;
  return shape;
}

Bytes brought(const ScenarioGroup& group, const ScenarioOperation& o, std::uint64_t key, Rank rank) {
  const bool brings = is_push(o.operation) ? rank == o.root : o.operation != Operation::kBarrier;
  return brings ? input(group, o, key, rank) : Bytes();
}

Bytes expected(const ScenarioGroup& group, const ScenarioOperation& o, std::uint64_t key, Rank rank) {
  const bool at_root = rank == o.root;
  switch (o.operation) {
    case Operation::kBarrier: return {};
    case Operation::kMulticast: return at_root ? Bytes() : input(group, o, key, o.root);
    case Operation::kDivide: return input(group, o, key, o.root);  // whole shares
    case Operation::kScatter: return block(input(group, o, key, o.root), rank, o.bytes);
    case Operation::kReduce:
    case Operation::kConquer: return at_root ? sum(group, o, key) : Bytes();
    case Operation::kAllreduce: return sum(group, o, key);
    case Operation::kGather: return at_root ? collected(group, o, key, rank) : Bytes();
    case Operation::kAllgather:
    case Operation::kAlltoall: return collected(group, o, key, rank);
  }
  return {};
}

std::optional<std::uint64_t> most_bytes(const ScenarioGroup& group, const Plan& plan, const ScenarioOperation& o) {
  OperationShape shape = shape_of(group, o);
  if (shape.choice.algorithm == Algorithm::kPlanned) shape.choice = planned_choice(plan, o.operation, o.bytes);
  std::array<Stage, 255> stages;
  std::array<Transfer, 256> transfers;
  std::array<std::uint64_t, 256> offsets;
  std::uint64_t most = o.bytes * (brings_several(o.operation) ? shape.ranks : 1);
  for (Rank me = 0; me < shape.ranks; ++me) {
    ScheduleWriter writer(stages, transfers);
    if (!build_rank_schedule(plan, shape, me, writer) || !writer.ok()) return {};
    most = std::max(most, lay_out(shape, writer.schedule(), me, o.root, offsets).bytes);
  }
  return most;
}

}  // namespace fibocast
