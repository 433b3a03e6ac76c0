// Faults as TOML files, for `fibocast simulate --faults FILE`.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "firmware_sim/fault.h"

namespace fibocast {

// The text of a file, for a cluster of so many nodes; any number of faults, in any order:
//
//     [[fault]]
//     kind = "delay"      # loss, duplicate, reorder, delay, partition, one-way, pause, crash, slow, clock-jump
//     begins_ms = 0.5     # default: 0
//     heals_ms = 100      # default: never. A clock jump has none
//     nodes = [1, 4]      # default, for loss, duplicate, reorder and delay: all
//     probability = 0.2   # loss, duplicate, delay; default: 1
//     time_ms = 3         # reorder, delay, slow, clock-jump: must be given
//
// Nothing, and one sentence with `name` and the line in `error`, for anything else.
std::optional<std::vector<Fault>> parse_faults(std::string_view text, const std::string& name, std::uint32_t nodes,
                                               std::string& error);

// For help texts: all kinds; what a fault of a kind may say in a file besides: "begins_ms, heals_ms, nodes".
std::vector<Fault::Kind> fault_kinds();
std::string fault_keys(Fault::Kind kind);

}  // namespace fibocast
