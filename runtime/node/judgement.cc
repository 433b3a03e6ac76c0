#include "runtime/node/judgement.h"

#include <algorithm>

#include "runtime/node/epochs.h"
#include "runtime/node/former_life.h"
#include "runtime/node/groups.h"
#include "runtime/node/presence.h"

namespace fibocast::judgement {

bool is_member(const GroupState& g, NodeId from, const PeerMessage& m) {
  return m.epoch == g.epoch && epochs::runs(g) && m.source < groups::size_of(g) && m.root < groups::size_of(g) &&
         groups::node_of(g, m.source) == from && groups::is_live(g, m.source);
}

bool is_concerned(const GroupState& g, Rank rank) {
  const bool floods = g.inquiry.choice.algorithm == Algorithm::kFlooding;
  return groups::is_live(g, rank) && (floods || rank < groups::defined_participants(g));
}

namespace {

// A member says so of what is open with it, too: that is no verdict yet, and yields to one.
void add_mismatch(Inquiry& q, const RankSet& ranks) {
  const bool decided = q.verdict != Verdict::kPending && q.verdict != Verdict::kStale;
  if (decided && q.verdict != Verdict::kMismatch) return;
  q.ranks = q.verdict == Verdict::kMismatch ? joined(q.ranks, ranks) : ranks;
  q.verdict = Verdict::kMismatch;
}

}  // namespace

void take_answer(NodeState& state, std::uint32_t group, Rank rank, const PeerMessage& answer, Nanoseconds now) {
  Inquiry& q = state.groups[group].inquiry;
  InquiryMember& member = groups::inquiry_members(state, group)[rank];
  if (member.answered) return;
  member.asked = member.answered = true;
  member.arrived = answer.arrived || answer.verdict == Verdict::kOk;
  q.window_base = std::min(q.window_base, answer.completed);
  ++q.answers;
  if (answer.verdict == Verdict::kOk) q.any_completed = true;
  if (answer.ended_ago > 0) q.ended_at = std::min(q.ended_at, former_life::end_of(answer.ended_ago, now));
  // Another coordinator has decided before: its verdict stands. Who has forgotten it does not outvote who knows it.
  if (answer.verdict == Verdict::kOk || answer.verdict == Verdict::kPending) return;
  if (answer.verdict == Verdict::kStale && q.verdict != Verdict::kPending) return;
  if (answer.verdict == Verdict::kMismatch) return add_mismatch(q, answer.ranks);
  q.verdict = answer.verdict;
  q.ranks = answer.ranks;
}

RankSet missing_ranks(NodeState& state, std::uint32_t group) {
  RankSet ranks;
  const auto members = groups::inquiry_members(state, group);
  for (Rank r = 0; r < members.size(); ++r)
    if (is_concerned(state.groups[group], r) && !members[r].arrived) ranks.add(r);
  return ranks;
}

RankSet lost_ranks(const NodeState& state, std::uint32_t group) {
  RankSet ranks;
  const GroupState& g = state.groups[group];
  const bool nodes = g.inquiry.reason == Verdict::kPeerLost;  // else an application
  for (Rank r = 0; r < groups::size_of(g); ++r)
    if (r == g.inquiry.lost || (nodes && presence::is_lost(state, groups::node_of(g, r)))) ranks.add(r);
  return ranks;
}

Verdict decide(const Inquiry& q, Operation operation, const RankSet& missing) {
  const bool barrier = operation == Operation::kBarrier;
  const bool released = barrier && q.any_completed;  // it proves that all had arrived
  const bool yields = q.verdict == Verdict::kStale || q.verdict == Verdict::kMismatch;
  if (q.verdict != Verdict::kPending) return released && yields ? Verdict::kOk : q.verdict;
  if (released || (barrier && missing.empty() && q.reason != Verdict::kMismatch)) return Verdict::kOk;
  return q.reason;
}

}  // namespace fibocast::judgement
