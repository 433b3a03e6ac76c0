// Allreduce by recursive halving and doubling (Rabenseifner 2004): partners at distance p'/2, p'/4, .. 1 exchange
// halves of what they hold and combine, then the same backwards to collect the result; p' = the largest power of two up
// to p. The p - p' ranks over give their vector to a neighbour first and get the result last (paired_ranks.h). Core: no
// heap, no exceptions.
#pragma once

#include "collectives/shape.h"

namespace fibocast {

void write_halving(Rank ranks, Rank me, ScheduleWriter& out);

}  // namespace fibocast
