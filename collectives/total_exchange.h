// The total exchange (alltoall): the i-th block of rank j becomes the j-th of rank i. Directly, each with each; in the
// steps of a binary fat tree (Dimakopoulos and Dimopoulos, E11-E16); or in log2 p rounds through others (Bruck et al.
// 1997). Core: no heap, no exceptions.
#pragma once

#include "collectives/plan.h"

namespace fibocast {

// Writes rank `me`'s stages. Any number of ranks: where a fat tree has more leaves, the steps of the absent ones are
// idle. False: more ranks than there are steps for. Precondition: me < ranks.
bool write_total_exchange(const Plan& plan, const OperationShape& shape, Rank me, ScheduleWriter& out);

}  // namespace fibocast
