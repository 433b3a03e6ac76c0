// What a measured case should take on the emulated machine: predict() of the same schedule, scaled.
#pragma once

#include "collectives/cost_model.h"
#include "runtime/cli/bench_case.h"
#include "runtime/cli/node_file.h"

namespace fibocast {

CostModel cost_model_of(const MachineModel& machine);
// In nanoseconds of emulated time, before scaling; messages of no bytes. 0 if the schedule cannot be built.
Nanoseconds predict_case(const BenchCase& of, const MachineModel& machine);

}  // namespace fibocast
