#include "collectives/pairwise.h"

#include "collectives/block_transfer.h"
#include "collectives/collection.h"

namespace fibocast {

namespace {

constexpr std::uint8_t kParts = 1, kResults = 2;  // stages

void receive_part(Rank from, Rank me, OnReceive how, ScheduleWriter& out) {
  Transfer t = block_transfer(from, me, 1, kParts);
  t.on_receive = how;
  out.receive(t);
}

// Leaves the stage kParts open, in which block `me` is combined.
void write_reduction(Rank ranks, Rank me, ScheduleWriter& out) {
  out.begin_stage({.waits_for_arrival = true});
  for (Rank i = 1; i < ranks && out.ok(); ++i) {
    const auto to = static_cast<Rank>((std::uint64_t{me} + i) % ranks);
    out.send(block_transfer(to, to, 1, kParts));
  }
  out.begin_stage({.after = 0});
  for (Rank from = me + 1; from < ranks && out.ok(); ++from) receive_part(from, me, OnReceive::kCombineRight, out);
  for (Rank from = me; from > 0 && out.ok(); --from) receive_part(from - 1, me, OnReceive::kCombineLeft, out);
}

}  // namespace

void write_pairwise_reduce(Rank ranks, Rank me, ScheduleWriter& out) {
  write_reduction(ranks, me, out);
  if (me != 0) return out.send(block_transfer(0, me, 1, kResults));
  out.begin_stage({.after = kParts});
  for (Rank from = 1; from < ranks && out.ok(); ++from) out.receive(block_transfer(from, from, 1, kResults));
}

void write_pairwise_allreduce(Rank ranks, Rank me, ScheduleWriter& out) {
  write_reduction(ranks, me, out);
  write_pairwise_collection(ranks, me, kParts, out);
}

}  // namespace fibocast
