// Small questions about a slot that the files of operations and verdicts share. Core.
#pragma once

#include "runtime/node/groups.h"
#include "runtime/node/node_state.h"

namespace fibocast::slots {

inline std::uint32_t index_of(const NodeState& state, std::uint32_t group, Generation generation) {
  return group * state.limits.open_generations + generation % state.limits.open_generations;
}
inline std::uint32_t group_of(const NodeState& state, std::uint32_t slot) {
  return slot / state.limits.open_generations;
}
inline GroupState& group(NodeState& state, std::uint32_t slot) { return state.groups[group_of(state, slot)]; }
inline bool holds(const Slot& s, Generation generation) {
  return s.used && s.generation == generation && s.state != Slot::State::kEmpty;
}
// This node is the one whose payload is multicast.
inline bool is_source(const NodeState& state, std::uint32_t slot) {
  const Slot& s = state.slots[slot];
  return s.operation == Operation::kMulticast && state.groups[group_of(state, slot)].rank == s.root;
}
// The payload travels in the bulk lane.
inline bool is_bulk(const NodeState& state, const Slot& s) {
  return s.operation == Operation::kMulticast && s.total_bytes > state.limits.eager_bytes;
}
inline std::uint64_t bytes_of_segment(const Slot& s, std::uint32_t repetition) {
  if (s.segment_bytes == 0) return s.total_bytes;
  const std::uint64_t from = std::uint64_t{repetition} * s.segment_bytes;
  const std::uint64_t left = s.total_bytes > from ? s.total_bytes - from : 0;
  return left < s.segment_bytes ? left : s.segment_bytes;
}
inline std::span<ChildStream> child_streams(NodeState& state, std::uint32_t slot) {
  return state.child_streams.subspan(std::size_t{slot} * state.limits.transfers, state.limits.transfers);
}
// Asks for a verdict at `when`, or earlier if one is due already.
inline void set_due(NodeState& state, Slot& s, Nanoseconds when) {
  if (when < s.due) s.due = when;
  if (s.due < state.slot_timer) state.slot_timer = s.due;
}

}  // namespace fibocast::slots
