// The barrier by dissemination (Hensgen, Finkel, Manber 1988; k ways: Nishtala 2009): in round i each rank tells those
// at the distances j k^i, j = 1 .. k - 1, that all it has heard of have arrived. After ceil(log_k p) rounds everybody
// has heard of everybody: one phase, p (k - 1) messages a round. Core: no heap, no exceptions.
#pragma once

#include "collectives/shape.h"

namespace fibocast {

// False: shape.choice.parameter, the k, is below 2.
bool write_dissemination(const OperationShape& shape, Rank me, ScheduleWriter& out);

}  // namespace fibocast
