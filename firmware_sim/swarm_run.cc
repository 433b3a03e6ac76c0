#include "firmware_sim/swarm_run.h"

#include <algorithm>
#include <utility>

#include "firmware_sim/swarm_messages.h"
#include "firmware_sim/swarm_participant.h"

namespace fibocast {
namespace {

constexpr Nanoseconds kLongestRun = 600 * kSecond;
constexpr std::uint64_t kMostActions = 10'000'000;  // a node that talks for ever without time passing
constexpr Nanoseconds kRest = 5 * kSecond;

std::vector<HistoryGroup> groups_of(const Scenario& scenario) {
  std::vector<HistoryGroup> groups;
  for (const ScenarioGroup& g : scenario.groups)
    groups.push_back({g.name, g.members, g.participants, g.policy != GroupPolicy::kAll});
  for (const ScenarioReplan& r : scenario.replans) groups[r.group].replanned = true;
  for (std::size_t i = 0; i < groups.size(); ++i) groups[i].numbered = scenario.groups[i].numbered;
  return groups;
}

bool is_calm(const Scenario& scenario) {
  return scenario.cluster.faults.empty() &&
         std::ranges::all_of(scenario.start_at, [](Nanoseconds t) { return t == 0; });
}

// Beside the budget: payloads that came with messages, of small operations a few times the largest of these.
std::uint64_t eager_bytes(const Limits& limits) {
  return (Node::buffer_ids(limits) - limits.buffers) * VirtualNode::kLargeBuffer;
}

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

SwarmRun::SwarmRun(const Scenario& scenario)
    : scenario_(scenario), cluster_(scenario.cluster), random_(scenario.seed ^ 0x5eed) {
  if (scenario.lives.any()) lives_.emplace(scenario, scenario.cluster.node.client_grace);
  history_.groups = groups_of(scenario);
  history_.client_grace = scenario.cluster.node.client_grace;
  history_.grace = scenario.grace;
  history_.calm = is_calm(scenario);
  history_.suspicion = scenario.cluster.node.suspicion;
  history_.faults = scenario.cluster.faults;
  history_.over_streams = scenario.cluster.streams.used;
  history_.way = scenario.cluster.network.latency_max + scenario.cluster.network.jitter;
  history_.payload_bytes_limit = scenario.cluster.limits.payload_bytes + eager_bytes(scenario.cluster.limits);
  history_.large_bytes_limit = scenario.cluster.limits.payload_bytes * 65 / 64;  // hosts have a 64th more
  history_.buffers_limit = Node::buffer_ids(scenario.cluster.limits);
  history_.window = scenario.cluster.limits.open_generations;
  cluster_.keep_payloads(true);  // an application releases what it received when it is done with it
  cluster_.set_listener([this](std::uint64_t cookie, const Answer&) { dispatch(cookie); });
  cluster_.set_fault_listener([this](const Fault& fault, bool begins) { on_fault(fault, begins); });
  for (NodeId id = 0; id < cluster_.size(); ++id) cluster_.start_at(id, scenario.start_at[id]);
}

void SwarmRun::on_fault(const Fault& fault, bool begins) {
  if (fault.kind != Fault::Kind::kCrash) return;
  for (const NodeId node : fault.nodes) {
    Record r;
    r.kind = Record::Kind::kCrashed;
    r.at = cluster_.now();
    r.node = node;
    if (begins) history_.records.push_back(r), history_.somebody_crashed = true;
    if (on_crash_) on_crash_(node, !begins);  // crashes may overlap: a node that is up again may be told so twice
  }
}

void SwarmRun::when_answered(std::uint64_t cookie, std::function<void(const Answer&)> then) {
  waiting_.emplace(cookie, std::move(then));
  if (cluster_.answer(cookie)) dispatch(cookie);
}

// The record is made at the instant of the answer; what the application does next is its own, later action.
void SwarmRun::dispatch(std::uint64_t cookie) {
  const auto at = waiting_.find(cookie);
  if (at == waiting_.end()) return;
  const auto then = std::move(at->second);
  waiting_.erase(at);
  then(*cluster_.answer(cookie));
  cluster_.forget_payload(cookie);
}

void SwarmRun::settle() {
  on_crash_ = nullptr;                 // who comes back now has nothing to do
  Nanoseconds quiet = cluster_.now();  // from when on nothing happens to the nodes any more
  for (const Fault& fault : history_.faults)
    if (fault.heals != kNever || fault.kind == Fault::Kind::kReset)
      quiet = std::max(quiet, fault.heals == kNever ? fault.begins : fault.heals);
  cluster_.run_until(quiet + kRest);
  std::vector<std::uint64_t> wakes;
  for (NodeId id = 0; id < cluster_.size(); ++id) wakes.push_back(cluster_.node(id).timer_calls());
  cluster_.run_until(cluster_.now() + kSecond);
  for (NodeId id = 0; id < cluster_.size(); ++id) {
    const VirtualNode& node = cluster_.node(id);
    if (!node.started()) {
      history_.ends.push_back({});
      continue;
    }
    history_.ends.push_back({node.node().payload_bytes_used(), node.buffers_held(), cluster_.repeated_answers(),
                             node.timer_calls() - wakes[id], node.stuck(), node.most_payload_bytes(),
                             node.most_buffers(), node.most_large_bytes()});
    // New plans are tried for longer than the rest takes.
    if (scenario_.replans.empty()) history_.ends.back().requests = node.node().tables().requests;
  }
}

SwarmResult run_scenario(const Scenario& scenario, const std::function<void(VirtualCluster&)>& interfere) {
  SwarmRun run(scenario);
  if (interfere) interfere(run.cluster());
  std::vector<std::unique_ptr<SwarmParticipant>> participants;
  for (std::uint32_t g = 0; g < scenario.groups.size(); ++g)
    start_group(run, g, definition_of(scenario, scenario.groups[g]), participants);
  run.set_crash_listener([&participants](NodeId node, bool back) {
    for (const auto& participant : participants)
      if (participant->node() == node) back ? participant->on_restart() : participant->on_crash();
  });
  for (const ScenarioReplan& r : scenario.replans)
    run.cluster().at(r.at, [&run, &r] {
      const std::string& name = run.scenario().groups[r.group].name;
      if (run.cluster().node(r.node).running()) run.cluster().replan(r.node, name, r.plan);  // or not: nobody waits
    });
  SwarmMessages messages(run);
  SwarmResult result;
  run.cluster().run_until(kLongestRun,
                          [&run] { return run.finished() || run.cluster().queue().actions_run() > kMostActions; });
  result.finished = run.finished();
  result.virtual_time = run.cluster().now();
  if (result.finished) run.settle();
  result.history = std::move(run.history());
  result.trace = run.cluster().trace();
  result.datagrams = run.cluster().network().counters().sent;
  return result;
}

}  // namespace fibocast
