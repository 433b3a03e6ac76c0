#include "runtime/node/groups.h"

#include <algorithm>

#include "runtime/node/dormant.h"

namespace fibocast {

namespace {

constexpr GroupId kCreated = GroupId{1} << 63;
constexpr int kNameBits = 48;  // of the id of a group that nobody created; above them 15 bits of the cluster's digest

std::uint64_t hash_of(std::string_view name) {
  std::uint64_t hash = 0xcbf29ce484222325u;  // FNV-1a
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

}  // namespace

GroupId group_id(std::string_view name) { return hash_of(name) | kCreated; }

GroupId default_group_id(std::string_view name, std::uint64_t cluster_digest) {
  const GroupId name_part = hash_of(name) >> (64 - kNameBits);
  return name_part | (cluster_digest << kNameBits & ~kCreated);
}

namespace groups {

namespace {

std::uint32_t free_index(const NodeState& state) {
  for (std::uint32_t i = 0; i < state.groups.size(); ++i)
    if (!state.groups[i].used && !state.groups[i].coming) return i;
  return kNoIndex;
}

// All members are in the first epoch.
void take_sets(NodeState& state, std::uint32_t group) {
  GroupState& g = state.groups[group];
  const std::size_t words = RankBits::words_for(state.limits.nodes);
  auto at = state.live_words.subspan(4 * group * words);
  for (RankBits* set : {&g.live, &g.settled, &g.proposed}) {
    *set = RankBits(at.first(words));
    at = at.subspan(words);
    set->fill(size_of(g));
  }
  g.placed().fill(size_of(g));
  g.live_count = size_of(g);
}

void begin_window(NodeState& state, std::uint32_t group) {
  std::ranges::fill(child_bases(state, group), 0);
  std::ranges::fill(child_windows(state, group), 0);
}

// Writes the barrier's own schedule. False: the tree has more children here than Limits::transfers.
bool build_window(NodeState& state, std::uint32_t group) {
  GroupState& g = state.groups[group];
  if (g.rank == kNoRank) return true;
  const Limits& l = state.limits;
  ScheduleWriter writer(state.window_stages.subspan(std::size_t{group} * l.stages, l.stages),
                        state.window_transfers.subspan(std::size_t{group} * l.transfers, l.transfers));
  if (g.rank >= defined_participants(g)) {  // a router: nobody above or below it
    writer.begin_stage({}), writer.begin_stage({});
    return writer.ok();
  }
  OperationShape shape;
  shape.ranks = participating(g);
  shape.choice = {Algorithm::kTrees};
  return build_rank_schedule(plan_of(state, g), shape, position_of(g, g.rank), writer) && writer.ok();
}

}  // namespace

bool table_full(const NodeState& state) { return free_index(state) == kNoIndex && !dormant::can_set_aside(state); }

Admission no_place(const NodeState& state) {
  const bool soon = std::ranges::any_of(
      state.groups, [](const GroupState& g) { return g.coming || g.inquiry.phase == Inquiry::Phase::kRemoving; });
  return soon || dormant::can_soon(state) ? Admission::kWouldBlock : Admission::kManyGroups;
}

void set_name(GroupState& g, std::string_view name) {
  g.name_length = static_cast<std::uint8_t>(std::min(name.size(), kMaxGroupName));
  std::copy_n(name.begin(), g.name_length, g.name.begin());
}

std::uint32_t add(NodeState& state, const GroupState& group) {
  if (has_given_tree(group.plan) && group.plan.given.ranks() != defined_participants(group)) return kNoIndex;
  const std::uint32_t i = reserve(state, group);
  return i == kNoIndex || !activate(state, i) ? kNoIndex : i;
}

std::uint32_t reserve(NodeState& state, const GroupState& group) {
  std::uint32_t i = free_index(state);
  if (i == kNoIndex) i = dormant::set_aside(state);
  if (i == kNoIndex) return kNoIndex;
  GroupState& g = state.groups[i];
  g = group;
  g.coming = true;
  if (!has_given_tree(g.plan)) {
    g.plan.given = {};
    return i;
  }
  const auto own = tree_entries(state, i);
  std::ranges::copy(g.plan.given.entries(), own.begin());
  g.plan.given = TreeTable(own);
  return i;
}

bool activate(NodeState& state, std::uint32_t group) {
  GroupState& g = state.groups[group];
  end_intake(g);
  g.definition = ++state.groups_known;
  g.rank = g.members.index_of(state.settings.self);
  for (InquiryMember& m : inquiry_members(state, group)) m = InquiryMember{};
  take_sets(state, group);
  std::uint32_t run = group * state.limits.open_generations;  // the engine's runs are the slots
  for (Slot& s : slots_of(state, group)) {
    s = Slot{};
    state.engine->forget(run++);  // the schedules of the group that was here
  }
  begin_window(state, group);
  return g.used = build_window(state, group);
}

bool set_live(NodeState& state, std::uint32_t group, const RankBits& members) {
  GroupState& g = state.groups[group];
  g.live.assign(members);
  g.placed().assign(members);
  g.live_count = g.live.count();
  g.shrunk = g.live_count < size_of(g);
  g.reported = 0;
  begin_window(state, group);
  return build_window(state, group);
}

bool fits(NodeState& state, std::uint32_t group, const Plan& plan) {
  GroupState& g = state.groups[group];
  const Plan now = g.plan;
  g.plan = plan;
  const bool fits = build_window(state, group);
  g.plan = now;
  build_window(state, group);
  return fits;
}

std::size_t write_bits(const RankBits& set, Rank ranks, std::span<std::byte> out) {
  const std::size_t bytes = (ranks + 7) / 8;
  std::ranges::fill(out.first(bytes), std::byte{0});
  for (Rank r = 0; r < ranks; ++r)
    if (set.has(r)) out[r / 8] |= static_cast<std::byte>(1 << r % 8);
  return bytes;
}

bool read_bits(RankBits set, Rank ranks, std::span<const std::byte> in) {
  if (in.size() != (ranks + 7) / 8) return false;
  set.clear();
  for (Rank r = 0; r < ranks; ++r)
    if ((in[r / 8] >> r % 8 & std::byte{1}) != std::byte{0}) set.add(r);
  return true;
}

RankSchedule window_schedule(const NodeState& state, std::uint32_t group) {
  const Limits& l = state.limits;
  const std::uint32_t stages = state.groups[group].rank == kNoRank ? 0 : 2;
  return {state.window_stages.subspan(std::size_t{group} * l.stages, stages),
          state.window_transfers.subspan(std::size_t{group} * l.transfers, l.transfers)};
}

std::uint32_t find(const NodeState& state, GroupId id) {
  for (std::uint32_t i = 0; i < state.groups.size(); ++i)
    if (state.groups[i].used && state.groups[i].id == id) return i;
  return kNoIndex;
}

std::uint32_t find_coming(const NodeState& state, GroupId id) {
  for (std::uint32_t i = 0; i < state.groups.size(); ++i)
    if (state.groups[i].coming && state.groups[i].id == id) return i;
  return kNoIndex;
}

std::uint32_t find_by_name(const NodeState& state, std::string_view name) {
  const std::uint32_t created = find(state, group_id(name));
  return created != kNoIndex ? created : find(state, default_group_id(name, state.settings.cluster_digest));
}

bool is_created(GroupId id) { return (id & kCreated) != 0; }

bool is_default_here(const NodeState& state, GroupId id) {
  return id >> kNameBits == default_group_id({}, state.settings.cluster_digest) >> kNameBits;
}

std::uint32_t make_default(NodeState& state, GroupId id) {
  GroupState g;
  g.id = id;
  g.members.add_run({0, state.settings.nodes});
  g.plan = state.settings.plan;
  const std::uint32_t i = add(state, g);
  if (i != kNoIndex) dormant::recall(state, i);
  return i;
}

}  // namespace groups

}  // namespace fibocast
