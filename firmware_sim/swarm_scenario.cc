#include "firmware_sim/swarm_scenario.h"

#include <algorithm>
#include <array>
#include <span>

#include "collectives/check.h"
#include "firmware_sim/random.h"

namespace fibocast {
namespace {

TreeSpec random_tree(Random& random) {
  TreeSpec tree;
  tree.kind = pick(random, std::array{TreeKind::kSequential, TreeKind::kBinomial, TreeKind::kKary, TreeKind::kFibo,
                                      TreeKind::kLambda});
  tree.arity = static_cast<std::uint32_t>(random.between(1, 4));
  tree.s = static_cast<std::uint64_t>(random.between(1, 9));
  tree.r = static_cast<std::uint64_t>(random.between(0, 20));
  return tree;
}

Plan random_plan(Random& random) {
  return {random_tree(random), random_tree(random), pick(random, std::array{0u, 0u, 5'000u, 65'536u})};
}

Limits random_limits(Random& random) {
  Limits limits = Limits::simulated();
  if (random.chance(0.3)) {  // what a server has, without memory for hundreds of peers
    limits = Limits::server();
    limits.nodes = 16, limits.groups = 4, limits.buffers = 512, limits.requests = 64, limits.transfers = 128;
  }
  return limits;
}

// With trouble that lasts for the whole run, or none.
NetworkSettings random_network(Random& random, std::vector<Fault>& faults) {
  NetworkSettings network;
  network.latency_max = pick(random, std::array<Nanoseconds, 4>{0, 50 * kMicrosecond, kMillisecond, 10 * kMillisecond});
  network.latency_min = random.chance(0.5) ? network.latency_max : network.latency_max / 10;
  network.jitter = random.chance(0.5) ? network.latency_max : 0;
  if (random.chance(0.3)) return network;  // calm
  faults.push_back(loss(static_cast<double>(random.below(21)) / 100));
  faults.push_back(duplicates(static_cast<double>(random.below(21)) / 100));
  const double delayed = static_cast<double>(random.below(6)) / 100;
  faults.push_back({.kind = Fault::Kind::kDelay, .nodes = {}, .probability = delayed, .time = 30 * kMillisecond});
  return network;
}

ClusterSettings random_cluster(Random& random) {
  ClusterSettings cluster;
  cluster.nodes = static_cast<std::uint32_t>(random.between(1, 16));
  cluster.limits = random_limits(random);
  cluster.node.plan = random_plan(random);
  cluster.node.suspicion = random.chance(0.5) ? 2 * kSecond : kSecond;
  cluster.node.fragment_bytes = pick(random, std::array{1'200u, 1'200u, 8'000u, 32'768u});
  cluster.network = random_network(random, cluster.faults);
  cluster.seed = random.next();
  return cluster;
}

std::uint64_t random_bytes(Random& random, std::uint64_t eager) {
  const std::uint64_t large = random.chance(0.15) ? 1 << 20 : 65'536;
  return pick(random, std::array<std::uint64_t, 7>{0, 1, random.below(200), eager - 1, eager, eager + 1, large});
}

std::vector<ScenarioOperation> random_operations(Random& random, std::size_t members, std::uint64_t eager) {
  std::vector<ScenarioOperation> operations(static_cast<std::size_t>(random.between(1, 20)));
  const double rushed = pick(random, std::array{0.0, 0.15, 0.4}), barriers = pick(random, std::array{0.1, 0.5, 1.0});
  for (ScenarioOperation& o : operations) {
    o.rushed = random.chance(rushed);
    if (random.chance(barriers)) continue;
    o.operation = Operation::kMulticast;
    o.root = static_cast<Rank>(random.below(members));
    o.bytes = random_bytes(random, eager);
  }
  return operations;
}

std::vector<NodeId> random_members(Random& random, std::uint32_t nodes, bool everybody) {
  std::vector<NodeId> members;
  for (NodeId id = 0; id < nodes; ++id)
    if (everybody || random.chance(0.6)) members.push_back(id);
  if (members.empty()) members.push_back(static_cast<NodeId>(random.below(nodes)));
  return members;
}

ScenarioGroup random_group(Random& random, const ClusterSettings& cluster, ScenarioGroup::Kind kind) {
  using Kind = ScenarioGroup::Kind;
  ScenarioGroup group;
  group.kind = kind;
  group.name = kind == Kind::kAll ? "all" : kind == Kind::kNamed ? "all/gate" : "picked";
  group.members = random_members(random, cluster.nodes, kind != Kind::kCreated);
  group.participants = kind == Kind::kAll ? 1 : static_cast<std::uint32_t>(random.between(1, 3));
  group.plan = random_plan(random);
  group.operations = random_operations(random, group.members.size(), cluster.limits.eager_bytes);
  return group;
}

// Any shape, any numbers: entries have up to 3 children, but one while nobody else is left to be a parent.
std::vector<TreeTableEntry> random_table(Random& random, std::size_t ranks) {
  std::vector<TreeTableEntry> table(ranks);
  std::size_t next = 1;
  for (std::size_t i = 0; i < ranks; ++i) {
    table[i].rank = static_cast<std::uint16_t>(i);
    if (i > 1) std::swap(table[i].rank, table[1 + random.below(i)].rank);
    table[i].first_child = static_cast<std::uint16_t>(next);
    next = std::min(ranks, std::max(next + random.below(4), i + 2));
  }
  check(complete_table(table));
  return table;
}

std::vector<ScenarioFlow> random_flows(Random& random, const ClusterSettings& cluster) {
  std::vector<ScenarioFlow> flows;
  if (cluster.nodes < 2) return flows;
  for (std::uint64_t left = random.below(7); left > 0; --left) {
    ScenarioFlow flow;
    flow.from = static_cast<NodeId>(random.below(cluster.nodes));
    flow.to = static_cast<NodeId>((flow.from + 1 + random.below(cluster.nodes - 1)) % cluster.nodes);
    flow.tag = 7 * flows.size() + 1;                                         // its own, or ...
    if (!flows.empty() && random.chance(0.3)) flow.tag = flows.front().tag;  // ... several sources with one tag
    const bool taken = std::ranges::any_of(
        flows, [&](const ScenarioFlow& f) { return f.from == flow.from && f.to == flow.to && f.tag == flow.tag; });
    if (taken) continue;
    for (std::uint64_t n = random.below(6) + 1; n > 0; --n)
      flow.sizes.push_back(random_bytes(random, cluster.limits.eager_bytes));
    flows.push_back(flow);
  }
  return flows;
}

std::string describe(const ScenarioGrowth& growth, const std::vector<Nanoseconds>& start_at) {
  std::string text = ", grows from " + std::to_string(growth.nodes_before) + " nodes (starts and reads, ms:";
  for (NodeId node = 0; node < start_at.size(); ++node) {
    text += " " + std::to_string(start_at[node] / kMillisecond);
    if (node < growth.nodes_before) text += "-" + std::to_string(growth.read_at[node] / kMillisecond);
  }
  return text + ")";
}

}  // namespace

Nanoseconds grace_for(const ClusterSettings& cluster) {
  using Kind = Fault::Kind;
  constexpr Nanoseconds kFullPipe = 500;  // frames before one that is to be read
  Nanoseconds way = cluster.network.latency_max + cluster.network.jitter;
  if (cluster.streams.used) way += 100 * kMillisecond;  // 30 of them: what TCP needs to find a network whole again
  double lost = 0;
  std::size_t coordinators = 1;
  for (const Fault& fault : cluster.faults) {
    if (fault.kind == Kind::kThrottle) way += kFullPipe * fault.time;
    if (has_time(fault.kind) && fault.kind != Kind::kClockJump && fault.probability > 0) way += fault.time;
    if (fault.kind == Kind::kLoss) lost = std::max(lost, fault.probability);
    if (fault.kind == Kind::kPartition || fault.kind == Kind::kOneWay) coordinators += cluster.nodes;
    if (fault.kind == Kind::kPause || fault.kind == Kind::kCrash) coordinators += fault.nodes.size();
  }
  const Nanoseconds each =
      cluster.node.suspicion + kSecond + 30 * way + static_cast<Nanoseconds>(lost * 40.0 * kSecond);
  return each * static_cast<Nanoseconds>(std::min<std::size_t>(coordinators, cluster.nodes));
}

Scenario make_scenario(std::uint64_t seed) {
  Random random(seed);
  Scenario scenario;
  scenario.seed = seed;
  scenario.cluster = random_cluster(random);
  const double late = random.chance(0.5) ? 0.2 : 0.0;
  for (NodeId id = 0; id < scenario.cluster.nodes; ++id)
    scenario.start_at.push_back(random.chance(late) ? random.between(0, 3 * kSecond) : 0);
  using Kind = ScenarioGroup::Kind;
  scenario.groups.push_back(random_group(random, scenario.cluster, Kind::kAll));
  if (random.chance(0.7))
    scenario.groups.push_back(
        random_group(random, scenario.cluster, random.chance(0.5) ? Kind::kNamed : Kind::kCreated));
  Random trees(seed ^ 0x7ee);  // on its own: what the seed meant before there were such trees stays as it was
  for (ScenarioGroup& group : scenario.groups)
    if (group.kind == Kind::kCreated && trees.chance(0.5)) group.tree = random_table(trees, group.members.size());
  scenario.flows = random_flows(random, scenario.cluster);
  scenario.pause_max = pick(random, std::array<Nanoseconds, 4>{0, 100 * kMicrosecond, kMillisecond, 50 * kMillisecond});
  scenario.grace = grace_for(scenario.cluster);
  return scenario;
}

void go_ahead(Scenario& scenario) { scenario.cluster.node.by_reference = true; }

Plan plan_of(const Scenario& scenario, const ScenarioGroup& group) {
  if (group.kind != ScenarioGroup::Kind::kCreated) return scenario.cluster.node.plan;
  Plan plan = group.plan;
  if (group.tree.empty()) return plan;
  plan.given = TreeTable(group.tree);
  plan.distribution.kind = TreeKind::kGiven;
  if (group.tree.size() % 2 == 0) plan.reduction.kind = TreeKind::kGiven;  // else a formula
  return plan;
}

std::string describe(const Scenario& scenario) {
  const NetworkSettings& network = scenario.cluster.network;
  std::string text = std::to_string(scenario.cluster.nodes) + " nodes, latency " +
                     std::to_string(network.latency_max / kMicrosecond) + " us";
  if (const StreamSettings& streams = scenario.cluster.streams; streams.used)
    text += ", connections of " + std::to_string(streams.held_bytes) + " bytes, queues of " +
            std::to_string(streams.queue_frames) + " frames and " + std::to_string(streams.queue_bytes) + " bytes";
  for (const Fault& fault : scenario.cluster.faults) text += ", " + describe(fault);
  for (const ScenarioGroup& group : scenario.groups)
    text += ", group " + group.name + " (" + std::to_string(group.members.size()) + " x " +
            std::to_string(group.participants) + ", " + std::to_string(group.operations.size()) + " operations" +
            (group.tree.empty() ? "" : ", a given tree") + (group.numbered ? "" : ", calls without numbers") +
            (group.policy == GroupPolicy::kAll ? "" : ", goes on without the lost") + ")";
  if (!scenario.removals.empty()) text += ", " + std::to_string(scenario.removals.size()) + " removals";
  for (const ScenarioLeave& leave : scenario.leaves)
    text += ", " + std::to_string(leave.node) + " leaves at " + std::to_string(leave.at / kMillisecond) + " ms";
  if (scenario.growth) text += describe(*scenario.growth, scenario.start_at);
  if (!scenario.replans.empty()) text += ", " + std::to_string(scenario.replans.size()) + " new plans";
  if (scenario.lives.any())
    text += ", applications die (grace " + std::to_string(scenario.cluster.node.client_grace / kMillisecond) + " ms)";
  return text + ", " + std::to_string(scenario.flows.size()) + " flows of messages";
}

}  // namespace fibocast
