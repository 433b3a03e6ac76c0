// Machines that have a name: those of the papers.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "firmware_sim/machine.h"

namespace fibocast {

struct MachinePreset {
  std::string_view name;
  std::string_view description;  // one line
  MachineDescription (*describe)(Rank ranks);
};

std::span<const MachinePreset> machine_presets();

// The machine of this name for an operation of so many ranks. Nothing, and a sentence that lists them, for another.
std::optional<MachineDescription> machine_preset(std::string_view name, Rank ranks, std::string& error);

}  // namespace fibocast
