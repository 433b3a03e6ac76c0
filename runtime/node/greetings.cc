#include "runtime/node/greetings.h"

#include <algorithm>

#include "runtime/node/epochs.h"
#include "runtime/node/former_life.h"
#include "runtime/node/group_admin.h"
#include "runtime/node/groups.h"
#include "runtime/node/operations.h"
#include "runtime/node/peers.h"
#include "runtime/node/removals.h"
#include "runtime/node/verdicts.h"
#include "runtime/node/window.h"

namespace fibocast::greetings {

namespace {

// Since when the generations before the base are over, for PeerMessage::ended_ago; 0: none is on record.
std::uint64_t over_since(const NodeState& state, std::uint32_t group, Nanoseconds now) {
  std::uint64_t ago = 0;
  for (const Slot& s : groups::slots_of(state, group)) {
    if (s.state != Slot::State::kDone || s.generation >= state.groups[group].base) continue;
    const std::uint64_t this_ago = former_life::since(s.ended_at, now);
    ago = ago == 0 ? this_ago : std::min(ago, this_ago);
  }
  return ago;
}

bool tell_rejoin(NodeState& state, std::uint32_t group, Peer& p, Nanoseconds now) {
  const GroupState& g = state.groups[group];
  PeerMessage m = groups::message_of(g, PeerMessageType::kRejoin);
  m.generation = g.base;
  m.ended_ago = over_since(state, group, now);
  return p.greet_rejoined = peers::send(state, p.node, m, false, now);
}

// Oldest first. Else a member that comes up late would wait for what the others were told has failed.
bool tell_failures(NodeState& state, std::uint32_t group, Peer& p, Nanoseconds now) {
  const Generation base = state.groups[group].base, open = state.limits.open_generations;
  for (Generation g = std::max(p.greet_from, base - std::min(base, open)); g < base + open; p.greet_from = ++g) {
    const std::uint32_t slot = operations::recorded_slot(state, group, g);
    if (slot == kNoIndex || state.slots[slot].verdict == Verdict::kOk) continue;
    if (!verdicts::tell_recorded(state, slot, p.node, now)) return false;
  }
  return true;
}

// The failures on record, then the window: with these a newcomer finds the generation that is open.
bool tell_generation(NodeState& state, std::uint32_t group, Peer& p, Nanoseconds now) {
  const GroupState& g = state.groups[group];
  if (p.greet_anew && g.base > 0 && !p.greet_rejoined && !tell_rejoin(state, group, p, now)) return false;
  if (!tell_failures(state, group, p, now)) return false;
  return g.base == 0 || peers::send(state, p.node, groups::message_of(g, PeerMessageType::kWindow), false, now);
}

// Whom the group concerns. While it is being made or removed, that tells the members all.
bool concerns(const GroupState& g, NodeId peer) {
  const bool settled = g.inquiry.phase != Inquiry::Phase::kDefining && g.inquiry.phase != Inquiry::Phase::kRemoving;
  return g.used && g.rank != kNoRank && settled && g.members.index_of(peer) != kNoRank;
}

// True: told, and answered. Several members may define it to the newcomer at a time; it takes one after the other.
bool tell_definition(NodeState& state, const GroupState& g, Peer& p, Nanoseconds now) {
  if (!g.created || p.greet_answered) return true;
  if (p.greet_due <= now && group_admin::tell_definition(state, g, p.node, p.greet_told, now))
    p.greet_told = 0, p.greet_due = now + kAskAgain;
  if (p.greet_due > now) state.slot_timer = std::min(state.slot_timer, p.greet_due);
  return false;
}

bool greet(NodeState& state, Peer& p, Nanoseconds now) {
  const GroupState& g = state.groups[p.greet_group];
  if (!concerns(g, p.node)) return true;
  if (!tell_definition(state, g, p, now)) return false;
  return epochs::shrinks(g) ? epochs::greet(state, p.greet_group, p.node, now)
                            : tell_generation(state, p.greet_group, p, now);
}

void begin(Peer& p, std::uint32_t group) {
  p.greet_group = group;
  p.greet_told = 0, p.greet_due = 0, p.greet_from = 0, p.greet_answered = p.greet_rejoined = false;
}

// It is the one that was greeted before: what is not collected there is not over.
void begin_again(const NodeState& state, Peer& p, std::uint32_t group) {
  if (p.greet_group >= state.groups.size()) p.greet_anew = false;
  begin(p, group);
}

// Its former self may have taken the definition of a group that other members are still to take.
void define_again(NodeState& state, std::uint32_t group, NodeId peer) {
  GroupState& g = state.groups[group];
  const Rank rank = g.members.index_of(peer);
  if (g.inquiry.phase != Inquiry::Phase::kDefining || rank == kNoRank) return;
  InquiryMember& member = groups::inquiry_members(state, group)[rank];
  g.inquiry.answers -= member.answered;
  member = InquiryMember{};
}

bool tell_adoption(NodeState& state, Peer& p, Nanoseconds now) {
  if (!p.adoption_owed) return true;
  PeerMessage m;
  m.type = PeerMessageType::kClusterAdopted;
  p.adoption_owed = !peers::send(state, p.node, m, false, now);
  return !p.adoption_owed;
}

}  // namespace

void on_newcomer(NodeState& state, NodeId peer) {
  Peer& p = peers::of(state, peer);
  begin(p, 0);
  p.greet_anew = p.lives > 1, p.greeted_again = false;
  p.answer_owed = p.adoption_owed = false;  // it was another one that asked, or it asks again
  removals::begin_telling(state, p);
  for (std::uint32_t group = 0; group < state.groups.size(); ++group) {
    if (!state.groups[group].used) continue;
    window::tell_again(state, group, peer);
    define_again(state, group, peer);
  }
  state.again = true;
}

void begin_telling_of_adoption(NodeState& state) {
  for (Peer& p : state.peers.first(state.peers_used)) p.adoption_owed = peers::connected(state, p.node);
  state.again = true;
}

void on_adopted(NodeState& state, NodeId peer) {
  begin_again(state, peers::of(state, peer), 0);
  for (std::uint32_t group = 0; group < state.groups.size(); ++group)
    if (state.groups[group].used) window::tell_again(state, group, peer);
  state.again = true;
}

void tell_members_again(NodeState& state, std::uint32_t group) {
  const GroupState& g = state.groups[group];
  for (Peer& p : state.peers.first(state.peers_used))
    if (g.members.index_of(p.node) != kNoRank && p.greet_group > group && p.greet_group != kNoIndex)
      begin_again(state, p, group);
  state.again = true;
}

void on_answer(NodeState& state, NodeId peer, std::uint32_t group) {
  Peer& p = peers::of(state, peer);
  if (p.greet_group != group) return;
  p.greet_answered = true;
  state.again = true;
}

// Of one that was removed there we are told so; one that is being made or removed here is not told.
void on_unknown(NodeState& state, NodeId peer, std::uint32_t group, Nanoseconds now) {
  const GroupState& g = state.groups[group];
  if (!g.created || g.creation == kUnknownCreation || !concerns(g, peer)) return;
  Peer& p = peers::of(state, peer);
  begin_again(state, p, group);
  if (p.greeted_again) p.greet_due = now + state.settings.suspicion;  // it may have no room
  p.greeted_again = true;
  window::tell_again(state, group, peer);
  state.again = true;
}

void on_rejoin(NodeState& state, std::uint32_t group, const PeerMessage& m, Nanoseconds now) {
  GroupState& g = state.groups[group];
  operations::sync_window(state, group, m.window_base, now);
  const bool takes_part = g.opened && !former_life::is_told_by(state, m, now);
  if (takes_part || m.generation <= g.base) return;
  operations::skip_to(state, group, m.generation, now);
}

bool is_over(const NodeState& state, NodeId peer, std::uint32_t group) {
  const Peer* p = peers::find_peer(state, peer);
  return p != nullptr && p->greet_group > group;
}

void pump(NodeState& state, Nanoseconds now) {
  for (Peer& p : state.peers.first(state.peers_used)) {
    if (!peers::connected(state, p.node) || !group_admin::send_owed_answer(state, p, now)) continue;
    if (!removals::tell(state, p, now) || !tell_adoption(state, p, now)) continue;
    while (p.greet_group < state.groups.size() && greet(state, p, now)) begin(p, p.greet_group + 1);
  }
}

}  // namespace fibocast::greetings
