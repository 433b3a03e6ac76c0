// Small questions about a slot that the files of operations and verdicts share. Core.
#pragma once

#include <bit>

#include "runtime/node/groups.h"
#include "runtime/node/node_state.h"

namespace fibocast::slots {

inline constexpr std::uint64_t kSmallOperationBytes = 16384;

inline std::uint32_t index_of(const NodeState& state, std::uint32_t group, Generation generation) {
  return group * state.limits.open_generations + (generation & (state.limits.open_generations - 1));
}
inline std::uint32_t group_of(const NodeState& state, std::uint32_t slot) {
  return slot >> std::countr_zero(state.limits.open_generations);
}
inline GroupState& group(NodeState& state, std::uint32_t slot) { return state.groups[group_of(state, slot)]; }
inline bool holds(const Slot& s, Generation generation) {
  return s.used && s.generation == generation && s.state != Slot::State::kEmpty;
}
inline OperationShape shape_of(const NodeState& state, std::uint32_t slot) {
  const Slot& s = state.slots[slot];
  OperationShape shape{s.operation, groups::ranks_of(state.groups[group_of(state, slot)], s.choice), s.total_bytes,
                       s.segment_bytes};
  shape.choice = s.choice, shape.type = s.type, shape.op = s.op;
  return shape;
}
// This node is the one whose data a multicast, scatter or divide hands out.
inline bool is_source(const NodeState& state, std::uint32_t slot) {
  const Slot& s = state.slots[slot];
  return is_push(s.operation) && state.groups[group_of(state, slot)].rank == s.root;
}
// The operation names one rank: whose data it is, or who gets the result.
inline bool is_rooted(Operation op) {
  return op == Operation::kReduce || op == Operation::kGather || op == Operation::kConquer || is_push(op);
}
// Small data travels with the messages themselves. Both sides see it alike: it follows from the operation alone.
inline bool is_small(const NodeState& state, std::uint32_t slot) {
  const Slot& s = state.slots[slot];
  const bool of_blocks = has_block_of_each_rank(s.operation);
  const std::uint64_t ranks = groups::ranks_now(state.groups[group_of(state, slot)]);
  return s.total_bytes <= state.limits.eager_bytes && (!of_blocks || s.total_bytes * ranks <= kSmallOperationBytes);
}
// A barrier's messages tell how far the members are. Not among routers, which are through when nobody has told them.
inline bool tells_window(const GroupState& g, const Slot& s) {
  return s.operation == Operation::kBarrier && g.routers == 0;
}
inline std::uint64_t bytes_of(const NodeState& state, std::uint32_t slot, const Transfer& t, std::uint32_t repetition) {
  return t.carries == Carries::kToken ? 0 : transfer_bytes(shape_of(state, slot), t, repetition);
}
// This transfer's data goes through the bulk lane, all repetitions as one stream.
inline bool is_bulk(const NodeState& state, std::uint32_t slot, const Transfer& t) {
  if (t.carries == Carries::kToken) return false;
  const std::uint64_t bytes = bytes_of(state, slot, t, 0);
  return bytes > state.limits.eager_bytes || (bytes > 0 && !is_small(state, slot));
}
inline std::uint64_t stream_bytes(const NodeState& state, std::uint32_t slot, const Transfer& t) {
  return t.carries == Carries::kPayload ? state.slots[slot].total_bytes : bytes_of(state, slot, t, 0);
}
inline std::span<TransferState> transfer_states(NodeState& state, std::uint32_t slot) {
  return state.transfer_states.subspan(std::size_t{slot} * state.limits.transfers, state.limits.transfers);
}
// Asks for a verdict at `when`, or earlier if one is due already.
inline void set_due(NodeState& state, Slot& s, Nanoseconds when) {
  if (when < s.due) s.due = when;
  if (s.due < state.slot_timer) state.slot_timer = s.due;
}
// Pumps the slot again at `when`.
inline void wake_at(NodeState& state, Slot& s, Nanoseconds when) {
  if (when < s.resume_at) s.resume_at = when;
  if (when < state.slot_timer) state.slot_timer = when;
}

}  // namespace fibocast::slots
