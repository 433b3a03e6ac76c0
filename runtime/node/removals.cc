#include "runtime/node/removals.h"

#include <algorithm>

#include "runtime/node/peers.h"

namespace fibocast::removals {

namespace {

constexpr std::size_t place_of(GroupEnd why) { return static_cast<std::size_t>(why); }

// A quarter is for those that never came to be.
std::span<CreationId> ring_of(const NodeState& state, GroupEnd why) {
  const std::size_t removed = state.removed.size() - std::max<std::size_t>(state.removed.size() / 4, 1);
  return why == GroupEnd::kRemoved ? state.removed.first(removed) : state.removed.subspan(removed);
}

std::uint8_t kept(const NodeState& state, GroupEnd why) {
  return static_cast<std::uint8_t>(std::min<std::size_t>(state.removals[place_of(why)], ring_of(state, why).size()));
}

// What it is still to hear of has moved by one, and the oldest may be forgotten.
void make_place(RemovalsToTell& to_tell, std::uint8_t kept) {
  if (to_tell.left == 0) return;
  ++to_tell.since;
  to_tell.left = std::min<std::uint8_t>(to_tell.left, kept - std::min(to_tell.since, kept));
}

bool tell(NodeState& state, Peer& peer, GroupEnd why, Nanoseconds now) {
  const std::span<const CreationId> ring = ring_of(state, why);
  RemovalsToTell& to_tell = peer.removals[place_of(why)];
  for (; to_tell.left > 0; --to_tell.left) {
    PeerMessage m;
    m.type = PeerMessageType::kGroupRemoved;
    m.creation = ring[(state.removals[place_of(why)] - to_tell.since - to_tell.left) % ring.size()];
    m.unfinished = why == GroupEnd::kNeverMade;
    if (!peers::send(state, peer.node, m, false, now)) return false;
  }
  return true;
}

}  // namespace

void note(NodeState& state, CreationId creation, GroupEnd why) {
  if (creation == kUnknownCreation || is_removed(state, creation)) return;
  const std::span<CreationId> ring = ring_of(state, why);
  ring[state.removals[place_of(why)]++ % ring.size()] = creation;
  for (Peer& p : state.peers.first(state.peers_used)) make_place(p.removals[place_of(why)], kept(state, why));
}

bool is_removed(const NodeState& state, CreationId creation) {
  return creation != kUnknownCreation && std::ranges::count(state.removed, creation) > 0;
}

bool was_never_made(const NodeState& state, CreationId creation) {
  return creation != kUnknownCreation && std::ranges::count(ring_of(state, GroupEnd::kNeverMade), creation) > 0;
}

void begin_telling(const NodeState& state, Peer& peer) {
  for (const GroupEnd why : {GroupEnd::kRemoved, GroupEnd::kNeverMade})
    peer.removals[place_of(why)] = {kept(state, why), 0};
}

bool tell(NodeState& state, Peer& peer, Nanoseconds now) {
  return tell(state, peer, GroupEnd::kRemoved, now) && tell(state, peer, GroupEnd::kNeverMade, now);
}

}  // namespace fibocast::removals
