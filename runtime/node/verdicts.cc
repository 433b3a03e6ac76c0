#include "runtime/node/verdicts.h"

#include <algorithm>

#include "runtime/node/abandon.h"
#include "runtime/node/comparison.h"
#include "runtime/node/coordinators.h"
#include "runtime/node/doubts.h"
#include "runtime/node/epochs.h"
#include "runtime/node/former_life.h"
#include "runtime/node/greetings.h"
#include "runtime/node/group_admin.h"
#include "runtime/node/group_trees.h"
#include "runtime/node/judgement.h"
#include "runtime/node/operations.h"
#include "runtime/node/peers.h"
#include "runtime/node/presence.h"
#include "runtime/node/slots.h"
#include "runtime/node/streams.h"
#include "runtime/node/window_count.h"

namespace fibocast::verdicts {

namespace {

constexpr Nanoseconds kUntilThereIsRoom = 5'000'000;  // a channel that is full has room again after a round trip

Verdict reason_of(const Slot& s) {
  if (s.reason == Verdict::kMismatch) return s.reason;
  if (s.lost == kNoRank) return Verdict::kDeadlineExceeded;
  return s.reason == Verdict::kCallerLost ? s.reason : Verdict::kPeerLost;
}

// Freezes a slot here and says how far it is.
PeerMessage freeze(NodeState& state, std::uint32_t group, const PeerMessage& question, Nanoseconds now) {
  GroupState& g = state.groups[group];
  PeerMessage answer = question;
  answer.type = PeerMessageType::kFreezeAnswer;
  answer.source = g.rank;
  answer.window_base = g.global_base;
  answer.verdict = Verdict::kPending;
  answer.arrived = false;
  answer.label = abandon::label_of(g, question.generation);
  answer.completed = g.base == question.generation ? g.base + 1 : g.base;  // once this one is over
  const std::uint32_t slot = operations::open_slot(state, group, question, now);
  const std::uint32_t recorded = operations::recorded_slot(state, group, question.generation);
  const std::uint32_t known = recorded != kNoIndex ? recorded : slot;
  const bool differs = known != kNoIndex &&
                       (state.slots[known].operation != question.operation || state.slots[known].root != question.root);
  if (recorded != kNoIndex) answer.verdict = state.slots[recorded].verdict, answer.ranks = state.slots[recorded].ranks;
  if (answer.verdict == Verdict::kOk) answer.ended_ago = former_life::since(state.slots[recorded].ended_at, now);
  if (known == kNoIndex && question.generation < g.base) answer.verdict = Verdict::kStale;  // over, and forgotten
  if (differs) answer.verdict = Verdict::kMismatch;
  if (recorded == kNoIndex && slot != kNoIndex) {
    Slot& s = state.slots[slot];
    if (!s.ranks.empty()) answer.verdict = Verdict::kMismatch, answer.ranks = s.ranks;
    if (!s.frozen) s.arrived_when_frozen = s.called;
    s.frozen = true;
    slots::set_due(state, s, now + state.settings.suspicion + kAskAgain);
    // Nobody waits for those who are handed something out; the source is what may be missing.
    const bool brings = !(is_push(s.operation) && s.root != g.rank) && g.rank < groups::defined_participants(g);
    answer.arrived = !brings || s.arrived_when_frozen;
  }
  return answer;
}

PeerMessage question_of(const NodeState& state, std::uint32_t group) {
  const GroupState& g = state.groups[group];
  const Inquiry& q = g.inquiry;
  PeerMessage m = groups::message_of(g, PeerMessageType::kFreeze);
  m.generation = q.generation, m.operation = q.operation, m.root = q.root, m.charged = q.charged;
  m.choice = q.choice, m.element = q.type, m.op = q.op;
  m.total_bytes = q.total_bytes, m.segment_bytes = q.segment_bytes;
  m.verdict = q.reason, m.label = abandon::label_of(g, q.generation);
  return m;
}

void ask_about(NodeState& state, std::uint32_t slot, Inquiry::Phase phase, Nanoseconds now) {
  const std::uint32_t group = slots::group_of(state, slot);
  groups::begin_inquiry(state, group, phase, now, now + state.settings.suspicion);
  const Slot& s = state.slots[slot];
  Inquiry& q = state.groups[group].inquiry;
  q.generation = s.generation, q.operation = s.operation, q.root = s.root, q.charged = s.charged;
  q.total_bytes = s.total_bytes, q.segment_bytes = s.segment_bytes;
  q.choice = s.choice, q.type = s.type, q.op = s.op;
  q.window_base = ~Generation{0};
}

void begin(NodeState& state, std::uint32_t slot, Verdict reason, Nanoseconds now) {
  const std::uint32_t group = slots::group_of(state, slot);
  GroupState& g = state.groups[group];
  if (g.inquiry.phase != Inquiry::Phase::kIdle) return;  // asked again after kAskAgain
  ask_about(state, slot, Inquiry::Phase::kFreezing, now);
  g.inquiry.reason = reason, g.inquiry.lost = state.slots[slot].lost;
  judgement::take_answer(state, group, g.rank, freeze(state, group, question_of(state, group), now), now);
}

void end_freezing(NodeState& state, std::uint32_t group, Nanoseconds now) {
  GroupState& g = state.groups[group];
  Inquiry& q = g.inquiry;
  const std::uint32_t slot = slots::index_of(state, group, q.generation);
  if (q.reason == Verdict::kCallerLost && presence::lost_member(state, group) != kNoRank) q.reason = Verdict::kPeerLost;
  const bool told = q.verdict != Verdict::kPending;
  if (!told) q.ranks = is_loss(q.reason) ? judgement::lost_ranks(state, group) : judgement::missing_ranks(state, group);
  q.verdict = judgement::decide(q, q.operation, q.ranks);
  if (q.verdict == Verdict::kOk || (q.verdict == Verdict::kMismatch && !told)) q.ranks = {};
  q.phase = Inquiry::Phase::kTelling, q.due = now + state.settings.suspicion;
  for (InquiryMember& m : groups::inquiry_members(state, group)) m.asked = false;
  const bool of_former_life = q.verdict == Verdict::kOk && former_life::was_before(state, q.ended_at);
  if (slots::holds(state.slots[slot], q.generation))
    operations::conclude(state, slot, of_former_life ? Verdict::kStale : q.verdict, q.ranks, now);
}

bool ask_members(NodeState& state, std::uint32_t group, Nanoseconds now) {
  GroupState& g = state.groups[group];
  const PeerMessage question = question_of(state, group);
  const auto members = groups::inquiry_members(state, group);
  bool all_heard = true;
  for (Rank r = 0; r < members.size(); ++r) {
    const NodeId node = groups::node_of(g, r);
    if (members[r].answered || node == state.settings.self || !judgement::is_concerned(g, r)) continue;
    if (!peers::connected(state, node)) {  // nobody there: missing, without waiting longer
      all_heard = all_heard && !peers::may_come(state, node, now);
      continue;
    }
    if (!members[r].asked) members[r].asked = peers::send(state, node, question, true, now);
    all_heard = false;
  }
  return all_heard;
}

bool tell_members(NodeState& state, std::uint32_t group, Nanoseconds now) {
  GroupState& g = state.groups[group];
  PeerMessage m = question_of(state, group);
  m.type = PeerMessageType::kVerdict;
  m.verdict = g.inquiry.verdict, m.ranks = g.inquiry.ranks;
  if (m.verdict == Verdict::kOk && g.inquiry.ended_at != kNever)
    m.ended_ago = former_life::since(g.inquiry.ended_at, now);
  // After a failure the window moves without those who did not answer; they catch up when they are back.
  m.window_base = std::max(g.global_base, g.inquiry.window_base == ~Generation{0} ? 0 : g.inquiry.window_base);
  const auto members = groups::inquiry_members(state, group);
  bool all = true;
  for (Rank r = 0; r < members.size(); ++r) {
    const NodeId node = groups::node_of(g, r);
    const bool done = node == state.settings.self || members[r].asked || !groups::is_live(g, r);
    if (done || !peers::connected(state, node)) continue;
    members[r].asked = peers::send(state, node, m, true, now);
    all = all && members[r].asked;
  }
  return all;
}

// What was asked for while another verdict was found need not be asked for again.
void take_up_next(NodeState& state, std::uint32_t group, Nanoseconds now) {
  for (Slot& s : groups::slots_of(state, group))
    if (s.state == Slot::State::kOpen && s.asked_at != 0) slots::set_due(state, s, now);
}

// Who did not run when its time to ask was over may have been taken for lost, and others may have decided: what it has
// heard before says nothing of that, so it asks anew.
void forget_if_overslept(NodeState& state, std::uint32_t group, Nanoseconds now) {
  Inquiry& q = state.groups[group].inquiry;
  if (q.phase != Inquiry::Phase::kFreezing || now < q.due + state.settings.suspicion / 4) return;
  q.phase = Inquiry::Phase::kIdle;
  take_up_next(state, group, now);
}

void pump_inquiry(NodeState& state, std::uint32_t group, Nanoseconds now) {
  window_count::pump(state, group, now);
  GroupState& g = state.groups[group];
  forget_if_overslept(state, group, now);
  if (g.inquiry.phase == Inquiry::Phase::kFreezing && (ask_members(state, group, now) || now >= g.inquiry.due))
    end_freezing(state, group, now);
  // Who takes nothing for so long asks when it is back.
  if (g.inquiry.phase == Inquiry::Phase::kTelling && (tell_members(state, group, now) || now >= g.inquiry.due)) {
    const Generation base = g.inquiry.window_base;
    g.inquiry.phase = Inquiry::Phase::kIdle;
    for (Generation& b : groups::child_bases(state, group)) b = std::max(b, base);
    operations::sync_window(state, group, base, now);
    take_up_next(state, group, now);
  }
}

// Only in the phases in which members answer; telling is over once the channel has the message.
void ask_again(NodeState& state, std::uint32_t group, Nanoseconds now) {
  Inquiry& q = state.groups[group].inquiry;
  q.ask_again = now + kAskAgain;
  const bool tells = q.phase == Inquiry::Phase::kTelling || q.phase == Inquiry::Phase::kRemoving;
  if (tells || q.phase == Inquiry::Phase::kGoing) return;
  for (InquiryMember& m : groups::inquiry_members(state, group))
    if (m.asked && !m.answered) m.asked = false, m.told = 0;
}

void ask_for_verdict(NodeState& state, std::uint32_t slot, Nanoseconds now) {
  Slot& s = state.slots[slot];
  if (s.asked_at == 0) s.asked_at = now;
  if (now - s.asked_at >= state.settings.suspicion) {
    ++s.coordinators_tried;
    s.asked_at = now;
  }
  s.due = kNever;
  slots::set_due(state, s, now + kAskAgain);
  if (!epochs::runs(state.groups[slots::group_of(state, slot)])) return;
  const NodeId to = coordinators::choose(state, slot, now);
  if (to == kNoNode) return;
  if (to == state.settings.self) {
    begin(state, slot, reason_of(s), now);
    return pump_inquiry(state, slots::group_of(state, slot), now);
  }
  PeerMessage m = operations::message_about(state, slot, PeerMessageType::kVerdictRequest);
  m.verdict = reason_of(s);
  if (is_loss(m.verdict)) m.ranks.add(s.lost);
  if (m.verdict == Verdict::kMismatch) m.ranks = s.ranks;
  if (!peers::send(state, to, m, true, now)) slots::set_due(state, s, now + kUntilThereIsRoom);
}

bool is_deciding(const GroupState& g, Generation generation) {
  return g.inquiry.phase == Inquiry::Phase::kFreezing && g.inquiry.generation == generation;
}

bool is_nearer_to_root(const GroupState& g, Rank root, Rank other) {
  return groups::virtual_rank(g, other, root) < groups::virtual_rank(g, g.rank, root);
}

}  // namespace

void tell_all(NodeState& state, std::uint32_t slot, NodeId asker, Verdict why, const RankSet& ranks, Nanoseconds now) {
  Slot& s = state.slots[slot];
  const std::uint32_t group = slots::group_of(state, slot);
  Inquiry& q = state.groups[group].inquiry;
  if (s.told_all) return void(tell_recorded(state, slot, asker, now, why, ranks));
  if (q.phase != Inquiry::Phase::kIdle) return;  // asked again
  ask_about(state, slot, Inquiry::Phase::kTelling, now);
  q.verdict = why, q.ranks = ranks, q.window_base = 0;  // it says nothing of the window
  q.ended_at = s.ended_at;
  s.told_all = true;
  pump_inquiry(state, group, now);
}

void on_timer(NodeState& state, Nanoseconds now) {
  if (now < state.slot_timer) return;
  state.slot_timer = kNever;
  for (std::uint32_t slot = 0; slot < state.slots.size(); ++slot) {
    Slot& s = state.slots[slot];
    if (s.state == Slot::State::kOpen && s.due <= now && !doubts::on_due(state, slot, now))
      ask_for_verdict(state, slot, now);
    if (s.resume_at <= now) {
      s.resume_at = kNever;
      operations::pump(state, slot, now);
      comparison::on_time(state, slot, now);
    }
    if (s.state == Slot::State::kOpen) state.slot_timer = std::min({state.slot_timer, s.due, s.resume_at});
  }
  for (std::uint32_t group = 0; group < state.groups.size(); ++group) {
    GroupState& g = state.groups[group];
    group_trees::on_timer(state, group, now);
    if (g.used) window_count::ask_if_stuck(state, group, now), epochs::pump(state, group, now);
    if (!g.used || g.inquiry.phase == Inquiry::Phase::kIdle) continue;
    if (g.inquiry.ask_again <= now) ask_again(state, group, now);
    pump_inquiry(state, group, now);
    group_admin::pump(state, group, now);
    if (g.used && g.inquiry.phase != Inquiry::Phase::kIdle)
      state.slot_timer = std::min(state.slot_timer, g.inquiry.ask_again);
  }
  greetings::pump(state, now);
}

void on_request(NodeState& state, std::uint32_t group, NodeId from, const PeerMessage& m, Nanoseconds now) {
  if (!judgement::is_member(state.groups[group], from, m)) return;
  abandon::hear(state.groups[group], m);
  operations::sync_window(state, group, m.window_base, now);
  const std::uint32_t recorded = operations::recorded_slot(state, group, m.generation);
  if (recorded != kNoIndex) return answer_from_record(state, recorded, from, m, now);
  const std::uint32_t slot = operations::open_slot(state, group, m, now);
  if (slot == kNoIndex) {
    PeerMessage v = m;
    v.type = PeerMessageType::kVerdict;
    v.verdict = Verdict::kStale;
    v.window_base = state.groups[group].global_base;
    peers::send(state, from, v, true, now);
    return;
  }
  Slot& s = state.slots[slot];
  if (m.verdict == Verdict::kMismatch && s.state == Slot::State::kOpen)
    s.reason = m.verdict, s.ranks = joined(s.ranks, m.ranks);
  const bool names = !m.ranks.empty() && m.ranks.at(0) < groups::size_of(state.groups[group]);
  if (is_loss(m.verdict) && names && s.lost == kNoRank) {
    s.lost = m.ranks.at(0);
    if (s.reason == Verdict::kPending) s.reason = m.verdict;
  }
  ask_for_verdict(state, slot, now);  // ourselves, unless we know of a better coordinator
}

void on_freeze(NodeState& state, std::uint32_t group, NodeId from, const PeerMessage& m, Nanoseconds now) {
  if (!judgement::is_member(state.groups[group], from, m)) return;
  operations::sync_window(state, group, m.window_base, now);
  GroupState& g = state.groups[group];
  // Two coordinators: the one nearer to the root decides, the other is only a member again.
  if (is_deciding(g, m.generation) && is_nearer_to_root(g, m.root, m.source)) g.inquiry.phase = Inquiry::Phase::kIdle;
  const PeerMessage answer = freeze(state, group, m, now);
  const std::uint32_t slot = slots::index_of(state, group, m.generation);
  Slot& s = state.slots[slot];
  const bool has_slot = slots::holds(s, m.generation);
  if (has_slot) s.asked_at = now, coordinators::trust(state, slot, from);
  const bool sent = !is_deciding(g, m.generation) && peers::send(state, from, answer, true, now);
  if (!sent && has_slot) s.answer_owed = from;
}

void on_freeze_answer(NodeState& state, std::uint32_t group, NodeId from, const PeerMessage& m, Nanoseconds now) {
  const GroupState& g = state.groups[group];
  const Inquiry& q = g.inquiry;
  if (!judgement::is_member(g, from, m) || q.phase != Inquiry::Phase::kFreezing || q.generation != m.generation) return;
  abandon::hear(state.groups[group], m);
  judgement::take_answer(state, group, m.source, m, now);
  pump_inquiry(state, group, now);
}

void on_verdict(NodeState& state, std::uint32_t group, NodeId from, const PeerMessage& m, Nanoseconds now) {
  GroupState& g = state.groups[group];
  if (m.epoch != g.epoch || !epochs::takes_in(g) || m.root >= groups::size_of(g)) return;
  abandon::hear(g, m);
  const std::uint32_t slot = slots::index_of(state, group, m.generation);
  Slot& s = state.slots[slot];
  const bool open = slots::holds(s, m.generation) && s.state == Slot::State::kOpen;
  // A release proves that all had arrived, us included; if we have not, it belongs to a former incarnation of ours. Nor
  // can what moves data end well here without the data.
  const bool has_part = s.operation == Operation::kBarrier ? s.called : open && state.engine->finished(slot);
  const bool of_former_life = m.verdict == Verdict::kOk && former_life::is_told_by(state, m, now);
  const bool foreign = m.verdict == Verdict::kOk && open && (!has_part || of_former_life);
  // Somebody else has decided: who has not heard of it asks again.
  const bool decided = m.verdict != Verdict::kPending && m.verdict != Verdict::kStale && !foreign;
  if (decided && is_deciding(g, m.generation)) g.inquiry.phase = Inquiry::Phase::kIdle;
  if (open && m.verdict != Verdict::kPending)
    operations::conclude(state, slot, foreign ? Verdict::kStale : m.verdict, m.ranks, now);
  else if (!slots::holds(s, m.generation) && m.verdict != Verdict::kStale && !of_former_life &&
           operations::open_slot(state, group, m, now) != kNoIndex)
    operations::conclude(state, slot, m.verdict, m.ranks, now);  // so that a late caller learns of it
  else if (!slots::holds(s, m.generation) && is_loss(m.verdict))
    operations::record(state, group, m);
  // We have our payload, but somebody we pass it on to will not have it any more.
  if (!open && operations::recorded_slot(state, group, m.generation) == slot && m.verdict != Verdict::kOk) {
    streams::give_up_sends(state, slot, m.verdict == Verdict::kStale ? from : kNoNode, now);
    operations::close_if_through(state, slot, now);
  }
  for (Generation& b : groups::child_bases(state, group)) b = std::max(b, m.window_base);
  operations::sync_window(state, group, m.window_base, now);
}

void on_unknown_group(NodeState& state, std::uint32_t group, NodeId from, const PeerMessage& m, Nanoseconds now) {
  const GroupState& g = state.groups[group];
  const Rank rank = g.members.index_of(from);
  const std::uint32_t slot = slots::index_of(state, group, m.generation);
  if (rank == kNoRank || !slots::holds(state.slots[slot], m.generation)) return;
  RankSet ranks;
  ranks.add(rank);
  operations::conclude(state, slot, Verdict::kRefused, ranks, now);
}

namespace {

// Answers for which the channel had no room. Being asked again is not enough: our own requests for a verdict, made in
// the same rhythm, could fill the channel each time.
void answer_what_is_owed(NodeState& state, std::uint32_t group, Nanoseconds now) {
  for (Slot& s : groups::slots_of(state, group)) {
    if (s.answer_owed == kNoNode || is_deciding(state.groups[group], s.generation)) continue;
    const auto slot = static_cast<std::uint32_t>(&s - state.slots.data());
    const PeerMessage question = operations::message_about(state, slot, PeerMessageType::kFreeze);
    if (peers::send(state, s.answer_owed, freeze(state, group, question, now), true, now)) s.answer_owed = kNoNode;
  }
}

}  // namespace

void pump(NodeState& state, Nanoseconds now) {
  for (std::uint32_t group = 0; group < state.groups.size(); ++group) {
    if (!state.groups[group].used) continue;
    answer_what_is_owed(state, group, now);
    pump_inquiry(state, group, now);
    epochs::pump(state, group, now);
  }
}

}  // namespace fibocast::verdicts
