#include "firmware_sim/swarm_changes.h"

#include <algorithm>

#include "firmware_sim/random.h"

namespace fibocast {
namespace {

using GroupKind = ScenarioGroup::Kind;

constexpr Nanoseconds kOpeningTime = 300 * kMillisecond;  // the applications have opened their groups
constexpr Nanoseconds kPatienceInTheEnd = 120 * kSecond;  // ample: all must succeed

Nanoseconds soon_or_late(Random& random, Nanoseconds high) {
  return random.chance(0.5) ? random.between(0, high) : random.between(0, high / 50);
}

// Small operations, so that budgets that are just enough for others do for these.
std::vector<ScenarioOperation> small_operations(Random& random, std::size_t members) {
  std::vector<ScenarioOperation> operations(static_cast<std::size_t>(random.between(1, 12)));
  for (ScenarioOperation& o : operations) {
    o.rushed = random.chance(0.1);
    if (random.chance(0.6)) continue;
    o.operation = Operation::kMulticast;
    o.root = static_cast<Rank>(random.below(members));
    o.bytes = random.below(200);
  }
  return operations;
}

// Leaves out what speaks of nodes from `first` on.
void forget_nodes_from(Scenario& scenario, NodeId first) {
  std::erase_if(scenario.flows, [&](const ScenarioFlow& f) { return f.from >= first || f.to >= first; });
  std::erase_if(scenario.replans, [&](const ScenarioReplan& r) { return r.node >= first; });
}

void set_members(ScenarioGroup& group, std::vector<NodeId> members, Random& random) {
  group.members = std::move(members);
  group.operations = small_operations(random, group.members.size());
  group.tree.clear();
  const auto size = static_cast<Rank>(group.members.size());
  if (group.policy == GroupPolicy::kQuorum) group.quorum = size / 2 + 1;
}

std::vector<NodeId> first_nodes(std::uint32_t nodes) {
  std::vector<NodeId> members;
  for (NodeId id = 0; id < nodes; ++id) members.push_back(id);
  return members;
}

std::vector<NodeId> some_of(Random& random, const std::vector<NodeId>& nodes) {
  std::vector<NodeId> members;
  for (const NodeId id : nodes)
    if (random.chance(0.7)) members.push_back(id);
  if (members.empty()) members.push_back(nodes[random.below(nodes.size())]);
  return members;
}

bool is_gone_for_ever(const Scenario& scenario, NodeId node) {
  return std::ranges::any_of(scenario.cluster.faults, [&](const Fault& fault) {
    return fault.kind == Fault::Kind::kCrash && fault.heals == kNever && concerns(fault, node);
  });
}

// Of these: one that is there to do what it has begun.
NodeId somebody(const Scenario& scenario, const std::vector<NodeId>& nodes, Random& random) {
  std::vector<NodeId> there = nodes;
  std::erase_if(there, [&](NodeId id) { return is_gone_for_ever(scenario, id); });
  return there.empty() ? nodes.front() : there[random.below(there.size())];
}

// The last nodes are new. The groups of all that exist by their names go on; by the same names there is one of all
// nodes, too.
void grow(Scenario& scenario, Random& random) {
  const std::uint32_t all = scenario.cluster.nodes;
  const auto before = static_cast<std::uint32_t>(all - random.between(1, std::min(3u, all - 1)));
  ScenarioGrowth growth{before, {}};
  const Nanoseconds begins = soon_or_late(random, 4 * kSecond);
  for (NodeId id = 0; id < before; ++id)
    growth.read_at.push_back(begins + kOpeningTime + soon_or_late(random, 2 * kSecond));  // or when it starts
  for (NodeId id = before; id < all; ++id) scenario.start_at[id] = begins + soon_or_late(random, 3 * kSecond);
  forget_nodes_from(scenario, before);
  const bool apart = begins < kSecond || std::ranges::any_of(scenario.start_at, [](Nanoseconds t) { return t > 0; });
  if (apart) scenario.flows.clear();  // nodes whose files differ do not connect
  std::vector<ScenarioGroup> more;
  for (ScenarioGroup& group : scenario.groups) {
    if (group.members.back() < before) continue;
    if (group.kind == GroupKind::kCreated) {
      std::vector<NodeId> members = group.members;
      std::erase_if(members, [&](NodeId id) { return id >= before; });
      if (members.empty()) members.push_back(0);
      set_members(group, members, random);
      continue;
    }
    more.push_back(group);
    set_members(more.back(), first_nodes(all), random);
    more.back().opens = std::ranges::min(growth.read_at);
    set_members(group, first_nodes(before), random);
  }
  scenario.groups.insert(scenario.groups.end(), more.begin(), more.end());
  scenario.growth = growth;
}

// One daemon after the other, as in an upgrade, or only some.
void let_leave(Scenario& scenario, Random& random) {
  Nanoseconds at = soon_or_late(random, 5 * kSecond);
  for (NodeId node = 0; node < scenario.cluster.nodes; ++node) {
    if (random.chance(0.5)) continue;
    ScenarioLeave leave;
    leave.node = node;
    leave.at = std::max(at, scenario.start_at[node] + 200 * kMillisecond);
    leave.back = leave.at + random.between(kSecond / 2 + kMillisecond, 3 * kSecond);
    at = leave.at + soon_or_late(random, 4 * kSecond);
    scenario.leaves.push_back(leave);
    std::erase_if(scenario.flows, [&](const ScenarioFlow& f) { return f.from == node || f.to == node; });
  }
}

ScenarioGroup next_life(const Scenario& scenario, const ScenarioGroup& before, Random& random) {
  ScenarioGroup next = before;
  next.tree.clear();
  next.delay = random.chance(0.5) ? 0 : soon_or_late(random, kSecond);
  const std::vector<NodeId> all = first_nodes(scenario.cluster.nodes);
  set_members(next, random.chance(0.4) ? before.members : some_of(random, all), random);
  if (random.chance(0.5)) next.plan.distribution = {.kind = TreeKind::kFibo, .s = 1 + random.below(9), .r = 1};
  if (random.chance(0.2)) next.policy = random.chance(0.5) ? GroupPolicy::kAll : GroupPolicy::kSurvivors;
  next.quorum = next.policy == GroupPolicy::kQuorum ? static_cast<Rank>(next.members.size() / 2 + 1) : 0;
  next.creator = somebody(scenario, next.members, random);
  next.rival = random.chance(0.3) ? somebody(scenario, next.members, random) : kNoNode;
  if (next.rival == next.creator) next.rival = kNoNode;
  return next;
}

Nanoseconds quiet_time(const Scenario& scenario) {
  Nanoseconds quiet = 20 * kSecond;
  for (const Fault& fault : scenario.cluster.faults)
    if (fault.heals != kNever) quiet = std::max(quiet, fault.heals);
  for (const ScenarioLeave& leave : scenario.leaves) quiet = std::max(quiet, leave.back);
  return quiet + 10 * kSecond;
}

// Its faults last as long as the run.
bool has_bad_network(const Scenario& scenario) {
  return std::ranges::any_of(scenario.cluster.faults, [](const Fault& fault) {
    return is_of_messages(fault.kind) && fault.heals == kNever && fault.probability > 0.1;
  });
}

// When all is over a group of that name can be made of all who are there, whatever was before, and works.
void end_well(Scenario& scenario, ScenarioGroup group, Random& random) {
  std::vector<NodeId> members = first_nodes(scenario.cluster.nodes);
  std::erase_if(members, [&](NodeId id) { return is_gone_for_ever(scenario, id); });
  if (members.empty() || has_bad_network(scenario)) return;
  set_members(group, members, random);
  group.policy = GroupPolicy::kAll, group.quorum = 0;
  group.after.reset();
  group.creator = members[random.below(members.size())], group.rival = kNoNode;
  group.patience = kPatienceInTheEnd;
  for (ScenarioOperation& o : group.operations) o.rushed = false;
  group.opens = quiet_time(scenario);
  group.must_exist = true;
  scenario.groups.push_back(group);
}

// A member is cut off while its group is removed.
void let_be_away(Scenario& scenario, Random& random) {
  for (const ScenarioRemoval& removal : scenario.removals) {
    if (scenario.cluster.nodes < 2 || random.chance(0.7)) continue;
    const std::vector<NodeId>& members = scenario.groups[removal.group].members;
    Fault away{.kind = Fault::Kind::kPartition, .nodes = {members[random.below(members.size())]}};
    away.begins = std::max<Nanoseconds>(removal.at - random.between(0, 3 * kSecond), kSecond);
    away.heals = std::max(removal.at, away.begins) + random.between(kSecond, 6 * kSecond);
    scenario.cluster.faults.push_back(away);
    scenario.flows.clear();  // what is sent to the lost is lost
  }
}

void let_groups_change(Scenario& scenario, Random& random) {
  if (std::ranges::none_of(scenario.groups, [](const ScenarioGroup& g) { return g.kind == GroupKind::kCreated; })) {
    ScenarioGroup first = scenario.groups.front();
    first.kind = GroupKind::kCreated, first.name = "picked";
    const auto nodes = scenario.growth ? scenario.growth->nodes_before : scenario.cluster.nodes;
    set_members(first, some_of(random, first_nodes(nodes)), random);
    scenario.groups.push_back(first);
  }
  for (ScenarioGroup& group : scenario.groups)
    if (group.kind == GroupKind::kCreated) group.creator = somebody(scenario, group.members, random);
  auto last = static_cast<std::uint32_t>(std::ranges::find(scenario.groups, GroupKind::kCreated, &ScenarioGroup::kind) -
                                         scenario.groups.begin());
  Nanoseconds at = soon_or_late(random, 3 * kSecond);
  for (std::uint64_t left = random.below(5); left > 0; --left) {
    const ScenarioGroup before = scenario.groups[last];
    for (int removers = random.chance(0.2) ? 2 : 1; removers > 0; --removers)
      scenario.removals.push_back({at, before.members[random.below(before.members.size())], last});
    at += soon_or_late(random, 3 * kSecond);
    scenario.groups.push_back(next_life(scenario, before, random));
    scenario.groups.back().after = last;
    last = static_cast<std::uint32_t>(scenario.groups.size() - 1);
  }
  let_be_away(scenario, random);
  end_well(scenario, scenario.groups[last], random);
}

// Those who leave are waited for as those who die.
Nanoseconds grace_of(const Scenario& scenario) {
  ClusterSettings cluster = scenario.cluster;
  for (const ScenarioLeave& leave : scenario.leaves)
    cluster.faults.push_back({.kind = Fault::Kind::kCrash, .nodes = {leave.node}});
  return grace_for(cluster);
}

}  // namespace

void let_change(Scenario& scenario) {
  Random random(scenario.seed ^ 0xc4a47e5);
  scenario.comes_and_goes = true;
  scenario.cluster.limits.groups = 8;
  scenario.patience = std::min(scenario.patience, 5 * kSecond);
  if (scenario.cluster.nodes > 1 && random.chance(0.4)) grow(scenario, random);
  if (random.chance(0.6)) let_leave(scenario, random);
  let_groups_change(scenario, random);
  scenario.grace = grace_of(scenario);
}

}  // namespace fibocast
