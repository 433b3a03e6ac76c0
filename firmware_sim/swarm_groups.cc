#include "firmware_sim/swarm_groups.h"

#include <algorithm>
#include <utility>

#include "collectives/check.h"

namespace fibocast {
namespace {

constexpr int kAttemptsToCreate = 40;
constexpr int kAttemptsToRemove = 150;
constexpr int kAttemptsToRemoveFirst = 10;  // half a group may be left where its creator died
constexpr Nanoseconds kBetween = 200 * kMillisecond;
constexpr Nanoseconds kCreationPatience = 40'000 * kMillisecond;  // more than a node has

// The definition of a created group, sent by its first member.
GroupDefinition definition_of(const Scenario& scenario, const ScenarioGroup& group) {
  GroupDefinition definition;
  definition.name = group.name;
  for (NodeId id : group.members) definition.members.add(id);
  definition.participants = group.participants;
  definition.policy = group.policy, definition.quorum = group.quorum;
  definition.plan = plan_of(scenario, group);
  return definition;
}

}  // namespace

SwarmGroups::SwarmGroups(SwarmRun& run) : run_(run), over_(run.scenario().groups.size()), going_on_(over_.size()) {
  participants_.resize(over_.size());
  for (std::uint32_t g = 0; g < over_.size(); ++g) add(g);
  for (const ScenarioRemoval& removal : run.scenario().removals)
    run.cluster().at(removal.at, [this, &removal] { remove(removal, kAttemptsToRemove); });
}

void SwarmGroups::on_crash(NodeId node, bool back) {
  for (const auto& group : participants_)
    for (const auto& participant : group)
      if (participant->node() == node) back ? participant->on_restart() : participant->on_crash();
}

void SwarmGroups::add(std::uint32_t index) {
  const ScenarioGroup& g = group(index);
  for (NodeId node : g.members)
    for (std::uint32_t i = 0; i < g.participants; ++i)
      participants_[index].push_back(std::make_unique<SwarmParticipant>(run_, index, node, i));
  if (g.kind != ScenarioGroup::Kind::kCreated) return begin(index, true);
  const NodeId creator = g.creator == kNoNode ? g.members.front() : g.creator;
  if (g.must_exist) {
    run_.cluster().at(g.opens, [this, index] { end_all_but(index); });
    return run_.cluster().at(g.opens + 2 * kSecond, [this, index] { make(index); });
  }
  if (!g.after) run_.cluster().at(run_.scenario().start_at[creator], [this, index] { make(index); });
}

// Applications connect to their daemon once it runs.
void SwarmGroups::begin(std::uint32_t index, bool exists) {
  for (const auto& participant : participants_[index]) {
    const Nanoseconds start = std::max(run_.scenario().start_at[participant->node()], group(index).opens);
    run_.cluster().at(start, [p = participant.get(), exists] { exists ? p->begin() : p->end(); });
  }
}

void SwarmGroups::make(std::uint32_t index) {
  const ScenarioGroup& g = group(index);
  const NodeId creator = g.creator == kNoNode ? g.members.front() : g.creator;
  create(std::make_shared<Creation>(Creation{index, creator, run_.cluster().now()}));
  if (g.rival != kNoNode) create(std::make_shared<Creation>(Creation{index, g.rival, run_.cluster().now(), 0, true}));
}

// A member that is not up yet refuses by its silence, and a creator that crashes never hears: then the group is created
// once more.
void SwarmGroups::create(const std::shared_ptr<Creation>& c) {
  if (over_[c->group]) return;
  const int attempt = ++c->attempt;
  const auto again = [this, c, attempt] {
    if (attempt != c->attempt || c->is_rival) return;
    if (attempt == kAttemptsToCreate || run_.cluster().now() > c->begun + kPatience) return fail(c->group);
    run_.after(kBetween, [this, c, attempt] {
      if (attempt == c->attempt) create(c);
    });
  };
  if (!run_.cluster().node(c->creator).running()) return again();
  const Asked asked = run_.cluster().create(c->creator, definition_of(run_.scenario(), group(c->group)));
  if (asked.admission != Admission::kTaken) {
    const bool full = asked.admission == Admission::kWouldBlock || asked.admission == Admission::kManyGroups;
    const bool in_the_way = full || asked.admission == Admission::kExists;
    check(in_the_way || (run_.scenario().growth && asked.admission == Admission::kBadRank));
    c->in_the_way = asked.admission == Admission::kExists ? c->in_the_way + 1 : 0;
    if (run_.scenario().comes_and_goes && c->in_the_way == kAttemptsToRemoveFirst) clear_way(c->creator, c->group);
    return again();
  }
  note_attempt(*c);
  run_.when_answered(asked.cookie, [this, c, again, attempt](const Answer& answer) {
    if (attempt != c->attempt) return;
    if (answer.event.done.verdict != Verdict::kOk) return again();
    ++c->attempt;
    on_created(c);
  });
  run_.after(kCreationPatience, again);
}

void SwarmGroups::note_attempt(const Creation& c) {
  HistoryGroup& group = run_.history().groups[c.group];
  if (const auto info = find_group(run_.cluster().node(c.creator).node(), group_id(group.name)))
    group.attempts.push_back({info->creation});
}

void SwarmGroups::on_created(const std::shared_ptr<Creation>& c) {
  const auto info = find_group(run_.cluster().node(c->creator).node(), group_id(group(c->group).name));
  check(info.has_value());
  if (over_[c->group]) {  // too late, unless a rival has made this very group
    if (info->creation != run_.history().groups[c->group].creation) clear_way(c->creator, c->group);
    return;
  }
  over_[c->group] = true;
  run_.history().groups[c->group].creation = info->creation;
  begin(c->group, true);
}

void SwarmGroups::fail(std::uint32_t index) {
  if (over_[index]) return;
  over_[index] = true;
  begin(index, false);
  go_on_after(index, false);
}

void SwarmGroups::go_on_after(std::uint32_t index, bool removed) {
  for (std::uint32_t g = 0; g < over_.size(); ++g) {
    if (group(g).after != index || over_[g] || going_on_[g]) continue;
    going_on_[g] = true;
    if (removed)
      run_.after(group(g).delay, [this, g] { make(g); });
    else
      fail(g);
  }
}

void SwarmGroups::note_removal(HistoryGroup& group, NodeId by) {
  group.removed = std::min(group.removed, run_.cluster().now());
  group.removals.push_back({run_.cluster().now(), by});
}

void SwarmGroups::remove(const ScenarioRemoval& r, int attempts) {
  HistoryGroup& made = run_.history().groups[r.group];
  VirtualNode& node = run_.cluster().node(r.node);
  const auto info = node.running() ? find_group(node.node(), group_id(made.name)) : std::nullopt;
  const bool is_here = info && made.creation != kUnknownCreation && info->creation == made.creation;
  if (is_here && node.remove_group(made.name) == Admission::kTaken) {
    note_removal(made, r.node);
    return go_on_after(r.group, true);
  }
  if (made.removed != kNever) return;  // somebody else was faster
  if (attempts == 0) return go_on_after(r.group, false);
  run_.after(kBetween, [this, &r, attempts] { remove(r, attempts - 1); });
}

// Groups of this name that are still to come will not: whatever is left of it makes way.
void SwarmGroups::end_all_but(std::uint32_t index) {
  for (std::uint32_t g = 0; g < over_.size(); ++g)
    if (g != index && group(g).kind == ScenarioGroup::Kind::kCreated) fail(g);
  for (NodeId node = 0; node < run_.cluster().size(); ++node) {
    if (!run_.cluster().node(node).running()) continue;
    for (const CreationId there : created_groups(run_.cluster().node(node).node()))
      run_.history().leftovers.push_back({run_.cluster().now(), node, there});
  }
  for (NodeId node = 0; node < run_.cluster().size(); ++node) clear_way(node, index);
}

void SwarmGroups::clear_way(NodeId id, std::uint32_t index) {
  VirtualNode& node = run_.cluster().node(id);
  const auto info = node.running() ? find_group(node.node(), group_id(group(index).name)) : std::nullopt;
  if (!info) return;
  const auto made = std::ranges::find(run_.history().groups, info->creation, &HistoryGroup::creation);
  if (made != run_.history().groups.end()) note_removal(*made, id);
  for (HistoryGroup& group : run_.history().groups)
    for (HistoryAttempt& a : group.attempts) a.removed = a.removed || a.creation == info->creation;
  if (node.remove_group(group(index).name) == Admission::kWouldBlock)
    run_.after(kBetween, [this, id, index] { clear_way(id, index); });
}

}  // namespace fibocast
