// The second half of what begins with a part of the data at each rank: all parts to all ranks. Straight from each to
// each, or in log2 p rounds: with partners at distance 1, 2, 4, .. where p is a power of two (Thakur, Rabenseifner and
// Gropp 2005), else from the ranks behind (Bruck et al. 1997). Around the ring: ring.h. Core: no heap, no exceptions.
#pragma once

#include "collectives/rank_schedule.h"

namespace fibocast {

// Rank `me` has block `me` and collects the others. The first send is the last of stage `last`, which is open in the
// writer and must have no stage behind it. Precondition: me < ranks.
void write_pairwise_collection(Rank ranks, Rank me, std::uint8_t last, ScheduleWriter& out);
void write_doubling_collection(Rank ranks, Rank me, std::uint8_t last, ScheduleWriter& out);

}  // namespace fibocast
