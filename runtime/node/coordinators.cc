#include "runtime/node/coordinators.h"

#include <algorithm>

#include "runtime/node/peers.h"
#include "runtime/node/slots.h"

namespace fibocast::coordinators {

NodeId choose(NodeState& state, std::uint32_t slot, Nanoseconds now) {
  const Slot& s = state.slots[slot];
  const GroupState& g = state.groups[slots::group_of(state, slot)];
  std::uint32_t skip = s.coordinators_tried;
  for (Rank v = 0; v < groups::ranks_now(g); ++v) {
    const NodeId node = groups::node_of(g, groups::real_rank(g, v, s.root));
    if (node == state.settings.self) return node;  // requests only ever go towards the root: no circles
    if (peers::may_come(state, node, now)) return kNoNode;
    if (peers::connected(state, node) && skip-- == 0) return node;
  }
  return state.settings.self;
}

void trust(NodeState& state, std::uint32_t slot, NodeId living) {
  Slot& s = state.slots[slot];
  const GroupState& g = state.groups[slots::group_of(state, slot)];
  std::uint32_t nearer = 0;  // to the root
  for (Rank v = 0; v < groups::ranks_now(g) && groups::node_of(g, groups::real_rank(g, v, s.root)) != living; ++v)
    nearer += peers::connected(state, groups::node_of(g, groups::real_rank(g, v, s.root)));
  s.coordinators_tried = std::min(s.coordinators_tried, nearer);
}

}  // namespace fibocast::coordinators
