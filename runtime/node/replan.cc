#include "runtime/node/replan.h"

#include <algorithm>

#include "runtime/node/epochs.h"
#include "runtime/node/groups.h"
#include "runtime/node/operations.h"
#include "runtime/node/peers.h"
#include "runtime/node/presence.h"
#include "runtime/node/slots.h"

namespace fibocast::replan {

namespace {

using Phase = Replanning::Phase;
using Step = EpochChange::Step;

// The first generation that nobody has begun, as far as this node knows.
Generation next_unopened(const NodeState& state, std::uint32_t group) {
  const GroupState& g = state.groups[group];
  Generation next = g.base;
  for (std::uint32_t k = 0; k < state.limits.open_generations; ++k)
    if (slots::holds(state.slots[slots::index_of(state, group, g.base + k)], g.base + k)) next = g.base + k + 1;
  return next;
}

bool is_settled(const GroupState& g) {
  const EpochChange& c = g.change;
  return c.step == Step::kRunning && c.settled && !c.outside && !c.cut_off && !c.wanted;
}

void hold(NodeState& state, std::uint32_t group, Epoch number, Rank leader) {
  GroupState& g = state.groups[group];
  g.change.promised = number;
  g.hold = {.number = number, .leader = leader, .limit = next_unopened(state, group)};
}

// -- who leads

RankSet absent_members(const NodeState& state, std::uint32_t group) {
  const GroupState& g = state.groups[group];
  RankSet absent;
  for (Rank r = 0; r < groups::size_of(g); ++r) {
    const NodeId node = groups::node_of(g, r);
    const bool here = r == g.rank || (peers::connected(state, node) && !presence::is_lost(state, node));
    if (groups::is_live(g, r) && !here) absent.add(r);
  }
  return absent;
}

void finish(NodeState& state, Verdict verdict, const RankSet& ranks) {
  Replanning& p = state.replanning;
  p.phase = Phase::kIdle;
  Request& request = state.requests->at(p.request);
  request.done.verdict = verdict, request.done.ranks = ranks;
  state.requests->answer(p.request);
}

template <class Function>
void each_other_member(const NodeState& state, std::uint32_t group, Function function) {
  const GroupState& g = state.groups[group];
  for (Rank r = 0; r < groups::size_of(g); ++r)
    if (r != g.rank && groups::is_live(g, r)) function(r, groups::inquiry_members(state, group)[r]);
}

void begin_phase(NodeState& state, std::uint32_t group, Phase phase, Nanoseconds now) {
  state.replanning.phase = phase;
  groups::begin_inquiry(state, group, Inquiry::Phase::kHolding, now, now + state.settings.suspicion);
}

void tell_members(NodeState& state, std::uint32_t group, Nanoseconds now) {
  GroupState& g = state.groups[group];
  PeerMessage m = epochs::message(g, PeerMessageType::kEpochHold, state.replanning.number);
  m.arrived = state.replanning.phase == Phase::kDraining;
  m.plan = state.replanning.plan;
  m.generation = g.hold.limit;
  m.verdict = state.replanning.phase == Phase::kReleasing ? Verdict::kRefused : Verdict::kOk;
  each_other_member(state, group, [&](Rank r, InquiryMember& member) {
    if (!member.asked) member.asked = peers::send(state, groups::node_of(g, r), m, true, now);
  });
}

// The attempt is over; all are told to go on as before.
void back_off(NodeState& state, std::uint32_t group, Nanoseconds now) {
  const bool holds_still = state.groups[group].hold.number == state.replanning.number;
  begin_phase(state, group, Phase::kReleasing, now);
  if (holds_still) release(state, group, now);
}

bool all_told(const NodeState& state, std::uint32_t group) {
  bool all = true;
  each_other_member(state, group, [&](Rank r, const InquiryMember& member) {
    all = all && (member.asked || presence::is_lost(state, groups::node_of(state.groups[group], r)));
  });
  return all;
}

// Longer each time: another change that keeps coming in between gets through.
void wait_for_another_attempt(Replanning& p, Nanoseconds now) {
  p.phase = Phase::kWaiting;
  p.again = now + (kAskAgain << std::min<std::uint32_t>(p.attempts++, 4));
}

void end_attempt(NodeState& state, std::uint32_t group, Nanoseconds now) {
  Replanning& p = state.replanning;
  GroupState& g = state.groups[group];
  const bool preempted = g.inquiry.phase != Inquiry::Phase::kHolding;
  if (!preempted) tell_members(state, group, now);
  if (!preempted && !all_told(state, group)) return;
  if (!preempted) g.inquiry.phase = Inquiry::Phase::kIdle;
  wait_for_another_attempt(p, now);
}

bool all_answered(const NodeState& state, std::uint32_t group) {
  bool all = true;
  each_other_member(state, group, [&](Rank, const InquiryMember& member) { all = all && member.answered; });
  return all;
}

void try_to_begin(NodeState& state, std::uint32_t group, Nanoseconds now) {
  Replanning& p = state.replanning;
  GroupState& g = state.groups[group];
  RankSet absent = absent_members(state, group);
  if (p.impossible != kNoRank) absent.add(p.impossible);
  if (now >= p.until || p.impossible != kNoRank) return finish(state, Verdict::kRefused, absent);
  if (now < p.again) return;
  p.again = now + kAskAgain;
  if (!is_settled(g) || g.hold.number != 0 || g.inquiry.phase != Inquiry::Phase::kIdle || !absent.empty()) return;
  p.number = epochs::leader::next_number(state, g);
  hold(state, group, p.number, g.rank);
  p.limit = g.hold.limit;
  begin_phase(state, group, Phase::kHolding, now);
}

void go_on(NodeState& state, std::uint32_t group, Nanoseconds now) {
  Replanning& p = state.replanning;
  GroupState& g = state.groups[group];
  if (g.inquiry.phase != Inquiry::Phase::kHolding) return wait_for_another_attempt(p, now);
  const bool holds_still = g.hold.number == p.number;
  if (!holds_still || now >= g.inquiry.due || !absent_members(state, group).empty()) return back_off(state, group, now);
  tell_members(state, group, now);
  if (!all_answered(state, group)) return;
  if (p.phase == Phase::kHolding) {
    g.hold.limit = p.limit;
    begin_phase(state, group, Phase::kDraining, now);
    operations::retry_calls(state, group, now);
    tell_members(state, group, now);
  }
  if (p.phase == Phase::kDraining && all_answered(state, group) && is_through(g, p.number)) {
    p.phase = Phase::kSwitching;
    epochs::leader::begin_planned(state, group, now);
  }
}

// The change may end without the plan, if a member was lost in it; or with it, but only once that one is back.
void look_if_over(NodeState& state, std::uint32_t group, Nanoseconds now) {
  Replanning& p = state.replanning;
  const GroupState& g = state.groups[group];
  const bool is_over = is_settled(g) && !epochs::leader::is_busy(g);
  if (!is_over && now >= p.until) return finish(state, Verdict::kRefused, absent_members(state, group));
  if (!is_over) return;
  if (g.plan == p.plan) return finish(state, Verdict::kOk, {});
  p.phase = Phase::kWaiting;
  p.again = now;
}

void lead(NodeState& state, std::uint32_t group, Nanoseconds now) {
  Replanning& p = state.replanning;
  if (p.phase == Phase::kWaiting) try_to_begin(state, group, now);
  if (p.phase == Phase::kHolding || p.phase == Phase::kDraining) go_on(state, group, now);
  if (p.phase == Phase::kReleasing) end_attempt(state, group, now);
  if (p.phase == Phase::kSwitching) look_if_over(state, group, now);
  if (p.phase == Phase::kWaiting) state.slot_timer = std::min({state.slot_timer, p.again, p.until});
  if (p.phase == Phase::kSwitching) state.slot_timer = std::min(state.slot_timer, p.until);
  if (p.phase == Phase::kHolding || p.phase == Phase::kDraining)
    state.slot_timer = std::min(state.slot_timer, state.groups[group].inquiry.due);
}

// -- each member

void answer(NodeState& state, std::uint32_t group, Nanoseconds now) {
  GroupState& g = state.groups[group];
  if (g.hold.draining && !is_through(g, g.hold.number)) return;
  PeerMessage m = epochs::message(g, PeerMessageType::kEpochHeld, g.hold.number);
  m.verdict = Verdict::kOk;
  m.generation = g.hold.limit, m.arrived = g.hold.draining;
  g.hold.answer_owed = !peers::send(state, groups::node_of(g, g.hold.leader), m, true, now);
}

void send_refusal(NodeState& state, std::uint32_t group, Nanoseconds now) {
  GroupState& g = state.groups[group];
  PeerMessage m = epochs::message(g, PeerMessageType::kEpochHeld, g.plan_refusal.number);
  m.verdict = g.plan_refusal.verdict;
  m.epoch = std::max(g.epoch, g.change.promised);  // the next attempt needs a later number
  if (peers::send(state, groups::node_of(g, g.plan_refusal.to), m, true, now)) g.plan_refusal = {};
}

}  // namespace

void release(NodeState& state, std::uint32_t group, Nanoseconds now) {
  state.groups[group].hold = {};
  operations::retry_calls(state, group, now);
}

bool is_through(const GroupState& g, Epoch number) {
  const bool asks = g.inquiry.phase != Inquiry::Phase::kIdle && g.inquiry.phase != Inquiry::Phase::kHolding;
  return number != 0 && g.hold.number == number && g.base == g.hold.limit && !asks;
}

Admission begin(NodeState& state, std::string_view name, const Plan& plan, std::uint64_t cookie, Nanoseconds now) {
  const std::uint32_t group = groups::find_by_name(state, name);
  if (group == kNoIndex || !state.groups[group].created) return Admission::kUnknownGroup;
  const GroupState& g = state.groups[group];
  if (g.rank == kNoRank || !groups::is_live(g, g.rank)) return Admission::kNotMember;
  const bool too_large = groups::size_of(g) > kMostShrinkingMembers;
  if (g.routers > 0 || too_large || state.nic->enabled() || state.detector == nullptr) return Admission::kBadPolicy;
  if (has_given_tree(plan) || has_given_tree(g.plan) || !groups::fits(state, group, plan)) return Admission::kNoPlan;
  if (state.replanning.phase != Phase::kIdle) return Admission::kWouldBlock;
  const std::uint32_t request = state.requests->add(Request::State::kWaiting);
  if (request == kNoRequest) return Admission::kWouldBlock;
  state.requests->at(request).answer = Event::Kind::kGroupReady;
  state.requests->at(request).done.cookie = cookie;
  state.replanning = {.phase = Phase::kWaiting,
                      .group = group,
                      .request = request,
                      .plan = plan,
                      .again = now,
                      .until = now + state.settings.group_patience};
  pump(state, group, now);
  return Admission::kTaken;
}

void on_hold(NodeState& state, std::uint32_t group, const PeerMessage& m, Nanoseconds now) {
  GroupState& g = state.groups[group];
  const bool ours = g.hold.number != 0 && g.hold.number == m.next_epoch;  // 0: we hold for nobody
  if (m.verdict == Verdict::kRefused) return ours ? release(state, group, now) : void();
  const bool free = is_settled(g) && m.epoch == g.epoch && m.next_epoch > g.change.promised;
  if (!ours && (!free || !m.understood || !groups::fits(state, group, m.plan))) {
    g.plan_refusal = {m.next_epoch, m.source, free ? Verdict::kMismatch : Verdict::kRefused};
    return pump(state, group, now);
  }
  if (!ours) hold(state, group, m.next_epoch, m.source);
  g.hold.answer_owed = true;
  if (m.arrived) {
    g.hold.limit = m.generation, g.hold.draining = true;
    operations::retry_calls(state, group, now);
  }
  pump(state, group, now);
}

void on_held(NodeState& state, std::uint32_t group, const PeerMessage& m, Nanoseconds now) {
  Replanning& p = state.replanning;
  const bool ours = p.group == group && p.number == m.next_epoch;
  if (!ours || (p.phase != Phase::kHolding && p.phase != Phase::kDraining)) return;
  if (m.verdict != Verdict::kOk) {
    EpochChange& c = state.groups[group].change;
    c.promised = std::max(c.promised, m.epoch);
    back_off(state, group, now);
    p.impossible = m.verdict == Verdict::kMismatch ? m.source : kNoRank;
    return pump(state, group, now);
  }
  if (m.arrived != (p.phase == Phase::kDraining)) return;
  groups::inquiry_members(state, group)[m.source].answered = true;
  if (p.phase == Phase::kHolding) p.limit = std::max(p.limit, m.generation);
  pump(state, group, now);
}

void pump(NodeState& state, std::uint32_t group, Nanoseconds now) {
  GroupState& g = state.groups[group];
  if (state.replanning.phase != Phase::kIdle && state.replanning.group == group) lead(state, group, now);
  if (g.hold.answer_owed) answer(state, group, now);
  if (g.plan_refusal.number != 0) send_refusal(state, group, now);
}

void on_lost(NodeState& state, std::uint32_t group, NodeId node, Nanoseconds now) {
  const GroupState& g = state.groups[group];
  if (g.hold.number != 0 && groups::node_of(g, g.hold.leader) == node) release(state, group, now);
}

void forget(NodeState& state, std::uint32_t group) {
  state.groups[group].hold = {};
  if (state.replanning.phase != Phase::kIdle && state.replanning.group == group) finish(state, Verdict::kRefused, {});
}

}  // namespace fibocast::replan
