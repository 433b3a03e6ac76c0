// The postal combine as a schedule: allreduce, or without data a barrier in one phase (Bruck et al. 1996, B20-B28).
// Core: no heap, no exceptions.
#pragma once

#include "collectives/plan.h"

namespace fibocast {

// shape.choice says which variant; lambda = 1 + r/s is that of plan.distribution. A stage is the beginning of a round:
// what arrives by then is appended to T and S, and what B22 says is sent. False: more rounds than a schedule holds.
// Precondition: me < ranks.
bool write_postal_combine(const Plan& plan, const OperationShape& shape, Rank me, ScheduleWriter& out);

}  // namespace fibocast
