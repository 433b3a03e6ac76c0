// Which groups exist at a node. A group is a function of its name and the cluster (all nodes, one participant each,
// the node's plan), or it was created once and its definition travelled to the members (group_admin.h). Core.
#pragma once

#include <string_view>

#include "runtime/node/node_state.h"

namespace fibocast::groups {

inline std::string_view name_of(const GroupState& g) { return {g.name.data(), g.name_length}; }
inline std::uint32_t size_of(const GroupState& g) { return g.members.size(); }
inline NodeId node_of(const GroupState& g, Rank rank) { return g.members.at(rank); }
// All but the routers, which are the last ranks.
inline Rank defined_participants(const GroupState& g) { return size_of(g) - g.routers; }
// ... that are in the open epoch.
inline Rank participating(const GroupState& g) { return g.shrunk ? g.live_count : defined_participants(g); }
inline bool is_live(const GroupState& g, Rank rank) { return !g.shrunk || g.placed().has(rank); }
// Schedules are among the ranks of the epoch that was installed here, which count from 0: a rank's position, kNoRank if
// it is not in it.
inline Rank position_of(const GroupState& g, Rank rank) { return g.shrunk ? g.placed().position_of(rank) : rank; }
inline Rank rank_at(const GroupState& g, Rank position) { return g.shrunk ? g.placed().at(position) : position; }
// Ranks that an operation by this algorithm is among.
inline Rank ranks_of(const GroupState& g, const AlgorithmChoice& choice) {
  return choice.algorithm == Algorithm::kFlooding && !g.shrunk ? size_of(g) : participating(g);
}
// Positions in schedules are rotated so that the root is 0. Routers stay where they are. Operations without a root name
// rank 0, which need not be in the epoch: then the lowest one is taken, as for a root that a mistaken peer names.
inline Rank root_position(const GroupState& g, Rank root) {
  const Rank position = is_live(g, root) ? position_of(g, root) : 0;
  return position < participating(g) ? position : 0;
}
inline Rank virtual_rank(const GroupState& g, Rank rank, Rank root) {
  const Rank p = participating(g), position = position_of(g, rank);
  if (position >= p) return position;
  const Rank root_at = root_position(g, root);
  return position >= root_at ? position - root_at : position + p - root_at;
}
inline Rank real_rank(const GroupState& g, Rank rank, Rank root) {
  const Rank p = participating(g);
  if (rank >= p) return rank_at(g, rank);
  const Rank position = rank + root_position(g, root);
  return rank_at(g, position < p ? position : position - p);
}
// How many virtual ranks there are.
inline Rank ranks_now(const GroupState& g) { return g.shrunk ? g.live_count : size_of(g); }
// The plan in force: a given tree is one of all members.
inline const Plan& plan_of(const NodeState& state, const GroupState& g) {
  return g.shrunk && has_given_tree(g.plan) ? state.settings.plan : g.plan;
}

// What every message about a group begins with.
inline PeerMessage message_of(const GroupState& g, PeerMessageType type) {
  PeerMessage m;
  m.type = type;
  m.group = g.id, m.epoch = g.epoch, m.source = g.rank, m.window_base = g.global_base;
  return m;
}

std::uint32_t find(const NodeState& state, GroupId id);  // index, kNoIndex if there is none
std::uint32_t find_by_name(const NodeState& state, std::string_view name);
// Of a group that was created, not one that exists by its name.
bool is_created(GroupId id);
// The id of a group that exists by its name, in a cluster with the nodes and the model that we know.
bool is_default_here(const NodeState& state, GroupId id);
// The group of all nodes with this id, from where it was set aside (dormant.h); kNoIndex if the table is full. Its name
// may not be known yet.
std::uint32_t make_default(NodeState& state, GroupId id);

// Fills a free entry of the table with `group`; kNoIndex: the table is full, or its tree has more children at this
// node than Limits::transfers.
std::uint32_t add(NodeState& state, const GroupState& group);
bool table_full(const NodeState& state);
// Why there is no place in a full table: kWouldBlock if one becomes free by itself.
Admission no_place(const NodeState& state);
// The same in two steps, for a group whose given tree is still to come: takes an entry, which nobody finds yet but
// find_coming(); makes a group of it. False: as add(), and the entry is free again.
std::uint32_t reserve(NodeState& state, const GroupState& group);
bool activate(NodeState& state, std::uint32_t group);
std::uint32_t find_coming(const NodeState& state, GroupId id);
// No more pieces are expected; an entry that is still coming is free.
inline void end_intake(GroupState& g) {
  g.coming = false;
  g.intake = {};
}
inline void forget_coming(NodeState& state, GroupId id) {
  const std::uint32_t i = find_coming(state, id);
  if (i != kNoIndex) end_intake(state.groups[i]);
}
inline std::span<TreeTableEntry> tree_entries(NodeState& state, std::uint32_t group) {
  return state.tree_entries.subspan(std::size_t{group} * state.limits.nodes, defined_participants(state.groups[group]));
}
void set_name(GroupState& g, std::string_view name);
// The open epoch is of these members: schedules and the window begin anew.
bool set_live(NodeState& state, std::uint32_t group, const RankBits& members);  // false: see add()
// Its trees have no more children here than Limits::transfers.
bool fits(NodeState& state, std::uint32_t group, const Plan& plan);
// Bits of the ranks below `ranks`; the bytes written. Reading: false if they are not of as many.
std::size_t write_bits(const RankBits& set, Rank ranks, std::span<std::byte> out);
bool read_bits(RankBits set, Rank ranks, std::span<const std::byte> in);

inline std::span<Slot> slots_of(const NodeState& state, std::uint32_t group) {
  return state.slots.subspan(std::size_t{group} * state.limits.open_generations, state.limits.open_generations);
}

// The members of a group's inquiry, by rank.
inline std::span<InquiryMember> inquiry_members(const NodeState& state, std::uint32_t group) {
  return state.inquiry_members.subspan(std::size_t{group} * state.limits.nodes, size_of(state.groups[group]));
}
inline void start_inquiry(NodeState& state, std::uint32_t group, Inquiry::Phase phase, Nanoseconds now,
                          Nanoseconds due) {
  Inquiry fresh;
  fresh.phase = phase;
  fresh.due = due;
  fresh.ask_again = now + kAskAgain;
  if (fresh.ask_again < state.slot_timer) state.slot_timer = fresh.ask_again;
  state.groups[group].inquiry = fresh;
}
// ... of which no member knows yet.
inline void begin_inquiry(NodeState& state, std::uint32_t group, Inquiry::Phase phase, Nanoseconds now,
                          Nanoseconds due) {
  start_inquiry(state, group, phase, now, due);
  for (InquiryMember& m : inquiry_members(state, group)) m.begin();
}

// The stages of a barrier as this rank sees it (root 0): its tree also carries the window. Empty: not a member.
RankSchedule window_schedule(const NodeState& state, std::uint32_t group);
inline std::span<Generation> child_bases(NodeState& state, std::uint32_t group) {
  return state.child_bases.subspan(std::size_t{group} * state.limits.transfers, state.limits.transfers);
}
inline std::span<Generation> child_windows(NodeState& state, std::uint32_t group) {
  return state.child_windows.subspan(std::size_t{group} * state.limits.transfers, state.limits.transfers);
}

}  // namespace fibocast::groups
