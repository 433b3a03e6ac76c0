// What a measured case should take on the emulated machine: predict() of the same schedule, scaled.
#pragma once

#include <optional>
#include <string>

#include "collectives/cost_model.h"
#include "runtime/cli/bench_case.h"
#include "runtime/cli/node_file.h"

namespace fibocast {

// What a cluster emulates, and how much slower than the machine.
struct Emulation {
  std::optional<MachineModel> machine;
  double scale = 1;
};

// Of the local cluster in `dir`, unless a socket says that another one is meant; a scale that is given goes before.
Emulation emulation_of(const std::string& dir, const std::string& socket, std::optional<double> scale);
// --scale
void add_scale_option(CLI::App& app, std::optional<double>& scale);

CostModel cost_model_of(const MachineModel& machine);
// In nanoseconds of emulated time, before scaling; messages of no bytes. 0 if the schedule cannot be built.
Nanoseconds predict_case(const BenchCase& of, const MachineModel& machine);

}  // namespace fibocast
