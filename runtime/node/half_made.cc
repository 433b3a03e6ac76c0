#include "runtime/node/half_made.h"

#include <algorithm>

#include "runtime/node/greetings.h"
#include "runtime/node/group_admin.h"
#include "runtime/node/groups.h"
#include "runtime/node/peers.h"

namespace fibocast::half_made {

namespace {

bool tell_made(NodeState& state, NodeId to, CreationId creation, Nanoseconds now) {
  PeerMessage m;
  m.type = PeerMessageType::kGroupMade;
  m.creation = creation;
  return peers::send(state, to, m, false, now);
}

// Its maker's own questions are not over.
bool is_ours_to_finish(const NodeState& state, const GroupState& g) {
  return g.used && g.owed_by == state.settings.self && g.rank != kNoRank &&
         g.inquiry.phase != Inquiry::Phase::kDefining && g.inquiry.phase != Inquiry::Phase::kRemoving;
}

bool all_took(const NodeState& state, std::uint32_t group) {
  return std::ranges::all_of(groups::inquiry_members(state, group), [](const InquiryMember& m) { return m.took; });
}

}  // namespace

void on_lost(NodeState& state, NodeId node) {
  for (std::uint32_t group = 0; group < state.groups.size(); ++group) {
    GroupState& g = state.groups[group];
    if (!g.used || g.rank == kNoRank || g.owed_by != node) continue;
    g.owed_by = state.settings.self;
    groups::inquiry_members(state, group)[g.rank].took = true;
    greetings::tell_members_again(state, group);
  }
}

void on_answer(NodeState& state, std::uint32_t group, NodeId from, const PeerMessage& m, Nanoseconds now) {
  const GroupState& g = state.groups[group];
  const Rank rank = g.members.index_of(from);
  if (rank == kNoRank || !is_ours_to_finish(state, g)) return;
  if (m.verdict != Verdict::kOk) return group_admin::begin_removal(state, group, GroupEnd::kNeverMade, now);
  groups::inquiry_members(state, group)[rank].took = true;
  if (all_took(state, group)) finish(state, group, now);
}

void finish(NodeState& state, std::uint32_t group, Nanoseconds now) {
  GroupState& g = state.groups[group];
  g.owed_by = kNoNode;
  for (Rank rank = 0; rank < groups::size_of(g); ++rank) {
    const NodeId node = groups::node_of(g, rank);
    if (node != state.settings.self && peers::connected(state, node)) tell_made(state, node, g.creation, now);
  }
}

void on_made(NodeState& state, CreationId creation) {
  for (GroupState& g : state.groups)
    if ((g.used || g.coming) && g.creation == creation) g.owed_by = kNoNode;
}

void compare(NodeState& state, std::uint32_t group, NodeId from, const PeerMessage& m, Nanoseconds now) {
  GroupState& g = state.groups[group];
  if (m.creation == kUnknownCreation || m.creation != g.creation) return;
  if (!m.unfinished) g.owed_by = kNoNode;
  if (m.unfinished && g.owed_by == kNoNode) tell_made(state, from, m.creation, now);
}

}  // namespace fibocast::half_made
