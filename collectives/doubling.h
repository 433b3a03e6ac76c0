// Allreduce by recursive doubling (Thakur, Rabenseifner and Gropp 2005): in round i each rank exchanges all that it has
// combined with its partner at distance 2^i, so that log2 p rounds are enough where p is a power of two; the ranks over
// give their vector to a neighbour first and get the result last (paired_ranks.h). Both partners combine the same two
// values, the lower ranks' on the left: the same bits everywhere, in the order of the ranks. Core: no heap, no
// exceptions.
#pragma once

#include "collectives/shape.h"

namespace fibocast {

// Precondition: me < ranks. The result is in register T, of a rank over in S.
void write_doubling(Rank ranks, Rank me, ScheduleWriter& out);

}  // namespace fibocast
