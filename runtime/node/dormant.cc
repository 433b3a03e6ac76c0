#include "runtime/node/dormant.h"

#include <algorithm>

#include "runtime/node/groups.h"
#include "runtime/node/peers.h"

namespace fibocast::dormant {

namespace {

// Never written entries mean nothing.
std::span<DormantGroup> remembered(const NodeState& state) {
  return state.dormant.first(std::min<std::size_t>(state.counters.groups_set_aside, state.dormant.size()));
}

DormantGroup* find(const NodeState& state, GroupId id) {
  const auto all = remembered(state);
  const auto at = std::ranges::find_if(all, [id](const DormantGroup& d) { return d.used && d.id == id; });
  return at == all.end() ? nullptr : &*at;
}

bool is_quiet(const Slot& s) {
  if (s.state == Slot::State::kEmpty) return true;
  const bool owes = s.owes_failure || s.announces_anew || s.late_from != kNoNode || s.answer_owed != kNoNode;
  return s.state == Slot::State::kDone && s.closed && s.streams_open == 0 && s.nic_sends == 0 && !owes;
}

bool has_calls(const NodeState& state, std::uint32_t group) {
  for (std::uint32_t i = 0; i < state.requests->size(); ++i)
    if (state.requests->at(i).is_call() && state.requests->at(i).group == group) return true;
  return false;
}

bool is_being_greeted_about(const NodeState& state, std::uint32_t group) {
  return std::ranges::any_of(state.peers.first(state.peers_used),
                             [&](const Peer& p) { return p.greet_group == group && peers::connected(state, p.node); });
}

// But for calls: the table of requests is long.
bool is_unused(const NodeState& state, std::uint32_t group) {
  const GroupState& g = state.groups[group];
  if (!g.used || groups::is_created(g.id) || g.inquiry.phase != Inquiry::Phase::kIdle || g.held > 0) return false;
  return std::ranges::all_of(groups::slots_of(state, group), [](const Slot& s) { return is_quiet(s); });
}

// What the emulated card still holds is known by its slot alone.
bool may_set_aside(const NodeState& state) { return !state.dormant.empty() && !state.nic->enabled(); }

Nanoseconds last_use(const NodeState& state, std::uint32_t group) {
  Nanoseconds latest = 0;
  for (const Slot& s : groups::slots_of(state, group)) latest = std::max(latest, s.ended_at);
  return latest;
}

std::uint32_t longest_unused(const NodeState& state) {
  std::uint32_t found = kNoIndex;
  for (std::uint32_t i = 0; may_set_aside(state) && i < state.groups.size(); ++i) {
    if (!is_unused(state, i) || is_being_greeted_about(state, i)) continue;
    if (found != kNoIndex && last_use(state, i) >= last_use(state, found)) continue;
    if (!has_calls(state, i)) found = i;
  }
  return found;
}

}  // namespace

bool can_set_aside(const NodeState& state) { return longest_unused(state) != kNoIndex; }

bool can_soon(const NodeState& state) {
  bool any = false;
  for (std::uint32_t i = 0; may_set_aside(state) && i < state.groups.size(); ++i)
    any = any || (is_unused(state, i) && !has_calls(state, i));
  return any;
}

std::uint32_t set_aside(NodeState& state) {
  const std::uint32_t group = longest_unused(state);
  if (group == kNoIndex) return group;
  GroupState& g = state.groups[group];
  DormantGroup& d = state.dormant[state.counters.groups_set_aside++ % state.dormant.size()];
  d = DormantGroup{.used = true, .id = g.id};
  d.opened = g.opened, d.definition = g.definition, d.participants = g.participants;
  d.base = g.base, d.global_base = g.global_base;
  d.name = g.name, d.name_length = g.name_length;
  g.used = false;
  return group;
}

void recall(NodeState& state, std::uint32_t group) {
  GroupState& g = state.groups[group];
  DormantGroup* d = find(state, g.id);
  if (d == nullptr) return;
  d->used = false;
  g.opened = d->opened, g.definition = d->definition, g.participants = d->participants;
  g.base = d->base, g.global_base = d->global_base;
  g.name = d->name, g.name_length = d->name_length;
}

// Ids say of which nodes: those of before the cluster's file was read again are not those of today.
bool is_asleep(const NodeState& state, GroupId id) {
  return groups::is_default_here(state, id) && find(state, id) != nullptr;
}

std::uint32_t find_or_wake(NodeState& state, GroupId id) {
  const std::uint32_t group = groups::find(state, id);
  return group == kNoIndex && is_asleep(state, id) ? groups::make_default(state, id) : group;
}

Admission why_none(const NodeState& state, GroupId id) {
  return is_asleep(state, id) ? Admission::kWouldBlock : Admission::kUnknownGroup;
}

void forget(NodeState& state, GroupId id) {
  if (DormantGroup* d = find(state, id); d != nullptr) d->used = false;
}

bool is_behind(const NodeState& state, const PeerMessage& m) {
  if (m.type != PeerMessageType::kWindow && m.type != PeerMessageType::kRejoin) return false;
  const DormantGroup* d = find(state, m.group);
  const Generation told = m.type == PeerMessageType::kRejoin ? m.generation : 0;
  return d != nullptr && std::max(told, m.window_base) <= d->base;
}

}  // namespace fibocast::dormant
