#include "firmware_sim/swarm_trouble.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "collectives/algorithm_catalog.h"
#include "firmware_sim/random.h"
#include "firmware_sim/swarm_data.h"

namespace fibocast {
namespace {

constexpr Nanoseconds kPatienceForTheDead = 5 * kSecond;
constexpr std::uint64_t kElement = 8;

// Short times as often as long ones.
Nanoseconds random_time(Random& random, Nanoseconds low, Nanoseconds high) {
  const double span = std::log(static_cast<double>(high) / static_cast<double>(low));
  return static_cast<Nanoseconds>(static_cast<double>(low) *
                                  std::exp(span * static_cast<double>(random.below(1001)) / 1000));
}

// Each algorithm that this operation has and these ranks can do, or what the plan says; nothing if there is none.
std::optional<AlgorithmChoice> random_choice(Random& random, const ScenarioGroup& group, const Plan& plan,
                                             ScenarioOperation o) {
  std::vector<AlgorithmChoice> choices;
  if (most_bytes(group, plan, o)) choices.push_back({});
  for (const AlgorithmEntry& entry : algorithm_catalog()) {
    if (entry.operation != o.operation) continue;
    o.choice = entry.choice;
    const bool routed = entry.choice.algorithm == Algorithm::kFlooding;
    if (!routed && group.tree.empty() && objection(shape_of(group, o)).empty() && most_bytes(group, plan, o))
      choices.push_back(entry.choice);
  }
  if (choices.empty()) return {};
  return choices[random.below(choices.size())];
}

void add_data(Random& random, ScenarioGroup& group, const Plan& plan) {
  for (ScenarioOperation& each : group.operations) {
    if (!random.chance(0.5)) continue;
    ScenarioOperation o = each;
    o.operation = static_cast<Operation>(random.between(1, 10));
    const bool rooted = is_push(o.operation) || o.operation == Operation::kReduce ||
                        o.operation == Operation::kGather || o.operation == Operation::kConquer;
    o.root = rooted ? static_cast<Rank>(random.below(group.members.size())) : 0;
    const std::array<std::uint64_t, 5> elements = {0, 1, 30, 140, 2500};
    o.bytes = o.operation == Operation::kBarrier ? 0 : kElement * elements[random.below(elements.size())];
    const std::optional<AlgorithmChoice> choice = random_choice(random, group, plan, o);
    if (!choice) continue;
    const bool shares = o.operation == Operation::kDivide || o.operation == Operation::kConquer;
    o.choice = shares ? AlgorithmChoice{Algorithm::kBinomialShares, {}, kWholeShare} : *choice;
    each = o;
  }
}

std::uint64_t largest_operation(const Scenario& scenario, const ScenarioGroup& group) {
  std::uint64_t most = scenario.cluster.limits.eager_bytes;
  for (const ScenarioOperation& o : group.operations)
    most = std::max(most, most_bytes(group, plan_of(scenario, group), o).value_or(o.bytes));
  return most;
}

// 1.0 times what the largest operation of each group, and the largest message, need; every use has a quarter.
void tighten(Scenario& scenario) {
  std::uint64_t operations = 0, messages = 0;
  for (const ScenarioGroup& group : scenario.groups) operations += largest_operation(scenario, group);
  for (const ScenarioFlow& flow : scenario.flows)
    for (const std::uint64_t bytes : flow.sizes) messages = std::max(messages, bytes);
  scenario.cluster.limits.payload_bytes = 4 * std::max(operations, messages);
}

std::vector<NodeId> random_nodes(Random& random, std::uint32_t nodes, std::uint32_t most) {
  std::vector<NodeId> all;
  for (NodeId id = 0; id < nodes; ++id) all.push_back(id);
  for (std::uint32_t i = nodes; i > 1; --i) std::swap(all[i - 1], all[random.below(i)]);
  all.resize(random.below(std::max(most, 1u)) + 1);
  std::ranges::sort(all);
  return all;
}

Fault random_fault(Random& random, const Scenario& scenario) {
  using Kind = Fault::Kind;
  const std::uint32_t nodes = scenario.cluster.nodes;
  Fault fault;
  fault.kind = static_cast<Kind>(random.below(10));
  if (nodes < 2 && (fault.kind == Kind::kPartition || fault.kind == Kind::kOneWay)) fault.kind = Kind::kPause;
  fault.nodes = random_nodes(random, nodes, is_of_messages(fault.kind) ? nodes / 2 : nodes / 3);
  for (const NodeId id : fault.nodes) fault.begins = std::max(fault.begins, scenario.start_at[id]);
  // Who never came up is not lost: operations wait for it, and a group that only multicasts stands still.
  fault.begins += fault.kind == Fault::Kind::kCrash ? 200 * kMillisecond : 0;
  fault.begins += random_time(random, 100'000, 5 * kSecond);
  fault.heals = fault.begins + random_time(random, kMillisecond, 8 * kSecond);
  if (fault.kind == Kind::kCrash && random.chance(0.4)) fault.heals = kNever;
  if (fault.kind == Kind::kClockJump) fault.heals = kNever;
  fault.probability = has_probability(fault.kind) ? static_cast<double>(random.between(5, 60)) / 100 : 1;
  if (has_time(fault.kind)) fault.time = random_time(random, kMillisecond, kSecond);
  if (fault.kind == Kind::kSlow) fault.time = random_time(random, 100'000, 50 * kMillisecond);
  return fault;
}

// Somebody may be given up for it.
bool separates(const Fault& fault, Nanoseconds suspicion) {
  using Kind = Fault::Kind;
  const bool cuts = fault.kind == Kind::kPartition || fault.kind == Kind::kOneWay || fault.kind == Kind::kPause ||
                    may_outlast(fault, suspicion);
  return fault.kind == Kind::kCrash || (cuts && fault.heals - fault.begins >= suspicion / 2);
}

// Who creates a group comes back to do it; what is sent to the lost is lost, so nobody waits for it; and nobody waits
// minutes for the dead.
void live_with(Scenario& scenario, Fault& fault) {
  if (!separates(fault, scenario.cluster.node.suspicion)) return;
  std::erase_if(scenario.flows,
                [&](const ScenarioFlow& flow) { return concerns(fault, flow.from) || concerns(fault, flow.to); });
  if (fault.kind != Fault::Kind::kCrash) return;
  scenario.patience = kPatienceForTheDead;
  for (const ScenarioGroup& group : scenario.groups)
    if (group.kind == ScenarioGroup::Kind::kCreated && concerns(fault, group.members.front()) && fault.heals == kNever)
      fault.heals = fault.begins + kSecond;
}

}  // namespace

namespace {

// Somebody created it, and it goes on as long as there is a majority, or a quorum.
void let_shrink(ScenarioGroup& group, Random& random) {
  group.kind = ScenarioGroup::Kind::kCreated;
  group.name = "picked";
  const auto size = static_cast<Rank>(group.members.size());
  group.policy = random.chance(0.7) ? GroupPolicy::kSurvivors : GroupPolicy::kQuorum;
  if (group.policy == GroupPolicy::kQuorum)
    group.quorum = size / 2 + 1 + static_cast<Rank>(random.below(size - size / 2));
}

Scenario trouble(Scenario scenario, Random& random, bool shrinks) {
  scenario.cluster.limits.stages = 64;
  scenario.cluster.limits.transfers = std::max(scenario.cluster.limits.transfers, 80u);
  for (ScenarioGroup& group : scenario.groups)
    if (!shrinks && group.participants == 1 && random.chance(0.6)) add_data(random, group, plan_of(scenario, group));
  if (random.chance(0.4)) tighten(scenario);
  for (std::uint64_t left = random.below(4); left > 0; --left) {
    Fault fault = random_fault(random, scenario);
    live_with(scenario, fault);
    scenario.cluster.faults.push_back(fault);
  }
  scenario.grace = grace_for(scenario.cluster);
  return scenario;
}

}  // namespace

Scenario make_troubled_scenario(std::uint64_t seed) {
  Random random(seed ^ 0xfa0175);
  return trouble(make_scenario(seed), random, false);
}

Scenario make_shrinking_scenario(std::uint64_t seed) {
  Random random(seed ^ 0x5417);
  Scenario scenario = make_scenario(seed);
  scenario.groups.resize(1);
  let_shrink(scenario.groups.front(), random);
  return trouble(std::move(scenario), random, true);
}

namespace {

// At any time, by any member. Budgets that are just enough are so for the plans that the groups were created with.
void change_plans(Scenario& scenario, Random random) {
  const std::uint64_t budget = scenario.cluster.limits.payload_bytes;
  if (budget != Limits::simulated().payload_bytes && budget != Limits::server().payload_bytes) return;
  for (std::uint32_t group = 0; group < scenario.groups.size(); ++group) {
    const ScenarioGroup& g = scenario.groups[group];
    if (g.kind != ScenarioGroup::Kind::kCreated || !g.tree.empty()) continue;
    for (std::uint64_t left = random.below(8); left > 0; --left) {
      ScenarioReplan r;
      r.at = random_time(random, kMillisecond, 5 * kSecond);
      r.node = g.members[random.below(g.members.size())];
      r.group = group;
      r.plan = g.plan;
      r.plan.distribution = {.kind = TreeKind::kFibo, .s = 1 + random.below(9), .r = 1 + random.below(9)};
      r.plan.reduction = {.kind = TreeKind::kFibo, .s = 1 + random.below(9), .r = 1 + random.below(9)};
      scenario.replans.push_back(r);
    }
  }
}

}  // namespace

Scenario scenario_of(std::uint64_t seed) {
  Scenario scenario = seed % 3 == 0 ? make_shrinking_scenario(seed) : make_troubled_scenario(seed);
  if (seed % 2 == 0) change_plans(scenario, Random(seed ^ 0x9147));
  return scenario;
}

}  // namespace fibocast
