#include "collectives/allgather.h"

#include <algorithm>

#include "collectives/block_transfer.h"
#include "collectives/collection.h"
#include "collectives/ring.h"

namespace fibocast {

namespace {

// Blocks are relative: rank me has block 0 and gets those of the ranks behind it.
void write_bruck_allgather(Rank ranks, Rank me, ScheduleWriter& out) {
  out.begin_stage({.waits_for_arrival = true});
  std::uint8_t stage = 0;
  for (std::uint64_t distance = 1; distance < ranks && out.ok(); distance *= 2) {
    const auto next = static_cast<std::uint8_t>(stage + 1);
    const auto count = static_cast<Rank>(std::min<std::uint64_t>(distance, ranks - distance));
    out.send(block_transfer(static_cast<Rank>((me + ranks - distance) % ranks), 0, count, next));
    out.begin_stage({.after = stage});
    out.receive(block_transfer(static_cast<Rank>((me + distance) % ranks), static_cast<Rank>(distance), count, next));
    stage = next;
  }
}

// The neighbour through which the leaf `to` is reached.
Rank towards(Rank leaves, Rank me, Rank to) {
  for (Rank below = to; below != kNoRank; below = flood_neighbours(leaves, below).at[0])
    if (flood_neighbours(leaves, below).at[0] == me) return below;
  return flood_neighbours(leaves, me).at[0];
}

// Stage b passes on the packet of leaf b: it comes from one side and leaves on all others. Stages run side by side.
void write_flooding(Rank leaves, Rank me, ScheduleWriter& out) {
  const FloodNeighbours around = flood_neighbours(leaves, me);
  for (Rank b = 0; b < leaves && out.ok(); ++b) {
    const auto stage = static_cast<std::uint8_t>(b);
    const Rank from = b == me ? kNoRank : towards(leaves, me, b);
    out.begin_stage({.waits_for_arrival = b == me});
    if (b != me) out.receive(block_transfer(from, b, 1, stage));
    for (const Rank to : around.at)
      if (to != kNoRank && to != from) out.send(block_transfer(to, b, 1, stage));
  }
}

}  // namespace

FloodNeighbours flood_neighbours(Rank leaves, Rank me) {
  FloodNeighbours n;
  if (me + 2 < 2 * leaves) n.at[0] = leaves + me / 2;
  if (me >= leaves) n.at[1] = 2 * (me - leaves), n.at[2] = 2 * (me - leaves) + 1;
  return n;
}

bool write_allgather(const OperationShape& shape, Rank me, ScheduleWriter& out) {
  switch (shape.choice.algorithm) {
    case Algorithm::kBruck: write_bruck_allgather(shape.ranks, me, out); return true;
    case Algorithm::kPairwise:
      out.begin_stage({.waits_for_arrival = true});
      write_pairwise_collection(shape.ranks, me, 0, out);
      return true;
    case Algorithm::kFlooding:
      if (shape.ranks % 2 == 0) return false;
      write_flooding((shape.ranks + 1) / 2, me, out);
      return true;
    default:
      out.begin_stage({.waits_for_arrival = true});
      write_ring_collection(shape.ranks, me, me, 0, out);
      return true;
  }
}

}  // namespace fibocast
