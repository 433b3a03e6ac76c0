#include "runtime/node/window_count.h"

#include <algorithm>

#include "runtime/node/groups.h"
#include "runtime/node/operations.h"
#include "runtime/node/peers.h"
#include "runtime/node/presence.h"
#include "runtime/node/window.h"

namespace fibocast::window_count {

namespace {

// Calls are held: whom they wait for must be heard so often (FailureDetector: the waiting interval).
Nanoseconds look_again(const NodeState& state) {
  return std::min<Nanoseconds>(25'000'000, state.settings.suspicion / 20);
}

PeerMessage message(const GroupState& g, PeerMessageType type) {
  PeerMessage m = groups::message_of(g, type);
  m.completed = g.base;
  return m;
}

// The lowest rank that lives and knows the group.
NodeId counter(const NodeState& state, std::uint32_t group) {
  const GroupState& g = state.groups[group];
  const auto members = groups::inquiry_members(state, group);
  for (Rank r = 0; r < members.size(); ++r) {
    const NodeId node = groups::node_of(g, r);
    if (node == state.settings.self || (!members[r].lacks && peers::connected(state, node))) return node;
  }
  return state.settings.self;
}

// Somebody who waits for this group's inquiry to be over: a verdict moves the window too.
bool wants_verdict(NodeState& state, std::uint32_t group) {
  return std::ranges::any_of(groups::slots_of(state, group),
                             [](const Slot& s) { return s.state == Slot::State::kOpen && s.asked_at != 0; });
}

void begin(NodeState& state, std::uint32_t group, Nanoseconds now) {
  GroupState& g = state.groups[group];
  if (g.inquiry.phase != Inquiry::Phase::kIdle || wants_verdict(state, group)) return;  // asked again
  groups::begin_inquiry(state, group, Inquiry::Phase::kCounting, now, now + state.settings.suspicion);
  g.inquiry.window_base = g.base;
  groups::inquiry_members(state, group)[g.rank] = InquiryMember{.asked = true, .answered = true};
  pump(state, group, now);
}

void ask(NodeState& state, std::uint32_t group, Nanoseconds now) {
  const GroupState& g = state.groups[group];
  const NodeId to = counter(state, group);
  if (to == state.settings.self)
    begin(state, group, now);
  else
    peers::send(state, to, message(g, PeerMessageType::kWindowAsk), true, now);
}

// Of a file that we have read anew since: members that were started with the new one do not know the group.
bool is_of_former_file(const NodeState& state, const GroupState& g) {
  return !g.created && !groups::is_default_here(state, g.id);
}

// Once in a suspicion time, for who looks again and again: it may be an application that is waited for.
bool is_time_to_count(const NodeState& state, Nanoseconds now) {
  return now / state.settings.suspicion != (now - look_again(state)) / state.settings.suspicion;
}

// True: all have answered but those who are lost.
bool ask_members(NodeState& state, std::uint32_t group, Nanoseconds now) {
  const GroupState& g = state.groups[group];
  const auto members = groups::inquiry_members(state, group);
  bool all = true;
  for (Rank r = 0; r < members.size(); ++r) {
    const NodeId node = groups::node_of(g, r);
    if (members[r].answered || presence::is_lost_to_somebody(state, node)) continue;
    all = false;
    if (!members[r].asked && peers::connected(state, node))
      members[r].asked = peers::send(state, node, message(g, PeerMessageType::kWindowQuestion), true, now);
  }
  return all;
}

// Whose channel is full asks for the count itself, if its calls wait.
void finish(NodeState& state, std::uint32_t group, Nanoseconds now) {
  GroupState& g = state.groups[group];
  const Generation base = g.inquiry.window_base;
  g.inquiry.phase = Inquiry::Phase::kIdle;
  PeerMessage m = message(g, PeerMessageType::kWindow);
  m.window_base = std::max(base, g.global_base), m.completed = 0;
  for (Rank r = 0; r < groups::size_of(g); ++r) {
    const NodeId node = groups::node_of(g, r);
    if (node != state.settings.self && peers::connected(state, node)) peers::send(state, node, m, true, now);
  }
  for (Generation& known : groups::child_bases(state, group)) known = std::max(known, base);
  operations::sync_window(state, group, base, now);
}

}  // namespace

void look_after(NodeState& state, std::uint32_t group, Nanoseconds now) {
  GroupState& g = state.groups[group];
  if (g.count_again < now && presence::lost_member(state, group) == kNoRank) g.count_again = now + look_again(state);
  state.slot_timer = std::min(state.slot_timer, g.count_again);
}

void ask_if_stuck(NodeState& state, std::uint32_t group, Nanoseconds now) {
  GroupState& g = state.groups[group];
  if ((g.held == 0 && !g.crowded) || g.rank == kNoRank) return;
  if (g.count_again <= now) {
    const bool is_lost = presence::lost_member(state, group) != kNoRank;
    const bool asks = is_lost || (is_of_former_file(state, g) && is_time_to_count(state, now));
    g.count_again = now + (is_lost ? kAskAgain : look_again(state));
    g.crowded = false;  // who still waits outside says so again
    if (is_lost) operations::retry_calls(state, group, now);
    if (!is_lost) window::probe_awaited(state, group, now);
    if (asks) ask(state, group, now);
  }
  state.slot_timer = std::min(state.slot_timer, g.count_again);
}

void on_ask(NodeState& state, std::uint32_t group, Nanoseconds now) { begin(state, group, now); }

void on_question(NodeState& state, std::uint32_t group, NodeId from, Nanoseconds now) {
  peers::send(state, from, message(state.groups[group], PeerMessageType::kWindowAnswer), true,
              now);  // else asked again
}

void on_answer(NodeState& state, std::uint32_t group, NodeId from, const PeerMessage& m, Nanoseconds now) {
  GroupState& g = state.groups[group];
  const Rank rank = g.members.index_of(from);
  if (g.inquiry.phase != Inquiry::Phase::kCounting || rank == kNoRank) return;
  groups::inquiry_members(state, group)[rank].answered = true;
  g.inquiry.window_base = std::min(g.inquiry.window_base, m.completed);
  pump(state, group, now);
}

void on_unknown_group(NodeState& state, std::uint32_t group, NodeId from, Nanoseconds now) {
  const GroupState& g = state.groups[group];
  const Rank rank = g.members.index_of(from);
  if (rank == kNoRank) return;
  InquiryMember& member = groups::inquiry_members(state, group)[rank];
  member.lacks = true;
  // Who has not read the new file yet is waited for, as who has not come up.
  if (g.inquiry.phase != Inquiry::Phase::kCounting || !is_of_former_file(state, g)) return;
  member.answered = true;
  pump(state, group, now);
}

void pump(NodeState& state, std::uint32_t group, Nanoseconds now) {
  GroupState& g = state.groups[group];
  if (g.inquiry.phase != Inquiry::Phase::kCounting) return;
  if (ask_members(state, group, now))
    finish(state, group, now);
  else if (now >= g.inquiry.due)
    g.inquiry.phase = Inquiry::Phase::kIdle;  // somebody neither answers nor is lost: asked again
}

}  // namespace fibocast::window_count
