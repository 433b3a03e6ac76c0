// The steps of a change at each member: it promises, installs and goes.
#include <algorithm>
#include <array>

#include "runtime/node/epochs.h"
#include "runtime/node/groups.h"
#include "runtime/node/operations.h"
#include "runtime/node/peers.h"
#include "runtime/node/presence.h"
#include "runtime/node/replan.h"
#include "runtime/node/slots.h"
#include "runtime/node/streams.h"

namespace fibocast::epochs {

namespace {

using Step = EpochChange::Step;

GenerationFate outcome_here(const NodeState& state, std::uint32_t group, Generation generation) {
  const Slot& s = state.slots[slots::index_of(state, group, generation)];
  if (!slots::holds(s, generation)) return GenerationFate::kNone;
  const bool barrier = s.operation == Operation::kBarrier;
  if (s.state == Slot::State::kOpen) return barrier ? GenerationFate::kRepeated : GenerationFate::kEnded;
  if (s.verdict == Verdict::kOk) return barrier ? GenerationFate::kReleased : GenerationFate::kDelivered;
  return GenerationFate::kDecided;
}

// A generation that is not open here ends all the same, so that those who call it later are told.
std::uint32_t slot_to_end(NodeState& state, std::uint32_t group, Generation generation, Nanoseconds now) {
  PeerMessage m;
  m.generation = generation;
  return operations::open_slot(state, group, m, now);
}

// A change that began anew may have no loss of its own.
Verdict lost_verdict(const RankSet& lost) { return lost.empty() ? Verdict::kCancelled : Verdict::kPeerLost; }

// With the ranks of the old epoch: what is told to others about an operation goes to those it was among.
void end_one(NodeState& state, std::uint32_t group, Generation generation, GenerationFate outcome, const RankSet& lost,
             Nanoseconds now) {
  const std::uint32_t slot = slots::index_of(state, group, generation);
  const Slot& s = state.slots[slot];
  if (!slots::holds(s, generation)) {
    const std::uint32_t ended = is_over(outcome) ? slot_to_end(state, group, generation, now) : kNoIndex;
    if (ended != kNoIndex) operations::conclude(state, ended, lost_verdict(lost), lost, now);
  } else if (s.operation != Operation::kBarrier) {
    operations::conclude(state, slot, lost_verdict(lost), lost, now);
  } else if (outcome == GenerationFate::kReleased) {
    operations::conclude(state, slot, s.called ? Verdict::kOk : Verdict::kStale, {}, now);
  }
}

// A newcomer has no slot that would ask how a generation was decided, and its callers may be beyond that one: its
// window would never move, and with it nobody's.
GenerationFate fate_at(std::byte told, bool newcomer) {
  const auto fate = static_cast<GenerationFate>(told);
  return newcomer && fate == GenerationFate::kDecided ? GenerationFate::kEnded : fate;
}

void end_operations(NodeState& state, std::uint32_t group, const PeerMessage& m, bool newcomer, Nanoseconds now) {
  for (Slot& s : groups::slots_of(state, group)) {  // those who pass data on do so no longer
    if (s.state != Slot::State::kDone || s.closed) continue;
    const auto slot = static_cast<std::uint32_t>(&s - state.slots.data());
    streams::give_up_sends(state, slot, kNoNode, now);
    operations::close_if_through(state, slot, now);
  }
  for (std::size_t i = 0; i < m.piece.size(); ++i) {
    const Generation generation = m.generation + static_cast<Generation>(i);
    const bool open = generation - state.groups[group].base < state.limits.open_generations;  // not over, nor wrapped
    if (open) end_one(state, group, generation, fate_at(m.piece[i], newcomer), m.ranks, now);
  }
  for (Slot& s : groups::slots_of(state, group)) s.owes_failure = false;  // the change tells them
}

// With the ranks of the new epoch.
void repeat_barriers(NodeState& state, std::uint32_t group, const PeerMessage& m, Nanoseconds now) {
  for (Slot& s : groups::slots_of(state, group)) {
    if (s.state != Slot::State::kOpen) continue;
    const auto slot = static_cast<std::uint32_t>(&s - state.slots.data());
    const Generation at = s.generation - m.generation;
    if (!operations::repeat(state, slot, now))
      operations::conclude(state, slot, lost_verdict(m.ranks), m.ranks, now);
    else if (at < m.piece.size() && static_cast<GenerationFate>(m.piece[at]) == GenerationFate::kDecided)
      slots::set_due(state, s, now);
  }
}

bool send_stopped(NodeState& state, std::uint32_t group, NodeId leader, Nanoseconds now) {
  const GroupState& g = state.groups[group];
  PeerMessage answer = message(g, PeerMessageType::kEpochStopped, g.change.promised);
  answer.verdict = Verdict::kOk, answer.arrived = g.change.settled;
  answer.completed = g.base, answer.generation = first_outcome(state, g);
  if (g.change.let_go > g.base) answer.let_go = g.change.let_go;
  std::array<std::byte, kMostPieceBytes> piece;
  const auto told = outcomes(state, group);
  std::ranges::copy(told, piece.begin());
  const std::size_t bits = groups::write_bits(g.live, groups::size_of(g), std::span(piece).subspan(told.size()));
  answer.piece = std::span(piece).first(told.size() + bits);
  return peers::send(state, leader, answer, true, now);
}

bool send_installed(NodeState& state, std::uint32_t group, NodeId leader, Nanoseconds now) {
  PeerMessage answer = message(state.groups[group], PeerMessageType::kEpochInstalled, state.groups[group].epoch);
  answer.verdict = Verdict::kOk;
  return peers::send(state, leader, answer, true, now);
}

void on_stop(NodeState& state, std::uint32_t group, NodeId from, const PeerMessage& m, Nanoseconds now) {
  GroupState& g = state.groups[group];
  EpochChange& c = g.change;
  const bool settled_without = c.settled && !c.outside && m.epoch < g.epoch && !g.live.has(m.source);
  if (settled_without) return void(tell_outside(state, group, from, now));
  if (m.next_epoch < c.promised || (m.next_epoch == c.promised && c.step != Step::kStopped)) {
    PeerMessage answer = message(g, PeerMessageType::kEpochStopped, c.promised);
    answer.verdict = Verdict::kRefused;
    peers::send(state, from, answer, true, now);
    return;
  }
  if (!groups::read_bits(g.proposed, groups::size_of(g), m.piece) || !g.proposed.has(g.rank)) return;
  stop(state, group, m.next_epoch, now);
  c.leader = m.source;
  answer_leader(state, group, now);
}

void on_install(NodeState& state, std::uint32_t group, NodeId from, const PeerMessage& m, Nanoseconds now) {
  if (!m.understood) return;  // by a plan that this node does not know it cannot take part
  GroupState& g = state.groups[group];
  const bool again = g.epoch == m.next_epoch && g.change.step == Step::kInstalled;
  const bool stopped = g.change.step == Step::kStopped || replan::is_through(g, m.next_epoch);
  const bool promised = g.change.promised == m.next_epoch && stopped;
  if (again || (promised && install(state, group, m, now))) {
    g.change.leader = m.source;  // who was outside may have asked others meanwhile
    return answer_leader(state, group, now);
  }
  PeerMessage answer = message(g, PeerMessageType::kEpochInstalled, m.next_epoch);
  answer.verdict = Verdict::kRefused;
  peers::send(state, from, answer, true, now);  // else asked again
}

void on_go(NodeState& state, std::uint32_t group, const PeerMessage& m, Nanoseconds now) {
  const GroupState& g = state.groups[group];
  if (g.epoch == m.next_epoch && g.change.step == Step::kInstalled) go(state, group, now);
}

void on_wanted(NodeState& state, std::uint32_t group, NodeId from, const PeerMessage& m, Nanoseconds now) {
  GroupState& g = state.groups[group];
  if (g.change.outside || leader_of(state, g) != g.rank) {
    if (!g.live.has(m.source)) tell_outside(state, group, from, now);
    return;
  }
  // What it wanted is over, or under way.
  if (leader::is_busy(g) ? g.proposed.has(m.source) : g.live.has(m.source) && m.epoch < g.epoch) return;
  const auto members = groups::inquiry_members(state, group);
  members[m.source].wants_in = !g.live.has(m.source) || members[m.source].left;
  for (Rank r = 0; r < members.size(); ++r)  // not through what the peer names: that could be four billion
    if (m.ranks.index_of(r) != kNoRank) members[r].missed = true;
  want(state, g, now);
}

void on_behind(NodeState& state, std::uint32_t group, const PeerMessage& m, Nanoseconds now) {
  GroupState& g = state.groups[group];
  EpochChange& c = g.change;
  if (m.root >= groups::size_of(g) || m.root == g.rank) return;
  if (!c.outside && m.next_epoch < g.epoch) return;  // it was said before we were let in
  if (!c.outside) leave(state, group, now);
  c.leader = m.root;
}

}  // namespace

void answer_leader(NodeState& state, std::uint32_t group, Nanoseconds now) {
  EpochChange& c = state.groups[group].change;
  c.answer_owed = false;
  if (c.leader == kNoRank || c.leader == state.groups[group].rank) return;
  const NodeId leader = groups::node_of(state.groups[group], c.leader);
  if (c.step == Step::kStopped) c.answer_owed = !send_stopped(state, group, leader, now);
  if (c.step == Step::kInstalled) c.answer_owed = !send_installed(state, group, leader, now);
}

std::span<std::byte> outcomes(NodeState& state, std::uint32_t group) {
  const auto all = state.outcomes.subspan(std::size_t{group} * outcomes_of(state), outcomes_of(state));
  const Generation first = first_outcome(state, state.groups[group]);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::byte>(outcome_here(state, group, first + i));
  return all;
}

namespace {

// While the schedules are those by which it began.
void end_waiting(NodeState& state, std::uint32_t group) {
  for (Slot& s : groups::slots_of(state, group))
    presence::end_waiting(state, static_cast<std::uint32_t>(&s - state.slots.data()));
}

}  // namespace

void stop(NodeState& state, std::uint32_t group, Epoch next, Nanoseconds now) {
  GroupState& g = state.groups[group];
  EpochChange& c = g.change;
  if (c.step == Step::kRunning && !c.wanted) c.since = now;
  c.step = Step::kStopped;
  c.promised = next;
  g.hold = {};
  c.wanted = false;  // this change is the one; what happens from now on wants another
  c.due = now + kAskAgain;
  forget_inquiry(g);
  end_waiting(state, group);
  const auto members = groups::inquiry_members(state, group);
  for (Rank r = 0; r < members.size(); ++r)
    if (g.proposed.has(r)) members[r].left = members[r].restarted = members[r].wants_in = false;
  state.slot_timer = std::min(state.slot_timer, c.due);
}

namespace {

// A given tree stays. Schedules that the engine keeps are those of the former plan.
void take_plan(NodeState& state, std::uint32_t group, const Plan& plan) {
  GroupState& g = state.groups[group];
  if (has_given_tree(g.plan) || g.plan == plan) return;
  g.plan = plan;
  for (const Slot& s : groups::slots_of(state, group))
    state.engine->forget(static_cast<std::uint32_t>(&s - state.slots.data()));
}

}  // namespace

bool install(NodeState& state, std::uint32_t group, const PeerMessage& m, Nanoseconds now) {
  GroupState& g = state.groups[group];
  EpochChange& c = g.change;
  if (g.hold.number != 0) {  // no call comes in between
    c.step = Step::kStopped;
    c.leader = g.hold.leader, c.since = now, c.due = now + kAskAgain;
    g.hold = {};
    end_waiting(state, group);  // the window may be past what still waits for its verdict
  }
  const bool newcomer = c.outside || !(g.live.has(g.rank) || g.settled.has(g.rank));
  if (c.settled) g.settled.assign(g.live);
  g.epoch = m.next_epoch;
  if (c.outside || c.cut_off) c.since = now;  // how long it was away is not how long it waits for this
  c.settled = c.outside = c.cut_off = false;
  if (newcomer) operations::begin_at(state, group, m.completed, now);
  end_operations(state, group, m, newcomer, now);
  if (m.let_go.value_or(0) > g.base) operations::begin_at(state, group, *m.let_go, now);
  c.let_go = 0;
  take_plan(state, group, m.plan);
  if (!groups::set_live(state, group, g.proposed)) return false;
  repeat_barriers(state, group, m, now);
  c.step = Step::kInstalled;
  g.global_base = std::max(g.global_base, std::min(m.window_base, g.base));
  return true;
}

void go(NodeState& state, std::uint32_t group, Nanoseconds now) {
  GroupState& g = state.groups[group];
  g.change.step = Step::kRunning;
  g.change.settled = true, g.change.cut_off = false;
  g.settled.assign(g.live);
  const auto members = groups::inquiry_members(state, group);
  g.change.wanted = false;
  g.change.since = now;  // one that is still wanted begins now
  const bool leads = leader_of(state, g) == g.rank;
  for (Rank r = 0; r < members.size(); ++r) {  // what has happened since the members were stopped is for another change
    InquiryMember& m = members[r];
    const bool may_join = leads && !(g.live.has(r) && !m.left) && peers::connected(state, groups::node_of(g, r));
    m.wants_in = m.wants_in && may_join;  // whom another one leads asks there
    if (!m.left) m.dead = m.restarted = false;
    g.change.wanted = g.change.wanted || m.wants_in || (m.left && g.live.has(r));
  }
  for (InquiryMember& m : members) m.missed = m.missed && g.change.wanted;
  for (Slot& s : groups::slots_of(state, group))
    if (s.state == Slot::State::kOpen && s.called)
      presence::begin_waiting(state, static_cast<std::uint32_t>(&s - state.slots.data()), now);
  ++state.counters.epochs;
  if (g.change.let_go > g.base) want(state, g, now);  // who was lost is back, and the others do not know of it
  operations::retry_calls(state, group, now);
  state.again = true;
}

void on_message(NodeState& state, std::uint32_t group, NodeId from, const PeerMessage& m, Nanoseconds now) {
  const GroupState& g = state.groups[group];
  const bool plausible = m.source < groups::size_of(g) && groups::node_of(g, m.source) == from;
  if (!may_change(g) || !plausible || m.source == g.rank) {
    ++state.counters.malformed;
    return;
  }
  switch (m.type) {
    case PeerMessageType::kEpochStop: return on_stop(state, group, from, m, now);
    case PeerMessageType::kEpochStopped: return leader::on_stopped(state, group, m, now);
    case PeerMessageType::kEpochInstall: return on_install(state, group, from, m, now);
    case PeerMessageType::kEpochInstalled: return leader::on_installed(state, group, m, now);
    case PeerMessageType::kEpochGo: return on_go(state, group, m, now);
    case PeerMessageType::kEpochHold: return replan::on_hold(state, group, m, now);
    case PeerMessageType::kEpochHeld: return replan::on_held(state, group, m, now);
    case PeerMessageType::kEpochWanted: return on_wanted(state, group, from, m, now);
    default: return on_behind(state, group, m, now);
  }
}

}  // namespace fibocast::epochs
