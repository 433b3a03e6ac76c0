// What a message of some size costs on the paper's workstations "FFSS".
#pragma once

#include <string>

#include "collectives/models/workstations.h"

namespace fibocast::test {

inline TickedWorkstations machine(const std::string& letters, WorkstationPreset preset, std::uint64_t bytes) {
  std::string error;
  return workstations_in_ticks(workstations_of_letters(letters, preset, error).value(), bytes);
}

}  // namespace fibocast::test
