// Around the ring: each block passes all ranks, so every rank sends and receives every block once and no link carries
// more than its share. Parts of allreduce (Patarasuk and Yuan 2009), allgather and long multicasts.
// Core: no heap, no exceptions.
#pragma once

#include "collectives/shape.h"

namespace fibocast {

// Rank `me` has block `own` and collects the others: p - 1 steps, one stage each. The first send is the last of stage
// `last`, which is open in the writer and must have no stage behind it; precondition: own - me is the same at all
// ranks.
void write_ring_collection(Rank ranks, Rank me, Rank own, std::uint8_t last, ScheduleWriter& out);
// Each rank has a vector of p blocks; in the end rank `me` has block me + 1 combined of all, in the order of the ranks
// from me + 1 on. Writes stages 0 .. p - 1, the last of which is left open for write_ring_collection(). Returns it.
std::uint8_t write_ring_reduction(Rank ranks, Rank me, ScheduleWriter& out);

}  // namespace fibocast
