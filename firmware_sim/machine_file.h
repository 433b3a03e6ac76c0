// Machines as TOML files, and those that have a name. Costs are exact: "27us", "9/5", "0.8" or a whole number; either
// all of them have a unit of time or none has.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "firmware_sim/machine.h"

namespace fibocast {

// The text of a file:
//
//     note = "measured on Monday"    # is repeated in every answer
//     ports = "shared"               # or "independent"
//     [node]                         # every node that is of no other kind
//     send = "27us"                  # s, and send_per_byte
//     occupancy = "88us"             # o, and occupancy_per_byte
//     [kinds.slow]                   # any of these four, and
//     factor = "3/2"                 # what multiplies those of [node] that are not given
//     nodes = [2, 3]                 # which they are
//     [network]
//     kind = "crossbar"              # parameters() has the others of each kind
//     cluster_nodes = 16
//
// Nothing, and one sentence with `name` and the line in `error`, for anything else.
std::optional<MachineDescription> parse_machine(std::string_view text, const std::string& name, std::string& error);

// The parameters of a kind of network, for help texts: "latency, latency_per_byte".
std::string parameters(NetworkKind kind);
// "ideal", "crossbar", "mesh", "fat-tree", "workstations".
std::string_view network_name(NetworkKind kind);

}  // namespace fibocast
