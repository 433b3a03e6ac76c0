// What a member does with the definitions of others: it takes them, or it refuses.
#include "runtime/node/group_admin.h"
#include "runtime/node/group_trees.h"
#include "runtime/node/groups.h"
#include "runtime/node/half_made.h"
#include "runtime/node/peers.h"
#include "runtime/node/removals.h"

namespace fibocast::group_admin {

namespace {

bool same_definition(const GroupState& a, const GroupState& b) {
  return groups::name_of(a) == groups::name_of(b) && a.members == b.members && a.participants == b.participants &&
         a.routers == b.routers && a.policy == b.policy && a.quorum == b.quorum && a.plan == b.plan;
}

GroupState group_of(const PeerMessage& m, NodeId from) {
  GroupState g;
  g.created = true;
  g.id = m.group, g.epoch = m.epoch;
  g.name = m.name, g.name_length = m.name_length;
  g.routers = m.routers;
  g.policy = m.policy, g.quorum = m.quorum, g.creation = m.creation;
  g.owed_by = m.unfinished ? from : kNoNode;
  g.members = m.ranks, g.participants = m.participants, g.plan = m.plan;
  return g;
}

// The definition is followed by a tree. A group that exists already stays, and its tree is compared. False: it is
// another one, or there is no room.
bool expect_tree(NodeState& state, NodeId from, const GroupState& group, Nanoseconds now) {
  std::uint32_t i = groups::find(state, group.id);
  if (i == kNoIndex) {
    i = groups::reserve(state, group);
  } else {
    GroupState wanted = group;
    wanted.plan.given = state.groups[i].plan.given;
    if (!same_definition(state.groups[i], wanted)) i = kNoIndex;
  }
  if (i == kNoIndex) return false;
  group_trees::begin_intake(state, i, from, group.epoch, now);
  state.groups[i].intake.other = !removals::may_be_same(state.groups[i].creation, group.creation);
  return true;
}

}  // namespace

// Being asked again is not enough: our own questions, in the same rhythm, could fill the channel each time.
bool send_owed_answer(NodeState& state, Peer& p, Nanoseconds now) {
  if (!p.answer_owed) return true;
  const std::uint32_t i = groups::find(state, p.answer_group);
  PeerMessage m;
  m.type = PeerMessageType::kGroupAnswer;
  m.group = p.answer_group;
  m.verdict = p.answer;
  if (i != kNoIndex) m.creation = state.groups[i].creation;
  p.answer_owed = !peers::send(state, p.node, m, false, now);
  return !p.answer_owed;
}

namespace {

void answer(NodeState& state, NodeId to, GroupId group, Verdict verdict, Nanoseconds now) {
  Peer& p = peers::of(state, to);
  p.answer_owed = true, p.answer_group = group, p.answer = verdict;  // an older one that is still owed is asked again
  send_owed_answer(state, p, now);
}

void answer(NodeState& state, NodeId to, GroupId group, bool ok, Nanoseconds now) {
  answer(state, to, group, ok ? Verdict::kOk : Verdict::kRefused, now);
}

// It has been told to all whom its remover reached: who does not know it yet hears it from us.
void refuse_removed(NodeState& state, NodeId from, GroupId group, Nanoseconds now) {
  removals::begin_telling(state, peers::of(state, from));
  state.again = true;
  answer(state, from, group, false, now);
}

// The very group is here: an older node had not said which creation it is, and a newer one does.
bool agrees(GroupState& here, const GroupState& group) {
  if (!same_definition(here, group)) return false;
  if (here.creation == kUnknownCreation) here.creation = group.creation;
  return true;
}

}  // namespace

void on_define(NodeState& state, NodeId from, const PeerMessage& m, Nanoseconds now) {
  if (!m.understood)
    return answer(state, from, m.group, Verdict::kMismatch, now);  // without an answer it is told for ever
  if (removals::is_removed(state, m.creation)) return refuse_removed(state, from, m.group, now);
  const GroupState group = group_of(m, from);
  const bool members_ok = group.routers < group.members.size() && !group.members.truncated() &&
                          group.members.at(groups::size_of(group) - 1) < state.settings.nodes;
  bool ok = members_ok;
  // Half a group makes way for one that begins: two nodes may define it at a time, or greet us with it, and whose
  // pieces come to nothing tells it again.
  if (ok) groups::forget_coming(state, m.group);
  if (const std::uint32_t i = groups::find(state, m.group); i != kNoIndex) half_made::compare(state, i, from, m, now);
  if (ok && has_given_tree(m.plan)) {
    if (expect_tree(state, from, group, now)) return;  // the last piece is answered
    ok = false;
  } else if (ok) {
    const std::uint32_t i = groups::find(state, m.group);
    ok = i != kNoIndex ? agrees(state.groups[i], group) : groups::add(state, group) != kNoIndex;
    if (ok) drop_default(state, groups::name_of(group), now);
    if (ok && i != kNoIndex && !removals::may_be_same(state.groups[i].creation, m.creation))
      return answer(state, from, m.group, Verdict::kStale, now);
  }
  answer(state, from, m.group, ok, now);
}

void on_tree(NodeState& state, NodeId from, const PeerMessage& m, Nanoseconds now) {
  std::uint32_t i = groups::find(state, m.group);
  if (i == kNoIndex) i = groups::find_coming(state, m.group);
  if (i == kNoIndex || state.groups[i].intake.from != from || state.groups[i].intake.epoch != m.epoch) {
    ++state.counters.stale;  // of a definition that we have refused, or that was before we were
    return;
  }
  const group_trees::Progress progress = group_trees::take_piece(state, i, m);
  if (progress == group_trees::Progress::kMore) return;
  bool ok = progress == group_trees::Progress::kComplete;
  const bool coming = state.groups[i].coming, other = state.groups[i].intake.other;
  state.counters.bad_trees += !ok && coming;
  groups::end_intake(state.groups[i]);
  if (ok && coming) ok = groups::activate(state, i);
  if (ok) drop_default(state, groups::name_of(state.groups[i]), now);
  if (ok && other) return answer(state, from, m.group, Verdict::kStale, now);
  answer(state, from, m.group, ok, now);
}

}  // namespace fibocast::group_admin
