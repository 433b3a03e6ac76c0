#include "runtime/node/group_admin.h"

#include <algorithm>
#include <utility>

#include "runtime/node/abandon.h"
#include "runtime/node/dormant.h"
#include "runtime/node/epochs.h"
#include "runtime/node/greetings.h"
#include "runtime/node/group_trees.h"
#include "runtime/node/groups.h"
#include "runtime/node/half_made.h"
#include "runtime/node/joining.h"
#include "runtime/node/operations.h"
#include "runtime/node/peers.h"
#include "runtime/node/removals.h"
#include "runtime/node/replan.h"

namespace fibocast::group_admin {

namespace {

PeerMessage define_message(const GroupState& g) {
  PeerMessage m;
  m.type = PeerMessageType::kGroupDefine;
  m.group = g.id, m.epoch = g.epoch;
  m.name = g.name, m.name_length = g.name_length;
  m.routers = static_cast<std::uint16_t>(g.routers);
  m.participants = g.participants, m.ranks = g.members, m.plan = g.plan;
  m.policy = g.policy, m.quorum = g.quorum, m.creation = g.creation;
  m.unfinished = g.owed_by != kNoNode;
  return m;
}

GroupState group_of(const GroupDefinition& d) {
  GroupState g;
  g.created = true;
  g.id = group_id(d.name);
  groups::set_name(g, d.name);
  g.members = d.members;
  g.participants = std::max<std::uint32_t>(d.participants, 1);
  g.routers = d.routers;
  g.policy = d.policy, g.quorum = d.quorum;
  g.plan = d.plan;
  return g;
}

// Not all members are known to have it, or it is about to go.
bool is_in_the_making(const GroupState& g) {
  return g.owed_by != kNoNode || g.inquiry.phase == Inquiry::Phase::kDefining ||
         g.inquiry.phase == Inquiry::Phase::kRemoving;
}

// There is a group of this name; perhaps that of all nodes, which nobody created. Who is no member is not told when one
// is removed.
Admission compare(const GroupState& there, const GroupDefinition& d) {
  if (!d.if_missing) return Admission::kExists;
  if (is_in_the_making(there)) return Admission::kWouldBlock;
  const bool alike = there.rank != kNoRank && there.members == d.members && there.routers == d.routers &&
                     there.participants == std::max<std::uint32_t>(d.participants, 1) && there.policy == d.policy &&
                     there.quorum == d.quorum;
  return alike ? Admission::kIsThere : Admission::kExists;
}

// Of the host's random bytes and a count: no two creations have the same, not even of a daemon that was started again.
CreationId new_creation(NodeState& state) {
  CreationId hash = 0;
  for (const std::uint64_t part :
       {state.settings.incarnation, std::uint64_t{state.settings.self}, std::uint64_t{++state.groups_created}}) {
    hash = (hash ^ part ^ hash >> 30) * 0xbf58476d1ce4e5b9u;
    hash ^= hash >> 31;
  }
  return std::max<CreationId>(hash, kUnknownCreation + 1);
}

// Far from those of other creations, whose messages may still be under way. Epochs are counted on from it.
Epoch first_epoch(const NodeState& state, CreationId creation) {
  constexpr std::uint64_t kHalfOfAll = std::uint64_t{1} << 31;
  const std::uint64_t nodes = state.limits.nodes;
  return static_cast<Epoch>((1 + creation % (kHalfOfAll / nodes)) * nodes + state.settings.self);
}

// The peer has one of this name that was removed, perhaps of a definition of ours that it took only now: it is told so,
// and then of ours, if there is one, once more.
void define_after_removal(NodeState& state, std::uint32_t group, NodeId peer) {
  removals::begin_telling(state, peers::of(state, peer));
  state.again = true;
  if (group == kNoIndex) return;
  GroupState& g = state.groups[group];
  const Rank rank = g.members.index_of(peer);
  if (g.inquiry.phase == Inquiry::Phase::kDefining && rank != kNoRank)
    groups::inquiry_members(state, group)[rank].begin();
}

// One that has the group of a third creation refuses.
void note_held(NodeState& state, std::uint32_t group, Rank rank, CreationId held) {
  GroupState& g = state.groups[group];
  InquiryMember& m = groups::inquiry_members(state, group)[rank];
  m.other = !removals::may_be_same(g.creation, held);
  if (!m.other) return;
  if (g.inquiry.held == kUnknownCreation) g.inquiry.held = held;
  m.arrived = m.arrived && held == g.inquiry.held;
}

// The members have this very group already, of another creation: who is no member may say so once more.
bool is_known_to_all(NodeState& state, std::uint32_t group) {
  const auto members = groups::inquiry_members(state, group);
  return std::ranges::all_of(members, [](const InquiryMember& m) { return m.arrived && m.other; });
}

bool knows_creations(const NodeState& state, NodeId node) {
  const Peer* p = peers::find_peer(state, node);
  return p != nullptr && p->knows_creations;
}

// Those that took it forget it again, also who takes it only now, of a question that was repeated. An older node that
// refused it may have another group of this name, and would take that one for it.
void finish_definition(NodeState& state, std::uint32_t group, Nanoseconds now) {
  GroupState& g = state.groups[group];
  Request& r = state.requests->at(g.inquiry.request);
  const auto members = groups::inquiry_members(state, group);
  if (is_known_to_all(state, group))
    g.creation = g.inquiry.held;
  else
    for (InquiryMember& m : members) m.arrived = m.arrived && !m.other;
  for (Rank rank = 0; rank < members.size(); ++rank)
    if (!members[rank].arrived) g.inquiry.ranks.add(rank);
  const bool refused = !g.inquiry.ranks.empty();
  const bool differs = g.inquiry.reason == Verdict::kMismatch;
  r.done.verdict = !refused ? Verdict::kOk : differs ? Verdict::kMismatch : Verdict::kRefused;
  r.done.ranks = g.inquiry.ranks;
  state.requests->answer(g.inquiry.request);
  g.inquiry.phase = Inquiry::Phase::kIdle;
  if (!refused) return half_made::finish(state, group, now);
  removals::note(state, g.creation, GroupEnd::kNeverMade);
  const CreationId held = g.inquiry.held;
  groups::start_inquiry(state, group, Inquiry::Phase::kRemoving, now, kNever);
  g.inquiry.held = held;
  for (Rank rank = 0; rank < members.size(); ++rank) {
    InquiryMember& m = members[rank];
    m = InquiryMember{.asked = m.answered && !m.arrived && !knows_creations(state, groups::node_of(g, rank))};
  }
  state.again = true;
}

// Members are asked once each; a member that does not answer in time counts as one that refused.
void end_definition(NodeState& state, std::uint32_t group, Nanoseconds now) {
  GroupState& g = state.groups[group];
  const bool timed_out = now >= g.inquiry.due;
  if (g.inquiry.answers < groups::size_of(g) && !timed_out) return;
  finish_definition(state, group, now);
}

// Somebody else removes the group while we still ask its members.
void cancel_definition(NodeState& state, std::uint32_t group) {
  const Inquiry& q = state.groups[group].inquiry;
  if (q.phase != Inquiry::Phase::kDefining) return;
  state.requests->at(q.request).done.verdict = Verdict::kCancelled;
  state.requests->answer(q.request);
}

// Members have the group of this name that was there before ours, which we took for none while we made our own: they
// tell us of it again.
void ask_for_held(NodeState& state, const GroupState& g, Nanoseconds now) {
  if (g.inquiry.held == kUnknownCreation || g.rank == kNoRank) return;
  PeerMessage m;
  m.type = PeerMessageType::kGroupUnknown;
  m.group = g.id, m.generation = kNoGeneration;
  for (Rank r = 0; r < groups::size_of(g); ++r)
    if (r != g.rank && peers::connected(state, groups::node_of(g, r)))
      peers::send(state, groups::node_of(g, r), m, false, now);
}

// An answer about it that is still owed is none about the next one of this name: who waits for it asks again.
void forget_answers(NodeState& state, GroupId group) {
  for (Peer& p : state.peers.first(state.peers_used))
    if (p.answer_group == group) p.answer_owed = false;
}

void end_removal(NodeState& state, std::uint32_t group, Nanoseconds now) {
  GroupState& g = state.groups[group];
  forget_answers(state, g.id);
  abandon::forget_group(state, group);
  cancel_definition(state, group);
  operations::cancel_all(state, group, now);
  epochs::leader::forget(state, group, now);
  replan::forget(state, group);
  removals::note(state, g.creation, GroupEnd::kRemoved);  // if it is not known by now
  g.used = false;
  ask_for_held(state, g, now);
}

// Others tell us of the removal that we are telling the members of. It ends here, so that the next group of this name
// finds no other in its place, and asks again and again; who has not been told, as its channel is full, hears of it
// with the other removals. (But an older node does not: it may keep the group.)
void end_removal_of_others(NodeState& state, std::uint32_t group, Nanoseconds now) {
  const GroupState& g = state.groups[group];
  const bool telling = g.inquiry.phase == Inquiry::Phase::kRemoving;
  if (telling && g.creation == kUnknownCreation) return;  // of that one they hear by its name only
  end_removal(state, group, now);
  if (!telling) return;
  const auto members = groups::inquiry_members(state, group);
  for (Rank r = 0; r < members.size(); ++r) {
    Peer* p = peers::find_peer(state, groups::node_of(g, r));
    if (p != nullptr && !members[r].asked && !members[r].answered) removals::begin_telling(state, *p);
  }
  state.again = true;
}

bool tell_removal(NodeState& state, const GroupState& g, NodeId to, Nanoseconds now) {
  PeerMessage m;
  m.type = PeerMessageType::kGroupRemove;
  m.group = g.id, m.creation = g.creation, m.unfinished = removals::was_never_made(state, g.creation);
  return peers::send(state, to, m, false, now) || !peers::connected(state, to);  // when it connects it is told
}

void tell_members(NodeState& state, std::uint32_t group, Nanoseconds now) {
  const GroupState& g = state.groups[group];
  const auto members = groups::inquiry_members(state, group);
  for (Rank r = 0; r < groups::size_of(g); ++r) {
    InquiryMember& m = members[r];
    const NodeId node = groups::node_of(g, r);
    if (node == state.settings.self || m.asked || m.answered) continue;
    m.asked = g.inquiry.phase == Inquiry::Phase::kDefining ? tell_definition(state, g, node, m.told, now)
                                                           : tell_removal(state, g, node, now);
  }
}

// A group that goes on without its dead needs to hear of them, and its transfers must end when an epoch does.
bool policy_is_possible(const NodeState& state, const GroupDefinition& d) {
  if (d.policy == GroupPolicy::kAll) return d.quorum == 0;
  const Rank size = d.members.size();
  const bool quorum_fits = d.policy == GroupPolicy::kQuorum ? 2 * d.quorum > size && d.quorum <= size : d.quorum == 0;
  return quorum_fits && d.routers == 0 && size <= kMostShrinkingMembers && state.detector != nullptr &&
         !state.nic->enabled();
}

bool all_told(NodeState& state, std::uint32_t group) {
  const auto members = groups::inquiry_members(state, group);
  for (Rank r = 0; r < members.size(); ++r)
    if (!members[r].asked && r != state.groups[group].rank) return false;
  return true;
}

}  // namespace

bool tell_definition(NodeState& state, const GroupState& g, NodeId to, std::uint8_t& told, Nanoseconds now) {
  for (; told <= group_trees::pieces_of(g); ++told) {
    const bool sent = told == 0 ? peers::send(state, to, define_message(g), false, now)
                                : group_trees::send_piece(state, to, g, told - 1, now);
    if (!sent) return false;
  }
  return true;
}

Admission open(NodeState& state, std::string_view name, std::uint32_t participants, GroupId& id,
               Generation& generation) {
  if (name.empty() || name.size() > kMaxGroupName) return Admission::kBadName;
  if (participants > state.limits.participants) return Admission::kTooManyLocal;
  std::uint32_t i = groups::find_by_name(state, name);
  if (i == kNoIndex) i = groups::make_default(state, default_group_id(name, state.settings.cluster_digest));
  if (i == kNoIndex) return groups::table_full(state) ? groups::no_place(state) : Admission::kNoPlan;
  GroupState& g = state.groups[i];
  const bool fresh = g.name_length == 0;
  groups::set_name(g, name);
  // A default group's number of local participants is each node's own affair; the first caller says it.
  if (fresh && participants != 0) g.participants = participants;
  if (participants != 0 && participants != g.participants) return Admission::kOtherParticipants;
  if (!std::exchange(g.opened, true) && g.rank != kNoRank) operations::prepare(state, i);
  id = g.id;
  generation = abandon::generation_to_take(state, i).value_or(joining::first_generation(state, i));
  return g.rank == kNoRank ? Admission::kNotMember : Admission::kTaken;
}

Admission create(NodeState& state, const GroupDefinition& d, std::uint64_t cookie, Nanoseconds now) {
  if (d.name.empty() || d.name.size() > kMaxGroupName) return Admission::kBadName;
  if (d.members.empty() || d.members.truncated()) return Admission::kBadRank;
  if (d.members.at(d.members.size() - 1) >= state.settings.nodes) return Admission::kBadRank;
  if (d.routers >= d.members.size()) return Admission::kBadRank;
  if (d.participants > state.limits.participants) return Admission::kTooManyLocal;
  if (!policy_is_possible(state, d)) return Admission::kBadPolicy;
  if (has_given_tree(d.plan) && (d.plan.given.ranks() + d.routers != d.members.size() || !is_valid(d.plan.given)))
    return Admission::kNoPlan;
  GroupState group = group_of(d);
  const GroupId of_all = default_group_id(d.name, state.settings.cluster_digest);
  std::uint32_t there = groups::find_by_name(state, d.name);
  if (there == kNoIndex && d.if_missing) there = dormant::find_or_wake(state, of_all);
  if (there != kNoIndex) return compare(state.groups[there], d);
  if (dormant::is_asleep(state, of_all)) return Admission::kExists;
  if (groups::find_coming(state, group.id) != kNoIndex)
    return d.if_missing ? Admission::kWouldBlock : Admission::kExists;
  if (groups::table_full(state)) return groups::no_place(state);
  const std::uint32_t request = state.requests->add(Request::State::kWaiting);
  if (request == kNoRequest) return Admission::kWouldBlock;
  state.requests->at(request).answer = Event::Kind::kGroupReady;
  group.creation = new_creation(state);
  group.epoch = first_epoch(state, group.creation);
  if (has_room_for_creation(d.name.size(), d.members))
    group.owed_by = state.settings.self;
  else
    group.creation = kUnknownCreation;
  const std::uint32_t i = groups::add(state, group);
  if (i == kNoIndex) {
    state.requests->release(request);
    return Admission::kNoPlan;
  }
  state.requests->at(request).done.cookie = cookie;
  groups::begin_inquiry(state, i, Inquiry::Phase::kDefining, now, now + state.settings.group_patience);
  GroupState& g = state.groups[i];
  g.inquiry.request = request;
  if (g.rank != kNoRank) {
    ++g.inquiry.answers;
    groups::inquiry_members(state, i)[g.rank] = InquiryMember{true, true, true};
  }
  pump(state, i, now);
  return Admission::kTaken;
}

Admission remove(NodeState& state, std::string_view name, Nanoseconds now) {
  const GroupId id = default_group_id(name, state.settings.cluster_digest);
  std::uint32_t i = groups::find_by_name(state, name);
  if (i == kNoIndex) i = dormant::find_or_wake(state, id);
  if (i == kNoIndex) return dormant::why_none(state, id);
  const GroupState& g = state.groups[i];
  const bool changes = epochs::leader::is_busy(g) || g.inquiry.phase == Inquiry::Phase::kHolding;  // perhaps for ever
  if (g.inquiry.phase != Inquiry::Phase::kIdle && !changes) return Admission::kWouldBlock;
  begin_removal(state, i, GroupEnd::kRemoved, now);
  return Admission::kTaken;
}

// From here on it is one that was removed, for whoever connects or defines it to us before all members are told.
void begin_removal(NodeState& state, std::uint32_t group, GroupEnd why, Nanoseconds now) {
  removals::note(state, state.groups[group].creation, why);
  groups::begin_inquiry(state, group, Inquiry::Phase::kRemoving, now, kNever);
  pump(state, group, now);
}

void pump(NodeState& state, std::uint32_t group, Nanoseconds now) {
  GroupState& g = state.groups[group];
  if (g.inquiry.phase == Inquiry::Phase::kDefining) {
    tell_members(state, group, now);
    end_definition(state, group, now);
  } else if (g.inquiry.phase == Inquiry::Phase::kRemoving) {
    tell_members(state, group, now);
    if (all_told(state, group)) end_removal(state, group, now);
  }
}

void on_answer(NodeState& state, NodeId from, const PeerMessage& m, Nanoseconds now) {
  const std::uint32_t i = groups::find(state, m.group);
  const bool is_here = i != kNoIndex && removals::may_be_same(state.groups[i].creation, m.creation);
  if (m.verdict == Verdict::kOk && m.creation != kUnknownCreation && !is_here)
    removals::note(state, m.creation, GroupEnd::kNeverMade);
  if (!is_here && removals::is_removed(state, m.creation)) return define_after_removal(state, i, from);
  if (i == kNoIndex) return;
  greetings::on_answer(state, from, i);
  half_made::on_answer(state, i, from, m, now);
  if (state.groups[i].inquiry.phase != Inquiry::Phase::kDefining) return;
  GroupState& g = state.groups[i];
  const Rank rank = g.members.index_of(from);
  if (rank == kNoRank || groups::inquiry_members(state, i)[rank].answered) return;
  groups::inquiry_members(state, i)[rank].answered = true;
  ++g.inquiry.answers;
  groups::inquiry_members(state, i)[rank].arrived = m.verdict == Verdict::kOk || m.verdict == Verdict::kStale;
  note_held(state, i, rank, m.creation);
  if (m.verdict == Verdict::kMismatch) g.inquiry.reason = m.verdict;  // an older node does not know its plan or policy
  if (g.inquiry.answers == groups::size_of(g)) finish_definition(state, i, now);
}

void drop_default(NodeState& state, std::string_view name, Nanoseconds now) {
  const std::uint32_t i = groups::find(state, default_group_id(name, state.settings.cluster_digest));
  if (i == kNoIndex || state.groups[i].base > 0 || state.groups[i].global_base > 0) return;
  end_removal(state, i, now);
}

void on_remove(NodeState& state, const PeerMessage& m, Nanoseconds now) {
  removals::note(state, m.creation, removals::why(m));
  if (m.creation == kUnknownCreation) dormant::forget(state, m.group);
  const std::uint32_t coming = groups::find_coming(state, m.group), i = groups::find(state, m.group);
  if (coming != kNoIndex && removals::may_be_same(state.groups[coming].creation, m.creation))
    groups::end_intake(state.groups[coming]);
  if (i != kNoIndex && removals::may_be_same(state.groups[i].creation, m.creation))
    end_removal_of_others(state, i, now);
}

void on_removed(NodeState& state, const PeerMessage& m, Nanoseconds now) {
  if (m.creation == kUnknownCreation) return;
  removals::note(state, m.creation, removals::why(m));
  for (std::uint32_t i = 0; i < state.groups.size(); ++i) {
    GroupState& g = state.groups[i];
    if (g.creation != m.creation) continue;
    if (g.coming) groups::end_intake(g);
    if (g.used) end_removal_of_others(state, i, now);
  }
}

}  // namespace fibocast::group_admin
