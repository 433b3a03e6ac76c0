// Which generation somebody joins who begins, or does not number its calls. Core.
#pragma once

#include "runtime/node/node_state.h"

namespace fibocast::joining {

// A participant of this node may still be counted in this generation, or may still collect its payload; if so many
// others wait to be counted.
bool takes_part(const NodeState& state, std::uint32_t group, Generation generation, std::uint32_t waiting = 0);
// The lowest generation that a new participant of this node can still take part in.
Generation first_generation(NodeState& state, std::uint32_t group);

}  // namespace fibocast::joining
