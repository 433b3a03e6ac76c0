// Gather: the block of rank i becomes the root's i-th. The reverse of scatter: up a tree, or each rank straight to the
// root, timed so that a fat tree delivers one a step (Dimakopoulos and Dimopoulos, E6). Core: no heap, no exceptions.
#pragma once

#include "collectives/plan.h"

namespace fibocast {

// Writes rank `me`'s stage. False: not along this tree. Precondition: me < ranks.
bool write_gather(const Plan& plan, const OperationShape& shape, Rank me, ScheduleWriter& out);

}  // namespace fibocast
