// Reductions in two rounds: part i of every rank's vector goes straight to rank i, which combines it, in the order of
// the ranks, and sends it to the root or to all (Thakur, Rabenseifner and Gropp 2005). The fastest for few ranks and
// long vectors, whatever the number of ranks. Core: no heap, no exceptions.
#pragma once

#include "collectives/shape.h"

namespace fibocast {

// Precondition: me < ranks.
void write_pairwise_reduce(Rank ranks, Rank me, ScheduleWriter& out);
void write_pairwise_allreduce(Rank ranks, Rank me, ScheduleWriter& out);

}  // namespace fibocast
