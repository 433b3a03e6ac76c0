#include "runtime/node/joining.h"

#include <algorithm>

#include "runtime/node/slots.h"

namespace fibocast::joining {

namespace {

// Numbered calls, also of participants that pass.
std::uint32_t waiting_calls(NodeState& state, std::uint32_t group, Generation generation) {
  std::uint32_t waiting = 0;
  for (std::uint32_t i = 0; i < state.requests->size(); ++i) {
    const Request& r = state.requests->at(i);
    const bool waits = r.state == Request::State::kHeld || r.state == Request::State::kScheduled;
    waiting += waits && r.group == group && r.call.generation == generation;
  }
  return waiting;
}

}  // namespace

bool takes_part(const NodeState& state, std::uint32_t group, Generation generation, std::uint32_t waiting) {
  const Slot& s = state.slots[slots::index_of(state, group, generation)];
  if (!slots::holds(s, generation)) return waiting < state.groups[group].participants;
  if (s.passed || s.arrivals + waiting >= state.groups[group].participants) return false;
  return s.state == Slot::State::kOpen || (s.verdict == Verdict::kOk && is_push(s.operation));
}

Generation first_generation(NodeState& state, std::uint32_t group) {
  const GroupState& g = state.groups[group];
  Generation generation = std::max({g.base, g.global_base, g.change.let_go});
  while (!takes_part(state, group, generation, waiting_calls(state, group, generation))) ++generation;
  return generation;
}

}  // namespace fibocast::joining
