#include "collectives/divide.h"

#include <bit>

namespace fibocast {

namespace {

// n of B(n).
std::uint32_t phases(const OperationShape& shape) {
  return static_cast<std::uint32_t>(std::bit_width(shape.ranks - 1));
}

// The child of phase n - bit exists.
bool has_child(const OperationShape& shape, Rank rank, std::uint32_t bit) {
  return rank + (std::uint64_t{1} << bit) < shape.ranks;
}

Share kept(const Share& share, std::uint64_t alpha) {
  return {share.first, static_cast<std::uint32_t>((share.count * alpha + kWholeShare - 1) / kWholeShare)};
}

Share sent(const Share& share, std::uint64_t alpha) {
  const auto count = static_cast<std::uint32_t>(share.count * alpha / kWholeShare);
  return {share.end() - count, count};
}

// What the rank, or its ancestor of that time, holds after the phases that add 2^least and more.
Share share_after(const OperationShape& shape, Rank rank, std::uint32_t least) {
  Share share{0, block_count(shape)};
  for (std::uint32_t bit = phases(shape); bit > least; --bit) {
    const std::uint64_t step = std::uint64_t{1} << (bit - 1);
    const auto sender = static_cast<Rank>(rank / (2 * step) * (2 * step));
    if (!has_child(shape, sender, bit - 1)) continue;
    share = (rank & step) != 0 ? sent(share, shape.choice.parameter) : kept(share, shape.choice.parameter);
  }
  return share;
}

// The rank has children 2^bit further for bits below this one.
std::uint32_t child_bits(const OperationShape& shape, Rank rank) {
  return rank == 0 ? phases(shape) : static_cast<std::uint32_t>(std::countr_zero(rank));
}

Rank parent_of(Rank rank) { return rank & (rank - 1); }

Transfer message(Rank peer, const Share& share, OnReceive on_receive = OnReceive::kStore) {
  return {.peer = peer,
          .first_block = share.first,
          .blocks = share.count,
          .stage = 0,
          .carries = Carries::kBlocks,
          .on_receive = on_receive};
}

}  // namespace

bool has_shares(const OperationShape& shape) {
  const std::uint64_t size = element_bytes(shape.type);
  return shape.total_bytes % size == 0 && shape.total_bytes / size <= UINT32_MAX;
}

Share final_share(const OperationShape& shape, Rank rank) { return share_after(shape, rank, 0); }

Share whole_share(const OperationShape& shape, Rank rank) { return share_after(shape, rank, child_bits(shape, rank)); }

Share kept_share(const OperationShape& shape, Rank rank, Rank child) {
  return share_after(shape, rank, static_cast<std::uint32_t>(std::countr_zero(child - rank)));
}

bool write_divide(const OperationShape& shape, Rank me, ScheduleWriter& out) {
  if (!has_shares(shape)) return false;
  out.begin_stage({.waits_for_arrival = me == 0});
  if (me != 0) out.receive(message(parent_of(me), whole_share(shape, me)));
  for (std::uint32_t bit = child_bits(shape, me); bit > 0; --bit) {
    if (!has_child(shape, me, bit - 1)) continue;
    const Rank child = me + (Rank{1} << (bit - 1));
    out.send(message(child, whole_share(shape, child)));
  }
  return true;
}

bool write_conquer(const OperationShape& shape, Rank me, ScheduleWriter& out) {
  if (!has_shares(shape)) return false;
  out.begin_stage({.waits_for_arrival = true});
  for (std::uint32_t bit = 0; bit < child_bits(shape, me) && has_child(shape, me, bit); ++bit) {
    const Rank child = me + (Rank{1} << bit);
    const Share share = whole_share(shape, child);
    const bool touches = kept_share(shape, me, child).end() == share.first;
    out.receive(message(child, share, touches ? OnReceive::kStore : OnReceive::kJoin));
  }
  if (me != 0) out.send(message(parent_of(me), whole_share(shape, me)));
  return true;
}

}  // namespace fibocast
