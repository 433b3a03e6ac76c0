// Reductions by recursive halving (Rabenseifner 2004): partners at distance p'/2, p'/4, .. 1 exchange halves of what
// they hold and combine; p' = the largest power of two up to p. Then an allreduce goes the same way backwards to
// collect the result, and a reduce up a binomial tree. The p - p' ranks over give their vector to a neighbour first
// (paired_ranks.h) and get the result of an allreduce last. Core: no heap, no exceptions.
#pragma once

#include "collectives/shape.h"

namespace fibocast {

// Precondition: me < ranks.
void write_halving_reduce(Rank ranks, Rank me, ScheduleWriter& out);
void write_halving_allreduce(Rank ranks, Rank me, ScheduleWriter& out);

}  // namespace fibocast
