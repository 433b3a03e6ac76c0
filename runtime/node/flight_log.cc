#include "runtime/node/flight_log.h"

#include "runtime/node/groups.h"
#include "runtime/node/slots.h"

namespace fibocast::flight_log {

namespace {

using Kind = FlightEvent::Kind;

FlightEvent about_group(const GroupState& g, Kind kind, Nanoseconds now) {
  FlightEvent e;
  e.at = now, e.kind = kind;
  e.group = static_cast<std::uint32_t>(g.id);
  return e;
}

FlightEvent about(NodeState& state, std::uint32_t slot, Kind kind, Nanoseconds now) {
  const Slot& s = state.slots[slot];
  FlightEvent e = about_group(slots::group(state, slot), kind, now);
  e.generation = s.generation, e.operation = s.operation;
  return e;
}

void describe_name(NodeState& state, const GroupState& g, Nanoseconds now) {
  for (std::uint32_t i = 0; i < g.name_length; i += 8) {
    FlightEvent e = about_group(g, Kind::kGroupName, now);
    e.peer = i / 8;
    for (std::uint32_t k = 0; k < 8 && i + k < g.name_length; ++k)
      e.value |= std::uint64_t{static_cast<unsigned char>(g.name[i + k])} << (8 * k);
    state.recorder.add(e);
  }
}

void describe_tree(NodeState& state, const GroupState& g, const TreeSpec& tree, std::uint8_t phase, Nanoseconds now) {
  FlightEvent e = about_group(g, Kind::kGroupTree, now);
  e.detail = phase, e.stage = static_cast<std::uint8_t>(tree.kind), e.peer = tree.arity, e.value = tree.s;
  state.recorder.add(e);
  e.kind = Kind::kGroupTreeLatency, e.value = tree.r;
  state.recorder.add(e);
}

}  // namespace

void describe_group(NodeState& state, std::uint32_t group, Nanoseconds now) {
  const GroupState& g = state.groups[group];
  describe_name(state, g, now);
  for (std::uint32_t i = 0; i < g.members.runs(); ++i) {
    FlightEvent e = about_group(g, Kind::kGroupMembers, now);
    e.value = std::uint64_t{g.members.run(i).first} << 32 | g.members.run(i).count;
    state.recorder.add(e);
  }
  describe_tree(state, g, g.plan.reduction, 0, now);
  describe_tree(state, g, g.plan.distribution, 1, now);
  FlightEvent e = about_group(g, Kind::kGroup, now);
  e.generation = g.base, e.value = g.participants;
  state.recorder.add(e);
}

void opened(NodeState& state, std::uint32_t slot, Nanoseconds now) {
  const Slot& s = state.slots[slot];
  if (s.generation % FlightRecorder::kSnapshotEvery == 0) describe_group(state, slots::group_of(state, slot), now);
  FlightEvent e = about(state, slot, Kind::kOpen, now);
  e.peer = s.root, e.value = pack_choice(s.choice, s.type, s.op);
  state.recorder.add(e);
  e.kind = Kind::kSize, e.peer = s.segment_bytes, e.value = s.total_bytes;
  state.recorder.add(e);
}

void note(NodeState& state, std::uint32_t slot, Kind kind, Nanoseconds now, std::uint8_t detail) {
  FlightEvent e = about(state, slot, kind, now);
  e.detail = detail;
  state.recorder.add(e);
}

void transfer(NodeState& state, std::uint32_t slot, Kind kind, std::uint32_t index, std::uint32_t repetition,
              Nanoseconds now) {
  const Transfer t = state.engine->schedule(slot).transfers[index];
  FlightEvent e = about(state, slot, kind, now);
  e.peer = groups::real_rank(slots::group(state, slot), t.peer, state.slots[slot].root);
  e.stage = t.stage, e.value = repetition;
  state.recorder.add(e);
}

void peer(NodeState& state, Kind kind, NodeId peer, Nanoseconds now) {
  FlightEvent e;
  e.at = now, e.kind = kind, e.peer = peer;
  state.recorder.add(e);
}

}  // namespace fibocast::flight_log
