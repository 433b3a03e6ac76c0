// What a node's flight recorder is told, and where: one function for each kind of event. Core.
#pragma once

#include "runtime/node/node_state.h"

namespace fibocast::flight_log {

// The group's name, members and trees.
void describe_group(NodeState& state, std::uint32_t group, Nanoseconds now);
// A generation begins here: its operation, algorithm and size. Every FlightRecorder::kSnapshotEvery generations the
// group is described again first.
void opened(NodeState& state, std::uint32_t slot, Nanoseconds now);
// kCall, kActivated; kVerdict with the verdict as `detail`.
void note(NodeState& state, std::uint32_t slot, FlightEvent::Kind kind, Nanoseconds now, std::uint8_t detail = 0);
// kSend, kReceive: the transfer at `index` of the slot's schedule.
void transfer(NodeState& state, std::uint32_t slot, FlightEvent::Kind kind, std::uint32_t index,
              std::uint32_t repetition, Nanoseconds now);
// kPeerUp, kPeerRestarted, kPeerRefused.
void peer(NodeState& state, FlightEvent::Kind kind, NodeId peer, Nanoseconds now);

}  // namespace fibocast::flight_log
