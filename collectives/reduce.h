// Reduce up the reduction tree, and allreduce: the same and then the result down the distribution tree; both by
// recursive halving (halving.h) or each with each (pairwise.h); an allreduce around the ring, by recursive doubling
// (doubling.h), or by the postal combine (postal_allreduce.h). Core: no heap, no exceptions.
#pragma once

#include "collectives/plan.h"

namespace fibocast {

// Write rank `me`'s stages. False: a parameter is out of range. Precondition: me < ranks.
bool write_reduce(const Plan& plan, const OperationShape& shape, Rank me, ScheduleWriter& out);
bool write_allreduce(const Plan& plan, const OperationShape& shape, Rank me, ScheduleWriter& out);

}  // namespace fibocast
