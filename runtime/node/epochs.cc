// Losses, majorities, and members that find themselves outside or cut off.
#include "runtime/node/epochs.h"

#include <algorithm>
#include <limits>

#include "runtime/node/groups.h"
#include "runtime/node/operations.h"
#include "runtime/node/peers.h"
#include "runtime/node/presence.h"
#include "runtime/node/replan.h"
#include "runtime/node/slots.h"

namespace fibocast::epochs {

namespace {

using Step = EpochChange::Step;

// Members at a time that cannot be reached are noticed one after the other: so long they are only waited for.
constexpr Nanoseconds kSettling = kAskAgain;

struct Loss {
  bool confirmed = false, restarted = false, ours = false;
};

void lose(NodeState& state, NodeId node, const Loss& loss, Nanoseconds now) {
  for (std::uint32_t group = 0; group < state.groups.size(); ++group) {
    GroupState& g = state.groups[group];
    if (g.used) replan::on_lost(state, group, node, now);
    if (g.used && !shrinks(g) && !runs(g)) operations::retry_calls(state, group, now);  // they need not wait for it
    const Rank rank = g.used && shrinks(g) ? g.members.index_of(node) : kNoRank;
    if (rank == kNoRank || g.rank == kNoRank) continue;
    InquiryMember& m = groups::inquiry_members(state, group)[rank];
    m.left = true, m.wants_in = loss.ours;  // it is here, and knows all it knew
    (loss.ours ? groups::inquiry_members(state, group)[g.rank] : m).missed = true;
    m.dead = m.dead || loss.confirmed, m.restarted = m.restarted || loss.restarted;
    const bool leaving = g.change.step != Step::kRunning && !g.proposed.has(rank);
    if (g.live.has(rank) && !g.change.outside && !leaving) want(state, g, now);
  }
}

// Calls `counts(rank)` for the members of `list` that may still vote, and says whether a majority of them did.
template <class Votes>
bool is_majority(const RankBits& list, std::span<const InquiryMember> members, Votes votes) {
  std::uint32_t voters = 0, yes = 0;
  Rank lowest = kNoRank;
  for (Rank r = 0; r < members.size(); ++r) {
    if (!list.has(r) || members[r].dead) continue;
    if (lowest == kNoRank) lowest = r;
    ++voters;
    yes += votes(r);
  }
  return 2 * yes > voters || (voters > 0 && 2 * yes == voters && votes(lowest));
}

template <class Votes>
bool is_majority_of_all(const NodeState& state, std::uint32_t group, Votes votes) {
  const GroupState& g = state.groups[group];
  const auto members = groups::inquiry_members(state, group);
  std::uint32_t yes = 0;
  for (Rank r = 0; r < members.size(); ++r) yes += votes(r);
  if (g.policy == GroupPolicy::kQuorum && yes < g.quorum) return false;
  return is_majority(g.settled, members, votes) && (g.change.settled || is_majority(g.live, members, votes));
}

// Of a member that restarted, what it had promised is lost.
bool can_be_reached(const NodeState& state, std::uint32_t group, Rank r) {
  const GroupState& g = state.groups[group];
  if (r == g.rank) return true;
  const NodeId node = groups::node_of(g, r);
  return !groups::inquiry_members(state, group)[r].restarted && !presence::is_lost(state, node);
}

}  // namespace

void on_lost(NodeState& state, NodeId node, bool confirmed, Nanoseconds now) {
  lose(state, node, {.confirmed = confirmed}, now);
}

void on_restarted(NodeState& state, NodeId node, Nanoseconds now) {
  lose(state, node, {.confirmed = true, .restarted = true}, now);
}

void on_returned(NodeState& state, NodeId node, Nanoseconds now) { lose(state, node, {.ours = true}, now); }

void want(NodeState& state, GroupState& g, Nanoseconds now) {
  EpochChange& c = g.change;
  if (!c.wanted && c.step == Step::kRunning) c.since = now;
  c.wanted = true;
  c.due = std::min(c.due, now);
  state.again = true;
}

PeerMessage message(const GroupState& g, PeerMessageType type, Epoch next) {
  PeerMessage m = groups::message_of(g, type);
  m.next_epoch = next;
  return m;
}

bool tell_outside(NodeState& state, std::uint32_t group, NodeId to, Nanoseconds now) {
  const GroupState& g = state.groups[group];
  PeerMessage m = message(g, PeerMessageType::kEpochBehind, g.epoch);
  m.root = g.change.outside ? g.change.leader : leader_of(state, g);
  return m.root == kNoRank || peers::send(state, to, m, true, now);
}

Rank leader_of(const NodeState& state, const GroupState& g) {
  const auto group = static_cast<std::uint32_t>(&g - state.groups.data());
  for (Rank r = 0; r < groups::size_of(g); ++r) {
    const bool there = r == g.rank ? !g.change.outside : peers::connected(state, groups::node_of(g, r));
    if (g.live.has(r) && there && can_be_reached(state, group, r)) return r;
  }
  return kNoRank;
}

bool has_majority(const NodeState& state, std::uint32_t group, const RankBits& list) {
  return is_majority_of_all(state, group, [&](Rank r) { return list.has(r); });
}

bool is_cut_off(const NodeState& state, std::uint32_t group) {
  return !is_majority_of_all(state, group, [&](Rank r) { return can_be_reached(state, group, r); });
}

RankSet unreachable(const NodeState& state, std::uint32_t group) {
  const GroupState& g = state.groups[group];
  RankSet ranks;
  for (Rank r = 0; r < groups::size_of(g); ++r)
    if (g.live.has(r) && !can_be_reached(state, group, r)) ranks.add(r);
  return ranks;
}

void ask_leader(NodeState& state, std::uint32_t group, Rank leader, Nanoseconds now) {
  const GroupState& g = state.groups[group];
  const NodeId node = groups::node_of(g, leader);
  if (node == state.settings.self || !peers::connected(state, node)) return;
  PeerMessage m = message(g, PeerMessageType::kEpochWanted, 0);
  const auto members = groups::inquiry_members(state, group);
  for (Rank r = 0; r < members.size(); ++r)  // from outside: whom it could not reach has gone on
    if (members[r].missed && !g.change.outside) m.ranks.add(r);
  peers::send(state, node, m, true, now);  // else asked again
}

void end_partitioned(NodeState& state, std::uint32_t group, Nanoseconds now) {
  state.groups[group].change.cut_off = true;
  const RankSet ranks = unreachable(state, group);
  for (Slot& s : groups::slots_of(state, group))
    operations::conclude(state, static_cast<std::uint32_t>(&s - state.slots.data()), Verdict::kPartitioned, ranks, now);
  operations::retry_calls(state, group, now);
}

// The epoch is without us. Calls wait until we are let in again; what was open has ended there, or goes on, without us.
void leave(NodeState& state, std::uint32_t group, Nanoseconds now) {
  GroupState& g = state.groups[group];
  end_partitioned(state, group, now);
  g.change.outside = true, g.change.cut_off = false, g.change.wanted = false;
  g.change.step = Step::kRunning;
  forget_inquiry(g);
  operations::give_up_streams(state, group, kNoNode, std::numeric_limits<Generation>::max(), now);
}

Verdict refuses(const NodeState& state, std::uint32_t group, RankSet& ranks) {
  const GroupState& g = state.groups[group];
  if (!shrinks(g) || !g.change.cut_off) return Verdict::kPending;
  ranks = unreachable(state, group);
  return Verdict::kPartitioned;
}

bool holds_calls(NodeState& state, std::uint32_t group, Nanoseconds now) {
  GroupState& g = state.groups[group];
  if (runs(g) && !g.change.outside) return false;
  if (g.change.outside && !g.change.wanted) {
    g.change.wanted = true;
    g.change.since = g.change.due = now;
    state.slot_timer = now;
  }
  return true;
}

bool greet(NodeState& state, std::uint32_t group, NodeId newcomer, Nanoseconds now) {
  const GroupState& g = state.groups[group];
  const Rank rank = g.members.index_of(newcomer);
  if (!shrinks(g) || g.change.outside || rank == kNoRank) return true;
  const bool forgot = groups::inquiry_members(state, group)[rank].restarted;
  return (g.live.has(rank) && !forgot) || tell_outside(state, group, newcomer, now);
}

void on_foreign(NodeState& state, std::uint32_t group, NodeId from, const PeerMessage& m, Nanoseconds now) {
  const GroupState& g = state.groups[group];
  const bool known = m.source < groups::size_of(g) && groups::node_of(g, m.source) == from;
  if (!known || !g.change.settled || g.change.outside || g.change.cut_off || g.live.has(m.source)) return;
  tell_outside(state, group, from, now);
}

namespace {

// A leader that lives is given time for what a bad network loses of its messages: who begins the change anew ends the
// operations that others have begun meanwhile. One that is lost is not waited for.
bool is_late(const NodeState& state, const EpochChange& c, Nanoseconds now) {
  return now >= c.since + 2 * state.settings.suspicion;
}

bool leads_now(const NodeState& state, const GroupState& g, Nanoseconds now) {
  const EpochChange& c = g.change;
  if (leader::is_busy(g) || leader_of(state, g) != g.rank) return false;
  // Another one has stopped us: it gets its time.
  return c.step == Step::kRunning || is_late(state, c, now) || !peers::connected(state, groups::node_of(g, c.leader));
}

// From outside: who leads, as we were told last; if it does not answer, the next one is asked, who knows.
Rank whom_to_ask(NodeState& state, std::uint32_t group) {
  GroupState& g = state.groups[group];
  const Rank asked = g.change.leader;
  for (Rank i = 1; i <= groups::size_of(g); ++i) {
    g.change.leader = (asked + i) % groups::size_of(g);
    if (peers::connected(state, groups::node_of(g, g.change.leader))) break;
  }
  return asked;
}

void ask_or_lead(NodeState& state, std::uint32_t group, Nanoseconds now) {
  GroupState& g = state.groups[group];
  EpochChange& c = g.change;
  c.due = now + kAskAgain;
  if (c.outside && !c.cut_off && g.held == 0) {  // nobody here wants in any more
    c.wanted = false, c.due = kNever;
    return;
  }
  const Rank leader = c.outside ? whom_to_ask(state, group) : leader_of(state, g);
  if (leads_now(state, g, now))
    leader::propose(state, group, now);
  else if (leader != kNoRank && (c.outside || c.step == Step::kRunning || is_late(state, c, now)))
    ask_leader(state, group, leader, now);
}

// Who is outside depends on theirs.
void wait_for_majority(NodeState& state, std::uint32_t group, Nanoseconds now) {
  const EpochChange& c = state.groups[group].change;
  if (c.cut_off) return;
  const bool knows = !c.outside && is_cut_off(state, group);
  const Nanoseconds patience = knows ? kSettling : 3 * state.settings.suspicion;
  if (now >= c.since + patience)
    end_partitioned(state, group, now);
  else
    state.slot_timer = std::min(state.slot_timer, c.since + patience);
}

}  // namespace

void pump(NodeState& state, std::uint32_t group, Nanoseconds now) {
  GroupState& g = state.groups[group];
  EpochChange& c = g.change;
  if (!may_change(g)) return;
  leader::pump(state, group, now);
  replan::pump(state, group, now);
  if (c.answer_owed) answer_leader(state, group, now);
  if (!c.wanted && c.step == Step::kRunning) return;
  if (shrinks(g)) wait_for_majority(state, group, now);
  if (c.due <= now) ask_or_lead(state, group, now);
  state.slot_timer = std::min(state.slot_timer, c.due);
}

}  // namespace fibocast::epochs
