// Which part of the node a peer's message concerns. Core.
#pragma once

#include <cstddef>
#include <span>

#include "runtime/node/node_state.h"

namespace fibocast::dispatch {

// `payload` is what rode along; it is valid during the call.
void on_message(NodeState& state, NodeId from, const PeerMessage& m, std::span<const std::byte> payload,
                Nanoseconds now);

}  // namespace fibocast::dispatch
