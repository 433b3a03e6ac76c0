#include "runtime/node/presence.h"

#include <utility>

#include "runtime/node/doubts.h"
#include "runtime/node/epochs.h"
#include "runtime/node/flight_log.h"
#include "runtime/node/half_made.h"
#include "runtime/node/mailbox.h"
#include "runtime/node/peers.h"
#include "runtime/node/slots.h"
#include "runtime/node/streams.h"

namespace fibocast::presence {

namespace {

void begin_doubts(NodeState& state, NodeId node, bool of_us, Nanoseconds now) {
  for (std::uint32_t group = 0; group < state.groups.size(); ++group) {
    const GroupState& g = state.groups[group];
    const Rank rank = g.used ? g.members.index_of(node) : kNoRank;
    if (rank != kNoRank && g.rank != kNoRank) doubts::begin(state, group, of_us ? g.rank : rank, now);
  }
}

// The verdict of what the node takes part in is asked for at once; the coordinator decides, once for all. If the node
// lives and has given us up, it is we who were lost.
void end_operations_with(NodeState& state, NodeId node, bool we_were_lost, Nanoseconds now) {
  for (std::uint32_t slot = 0; slot < state.slots.size(); ++slot) {
    Slot& s = state.slots[slot];
    if (s.state != Slot::State::kOpen) continue;
    const GroupState& g = slots::group(state, slot);
    const Rank rank = g.members.index_of(node);
    if (rank == kNoRank || epochs::shrinks(g)) continue;
    if (s.lost == kNoRank) s.lost = we_were_lost ? g.rank : rank;
    // What a new incarnation sends must not end it here: what we had sent to the former one never came to this one.
    if (!s.frozen) s.arrived_when_frozen = s.called;
    s.frozen = true;
    slots::set_due(state, s, now);
  }
  begin_doubts(state, node, we_were_lost, now);
}

void give_up(NodeState& state, NodeId node, Nanoseconds now) {
  Peer& p = peers::of(state, node);
  p.given_up = true;
  ++p.session;  // what was delivered of its messages owes it no credit any more
  p.trying_since = now - state.settings.suspicion;
  p.channel->renew(now);
  peers::release_acknowledged(state, node);
  mailbox::drop_outgoing(state, node);
  mailbox::forget_peer(state, node);
  streams::forget_peer(state, node, now);
}

bool is_dead(BeliefReason reason) { return reason == BeliefReason::kRefused || reason == BeliefReason::kLeft; }

void on_change(NodeState& state, const BeliefChange& change, Nanoseconds now) {
  if (change.belief != Belief::kLost) return;
  Peer& p = peers::of(state, change.peer);
  end_operations_with(state, change.peer, false, now);  // first: what ends below knows why
  epochs::on_lost(state, change.peer, is_dead(change.reason), now);
  half_made::on_lost(state, change.peer);
  if (change.reason != BeliefReason::kRestarted && p.channel != nullptr) {
    give_up(state, change.peer, now);
    p.lost_event = state.peer_events = true;
    p.lost_reason = change.reason;
    flight_log::peer(state, FlightEvent::Kind::kPeerLost, change.peer, now);
  }
  state.again = true;
  state.slot_timer = now;  // calls that wait for the window
}

void send_probes(NodeState& state, Nanoseconds now) {
  NodeId to = kNoNode;
  while (state.detector->poll_probe(to))
    if (ReliableChannel* c = peers::reach(state, to, now)) c->probe(now);
}

void send_news(NodeState& state, Nanoseconds now) {
  NodeId to = kNoNode;
  News news;
  while (state.detector->poll_news(to, news)) {
    PeerMessage m;
    m.type = PeerMessageType::kNews;
    m.news = news;
    if (!peers::connected(state, to) || !peers::send(state, to, m, true, now)) state.detector->could_not_tell();
  }
}

template <class Function>
void each_awaited(NodeState& state, std::uint32_t slot, Function function) {
  const RankSchedule schedule = state.engine->schedule(slot);
  const GroupState& g = slots::group(state, slot);
  const Slot& s = state.slots[slot];
  const auto each = [&](std::span<const Transfer> transfers) {
    for (const Transfer& t : transfers) function(groups::node_of(g, groups::real_rank(g, t.peer, s.root)));
  };
  // Who hands out data waits until its receivers have it; in a barrier they are those it hears from.
  const bool hands_out = s.operation != Operation::kBarrier;
  for (const Stage& stage : schedule.stages) {
    each(schedule.receives(stage));
    if (hands_out) each(schedule.sends(stage));
  }
}

}  // namespace

void start(NodeState& state, Nanoseconds now) {
  if (state.detector != nullptr) state.detector->start(now);
}

void on_connected(NodeState& state, NodeId peer, Nanoseconds now) {
  Peer& p = peers::of(state, peer);
  const std::uint64_t incarnation = p.channel->peer_incarnation();
  // What it sent before it knew of that is lost, and it may have been done with it.
  if (std::exchange(p.given_up, false)) begin_doubts(state, peer, false, now);
  if (p.incarnation != incarnation) ++p.lives;
  p.incarnation = incarnation;
  if (state.detector != nullptr) state.detector->came(peer, incarnation, now);
}

void on_restarted(NodeState& state, NodeId peer, Nanoseconds now) {
  const Peer& p = peers::of(state, peer);
  const bool same = p.channel->peer_incarnation() == p.incarnation;
  end_operations_with(state, peer, same, now);
  same ? epochs::on_returned(state, peer, now) : epochs::on_restarted(state, peer, now);
  if (!same) half_made::on_lost(state, peer);
}

void on_refused(NodeState& state, NodeId peer, Nanoseconds now) {
  if (state.detector != nullptr && peer < state.settings.nodes && peer != state.settings.self)
    state.detector->refused(peer, now);
  if (is_lost(state, peer)) epochs::on_lost(state, peer, true, now);  // whatever told us of it: its process is dead
}

void on_reset(NodeState& state, NodeId peer, Nanoseconds now) {
  if (state.detector != nullptr && peer < state.settings.nodes && peer != state.settings.self)
    state.detector->path_broke(peer, now);
}

void on_news(NodeState& state, NodeId from, const PeerMessage& m, Nanoseconds now) {
  if (state.detector != nullptr) state.detector->on_news(from, m.news, now);
}

void leave(NodeState& state, Nanoseconds now) {
  if (state.detector == nullptr) return;
  state.detector->leave();
  PeerMessage m;
  m.type = PeerMessageType::kNews;
  m.news = state.detector->farewell();
  for (const Peer& p : state.peers.first(state.peers_used))
    if (peers::connected(state, p.node)) peers::send(state, p.node, m, true, now);  // else it finds out
}

void on_timer(NodeState& state, Nanoseconds now) {
  if (state.detector != nullptr && state.detector->next_deadline() <= now) state.detector->on_timer(now);
}

void pump(NodeState& state, Nanoseconds now) {
  if (state.detector == nullptr || !state.detector->has_something()) return;
  BeliefChange change;
  while (state.detector->poll_change(change)) on_change(state, change, now);
  send_probes(state, now);
  send_news(state, now);
}

void begin_waiting(NodeState& state, std::uint32_t slot, Nanoseconds now) {
  Slot& s = state.slots[slot];
  if (state.detector == nullptr || s.waiting) return;
  s.waiting = true;
  each_awaited(state, slot, [&](NodeId peer) { state.detector->wait_on(peer, now); });
}

void stop_waiting(NodeState& state, std::uint32_t slot) {
  state.slots[slot].waiting = false;
  each_awaited(state, slot, [&](NodeId peer) { state.detector->no_longer_wait_on(peer); });
}

void probe(NodeState& state, NodeId node, Nanoseconds now) {
  if (state.detector == nullptr || node == state.settings.self) return;
  state.detector->waited_on_now(node, now);
  state.again = true;
}

bool is_lost(const NodeState& state, NodeId node) {
  return state.detector != nullptr && node != state.settings.self && state.detector->belief(node) == Belief::kLost;
}

bool is_lost_to_somebody(const NodeState& state, NodeId node) {
  return state.detector != nullptr && node != state.settings.self && state.detector->is_lost_to_somebody(node);
}

Rank lost_member(const NodeState& state, std::uint32_t group) {
  const GroupState& g = state.groups[group];
  if (state.detector == nullptr || state.detector->lost_now() == 0 || epochs::shrinks(g)) return kNoRank;
  for (Rank rank = 0; rank < groups::size_of(g); ++rank)
    if (is_lost(state, groups::node_of(g, rank))) return rank;
  return kNoRank;
}

}  // namespace fibocast::presence
