#include "runtime/node/removals.h"

#include <algorithm>

#include "runtime/node/peers.h"

namespace fibocast::removals {

namespace {

std::uint8_t kept(const NodeState& state) {
  return static_cast<std::uint8_t>(std::min<std::size_t>(state.removals, state.removed.size()));
}

}  // namespace

void note(NodeState& state, CreationId creation) {
  if (creation == kUnknownCreation || is_removed(state, creation)) return;
  state.removed[state.removals++ % state.removed.size()] = creation;
  for (Peer& p : state.peers.first(state.peers_used)) {
    if (p.removals_left == 0) continue;
    ++p.removals_since;  // what it is still to hear of has moved by one, and the oldest may be forgotten
    p.removals_left = std::min<std::uint8_t>(p.removals_left, kept(state) - std::min(p.removals_since, kept(state)));
  }
}

bool is_removed(const NodeState& state, CreationId creation) {
  return creation != kUnknownCreation && std::ranges::count(state.removed, creation) > 0;
}

void begin_telling(const NodeState& state, Peer& peer) {
  peer.removals_left = kept(state);
  peer.removals_since = 0;
}

bool tell(NodeState& state, Peer& peer, Nanoseconds now) {
  for (; peer.removals_left > 0; --peer.removals_left) {
    PeerMessage m;
    m.type = PeerMessageType::kGroupRemoved;
    m.creation = state.removed[(state.removals - peer.removals_since - peer.removals_left) % state.removed.size()];
    if (!peers::send(state, peer.node, m, false, now)) return false;
  }
  return true;
}

}  // namespace fibocast::removals
