// A network of workstations as a text file, for `fibocast plan`.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "collectives/models/workstations.h"

namespace fibocast {

inline constexpr std::uint64_t kMostWorkstations = 1'000'000;

// One statement per line, "#" begins a comment. Costs are microseconds, exact, or have a unit ("90", "0.18", "9/5",
// "90us"):
//
//     type slow 90 0.18 140 0.08   # NAME, then send, send per byte, receive, receive per byte
//     link 16 0.08                 # latency, per byte
//     nodes fast 4                 # the next four ranks; without a number: one
//     nodes slow 4
//
// The types `slow` and `fast` and the link are those of `preset` unless the file says otherwise. Nothing, and a
// sentence with the number of the line in `error`, for anything else. A type's send cost must be above 0.
std::optional<WorkstationCluster> parse_workstations(std::string_view text, WorkstationPreset preset,
                                                     std::string& error);

}  // namespace fibocast
