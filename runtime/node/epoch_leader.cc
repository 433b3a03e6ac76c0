// Who leads a change: it asks the members to stop, has them install the new epoch, and lets them go.
#include <algorithm>
#include <array>

#include "runtime/node/epochs.h"
#include "runtime/node/groups.h"
#include "runtime/node/peers.h"
#include "runtime/node/replan.h"
#include "runtime/node/slots.h"

namespace fibocast::epochs::leader {

namespace {

using Phase = Inquiry::Phase;

// Whoever of the epoch has not been lost, and whoever wants to join. False: somebody is neither here nor lost yet.
bool list_members(NodeState& state, std::uint32_t group) {
  GroupState& g = state.groups[group];
  const auto members = groups::inquiry_members(state, group);
  bool all_here = true;
  g.proposed.clear();
  for (Rank r = 0; r < members.size(); ++r) {
    const bool here = r == g.rank || peers::connected(state, groups::node_of(g, r));
    const bool stays = g.live.has(r) && !members[r].left;
    if ((stays || members[r].wants_in) && here) g.proposed.add(r);
    all_here = all_here && (here || !stays);
  }
  return all_here;
}

// Whom it would have named is named by the next attempt.
void give_up(NodeState& state, std::uint32_t group, Nanoseconds now) {
  GroupState& g = state.groups[group];
  const RankSet& named = g.inquiry.ranks;
  for (std::uint32_t i = 0; i < named.size(); ++i) groups::inquiry_members(state, group)[named.at(i)].missed = true;
  g.inquiry.phase = Phase::kIdle;
  g.change.wanted = true;
  g.change.due = now + kAskAgain;
}

void begin_step(NodeState& state, std::uint32_t group, Phase phase) {
  GroupState& g = state.groups[group];
  g.inquiry.phase = phase;
  for (InquiryMember& m : groups::inquiry_members(state, group)) m.asked = m.answered = false;
  groups::inquiry_members(state, group)[g.rank].asked = true;
  groups::inquiry_members(state, group)[g.rank].answered = true;
}

PeerMessage stop_message(const GroupState& g, std::span<std::byte> piece) {
  PeerMessage m = message(g, PeerMessageType::kEpochStop, g.change.promised);
  m.piece = piece.first(groups::write_bits(g.proposed, groups::size_of(g), piece));
  return m;
}

PeerMessage install_message(NodeState& state, std::uint32_t group) {
  const GroupState& g = state.groups[group];
  PeerMessage m = message(g, PeerMessageType::kEpochInstall, g.change.promised);
  m.generation = g.inquiry.generation;
  m.window_base = g.inquiry.window_base, m.completed = g.inquiry.furthest;
  m.ranks = g.inquiry.ranks;
  if (g.inquiry.let_go > 0) m.let_go = g.inquiry.let_go;
  m.plan = replan::plan_of(state, group);
  m.piece = state.outcomes.subspan(std::size_t{group} * outcomes_of(state), outcomes_of(state));
  return m;
}

PeerMessage step_message(NodeState& state, std::uint32_t group, std::span<std::byte> piece) {
  const GroupState& g = state.groups[group];
  if (g.inquiry.phase == Phase::kStopping) return stop_message(g, piece);
  if (g.inquiry.phase == Phase::kInstalling) return install_message(state, group);
  return message(g, PeerMessageType::kEpochGo, g.epoch);
}

// False: somebody of the list is lost whose answer is still needed.
bool tell_list(NodeState& state, std::uint32_t group, Nanoseconds now) {
  GroupState& g = state.groups[group];
  std::array<std::byte, kMostPieceBytes> piece;
  const PeerMessage m = step_message(state, group, piece);
  const auto members = groups::inquiry_members(state, group);
  const bool needs_answers = g.inquiry.phase != Phase::kGoing;
  for (Rank r = 0; r < members.size(); ++r) {
    if (!g.proposed.has(r)) continue;
    if (members[r].left && needs_answers && !members[r].answered) return false;
    if (members[r].left || members[r].asked) continue;
    members[r].asked = peers::send(state, groups::node_of(g, r), m, true, now);
  }
  return true;
}

// Who is here and was left out may not know: it takes itself for a member, and waits for what others send it. False: a
// channel had no room.
bool tell_the_others(NodeState& state, std::uint32_t group, Nanoseconds now) {
  const GroupState& g = state.groups[group];
  const auto members = groups::inquiry_members(state, group);
  bool all = true;
  for (Rank r = 0; r < members.size(); ++r) {
    const NodeId node = groups::node_of(g, r);
    if (g.proposed.has(r) || members[r].asked || !peers::connected(state, node)) continue;
    members[r].asked = tell_outside(state, group, node, now);
    all = all && members[r].asked;
  }
  return all;
}

// Who does not answer is to be lost in the time that a waiting operation would need to find it.
void watch_awaited(NodeState& state, std::uint32_t group, Nanoseconds now) {
  GroupState& g = state.groups[group];
  const bool waits = g.inquiry.phase == Phase::kStopping || g.inquiry.phase == Phase::kInstalling;
  if (!waits && !g.change.watching) return;
  const auto members = groups::inquiry_members(state, group);
  g.change.watching = false;
  for (Rank r = 0; r < members.size(); ++r) {
    InquiryMember& m = members[r];
    const bool awaited = waits && r != g.rank && g.proposed.has(r) && !m.answered;
    const NodeId node = groups::node_of(g, r);
    if (awaited && !m.watched) state.detector->wait_on(node, now);
    if (!awaited && m.watched) state.detector->no_longer_wait_on(node);
    m.watched = awaited;
    g.change.watching = g.change.watching || awaited;
  }
}

template <class Is>
bool all_of_list(NodeState& state, std::uint32_t group, Is is) {
  const GroupState& g = state.groups[group];
  const auto members = groups::inquiry_members(state, group);
  for (Rank r = 0; r < members.size(); ++r)
    if (g.proposed.has(r) && !is(members[r])) return false;
  return true;
}

// Also those who are back, and those who join now: nothing goes on across a change.
RankSet lost_ranks(const NodeState& state, std::uint32_t group) {
  const GroupState& g = state.groups[group];
  const auto members = groups::inquiry_members(state, group);
  RankSet ranks;
  for (Rank r = 0; r < members.size(); ++r)
    if (g.live.has(r) != g.proposed.has(r) || members[r].missed) ranks.add(r);
  return ranks;
}

// A newcomer begins behind what the others have ended.
void skip_what_is_over(NodeState& state, std::uint32_t group) {
  Inquiry& q = state.groups[group].inquiry;
  const auto fates = state.outcomes.subspan(std::size_t{group} * outcomes_of(state), outcomes_of(state));
  const auto is_next_over = [&] {
    const Generation at = q.furthest - q.generation;
    return at < fates.size() && is_over(static_cast<GenerationFate>(fates[at]));
  };
  while (is_next_over()) ++q.furthest;
}

void begin_installing(NodeState& state, std::uint32_t group, Nanoseconds now) {
  GroupState& g = state.groups[group];
  if (!has_majority(state, group, g.proposed)) return give_up(state, group, now);
  skip_what_is_over(state, group);
  begin_step(state, group, Phase::kInstalling);
  if (!install(state, group, install_message(state, group), now)) give_up(state, group, now);
}

void merge(NodeState& state, std::uint32_t group, Generation first, std::span<const std::byte> told) {
  const auto known = state.outcomes.subspan(std::size_t{group} * outcomes_of(state), outcomes_of(state));
  for (std::size_t i = 0; i < told.size(); ++i) {
    const Generation at = first + i - state.groups[group].inquiry.generation;
    if (at < known.size()) known[at] = std::max(known[at], told[i]);
  }
}

void go_on(NodeState& state, std::uint32_t group, Nanoseconds now) {
  GroupState& g = state.groups[group];
  if (!is_busy(g)) return;
  const bool whole = tell_list(state, group, now);
  if ((!whole || now >= g.inquiry.due) && g.inquiry.phase != Phase::kGoing) {
    give_up(state, group, now);
    if (!whole) g.change.due = now;  // at once, without the lost one
    return;
  }
  const auto answered = [](const InquiryMember& m) { return m.answered; };
  const auto told = [](const InquiryMember& m) { return m.asked || m.left; };
  if (g.inquiry.phase == Phase::kStopping && all_of_list(state, group, answered)) begin_installing(state, group, now);
  if (g.inquiry.phase == Phase::kInstalling && tell_list(state, group, now) && all_of_list(state, group, answered)) {
    begin_step(state, group, Phase::kGoing);
    tell_list(state, group, now);
    go(state, group, now);
  }
  const bool is_going = g.inquiry.phase == Phase::kGoing;
  if (is_going && tell_the_others(state, group, now) && all_of_list(state, group, told)) g.inquiry.phase = Phase::kIdle;
}

}  // namespace

Epoch next_number(const NodeState& state, const GroupState& g) {
  const Epoch seen = std::max(g.epoch, g.change.promised), nodes = state.limits.nodes;
  return (seen / nodes + 1) * nodes + state.settings.self;
}

void begin_planned(NodeState& state, std::uint32_t group, Nanoseconds now) {
  GroupState& g = state.groups[group];
  g.change.leader = g.rank;
  g.proposed.assign(g.live);
  outcomes(state, group);
  groups::start_inquiry(state, group, Phase::kInstalling, now, kNever);  // who lives answers; who is lost ends it
  g.inquiry.generation = first_outcome(state, g);
  g.inquiry.window_base = g.inquiry.furthest = g.base;
  begin_installing(state, group, now);
  pump(state, group, now);
}

void propose(NodeState& state, std::uint32_t group, Nanoseconds now) {
  GroupState& g = state.groups[group];
  if (g.inquiry.phase == Phase::kDefining || g.inquiry.phase == Phase::kRemoving) return;
  if (!list_members(state, group) || !has_majority(state, group, g.proposed)) return;
  const RankSet lost = lost_ranks(state, group);
  stop(state, group, next_number(state, g), now);
  g.change.leader = g.rank;
  outcomes(state, group);
  groups::start_inquiry(state, group, Phase::kStopping, now, now + state.settings.suspicion);
  g.inquiry.ranks = lost;
  g.inquiry.generation = first_outcome(state, g);
  g.inquiry.window_base = g.inquiry.furthest = g.base, g.inquiry.let_go = g.change.let_go;
  begin_step(state, group, Phase::kStopping);
  pump(state, group, now);
}

void pump(NodeState& state, std::uint32_t group, Nanoseconds now) {
  go_on(state, group, now);
  watch_awaited(state, group, now);
}

void forget(NodeState& state, std::uint32_t group, Nanoseconds now) {
  state.groups[group].inquiry.phase = Phase::kIdle;
  watch_awaited(state, group, now);
}

// A member that has installed a later epoch which has not gone tells its list: its majority is needed too.
void on_stopped(NodeState& state, std::uint32_t group, const PeerMessage& m, Nanoseconds now) {
  GroupState& g = state.groups[group];
  if (g.inquiry.phase != Phase::kStopping) return;
  if (m.verdict == Verdict::kRefused) {
    g.change.promised = std::max(g.change.promised, m.next_epoch);
    return give_up(state, group, now);
  }
  InquiryMember& member = groups::inquiry_members(state, group)[m.source];
  if (m.next_epoch != g.change.promised || !g.proposed.has(m.source) || member.answered) return;
  if (m.piece.size() < outcomes_of(state)) return;
  const bool was_in = g.live.has(m.source) || g.settled.has(m.source);
  if (m.epoch > g.epoch && !m.arrived) {
    if (g.change.settled) g.settled.assign(g.live);
    g.change.settled = false;
    g.epoch = m.epoch;
    groups::read_bits(g.live, groups::size_of(g), m.piece.subspan(outcomes_of(state)));
  }
  member.answered = true;
  if (was_in) {  // what others ended among themselves is nothing here
    merge(state, group, m.generation, m.piece.first(outcomes_of(state)));
    g.inquiry.window_base = std::min(g.inquiry.window_base, m.completed);
    g.inquiry.furthest = std::max(g.inquiry.furthest, m.completed);
    g.inquiry.let_go = std::max(g.inquiry.let_go, m.let_go.value_or(0));
  }
  pump(state, group, now);
}

void on_installed(NodeState& state, std::uint32_t group, const PeerMessage& m, Nanoseconds now) {
  GroupState& g = state.groups[group];
  if (g.inquiry.phase != Phase::kInstalling || m.next_epoch != g.epoch) return;
  if (m.verdict == Verdict::kRefused) return give_up(state, group, now);
  groups::inquiry_members(state, group)[m.source].answered = true;
  pump(state, group, now);
}

}  // namespace fibocast::epochs::leader
