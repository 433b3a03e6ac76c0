#include "firmware_sim/swarm_run.h"

#include <algorithm>
#include <utility>

#include "firmware_sim/swarm_daemons.h"
#include "firmware_sim/swarm_groups.h"
#include "firmware_sim/swarm_messages.h"

namespace fibocast {
namespace {

constexpr Nanoseconds kLongestRun = 600 * kSecond;
constexpr std::uint64_t kMostActions = 10'000'000;  // a node that talks for ever without time passing
constexpr Nanoseconds kRest = 5 * kSecond;

std::vector<HistoryGroup> groups_of(const Scenario& scenario) {
  std::vector<HistoryGroup> groups;
  for (const ScenarioGroup& g : scenario.groups) {
    groups.push_back({g.name, g.members, g.participants, g.policy != GroupPolicy::kAll});
    groups.back().must_exist = g.must_exist;
  }
  for (const ScenarioReplan& r : scenario.replans) groups[r.group].replanned = true;
  for (std::size_t i = 0; i < groups.size(); ++i) groups[i].numbered = scenario.groups[i].numbered;
  return groups;
}

bool is_calm(const Scenario& scenario) {
  return scenario.cluster.faults.empty() && !scenario.comes_and_goes &&
         std::ranges::all_of(scenario.start_at, [](Nanoseconds t) { return t == 0; });
}

// Beside the budget: payloads that came with messages, of small operations a few times the largest of these.
std::uint64_t eager_bytes(const Limits& limits) {
  return (Node::buffer_ids(limits) - limits.buffers) * VirtualNode::kLargeBuffer;
}

ClusterSettings cluster_of(const Scenario& scenario) {
  ClusterSettings cluster = scenario.cluster;
  if (scenario.growth) cluster.adjust = before_growth(scenario);
  return cluster;
}

}  // namespace

std::vector<CreationId> created_groups(const Node& node) {
  std::vector<CreationId> created;
  for (std::uint32_t i = 0; i < node.group_count(); ++i)
    if (const CreationId id = node.group_info(i).creation; id != kUnknownCreation) created.push_back(id);
  return created;
}

std::optional<Node::GroupInfo> find_group(const Node& node, GroupId id) {
  for (std::uint32_t i = 0; i < node.group_count(); ++i)
    if (node.group_info(i).id == id) return node.group_info(i);
  return {};
}

SwarmRun::SwarmRun(const Scenario& scenario)
    : scenario_(scenario), cluster_(cluster_of(scenario)), random_(scenario.seed ^ 0x5eed) {
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
  for (const NodeId node : fault.nodes) tell_crash(node, !begins);
}

// Crashes may overlap: a node that is up again may be told so twice.
void SwarmRun::tell_crash(NodeId node, bool back) {
  Record r;
  r.kind = Record::Kind::kCrashed;
  r.at = cluster_.now();
  r.node = node;
  if (!back) history_.records.push_back(r), history_.somebody_crashed = true;
  const bool was_down = down_.contains(node);
  back ? void(down_.erase(node)) : void(down_.insert(node));
  if (back && was_down) history_.restarts.push_back({r.at, node});
  if (on_crash_) on_crash_(node, back);
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
  for (const ScenarioLeave& leave : scenario_.leaves)  // also after the applications have come to their end
    if (leave.back != kNever) quiet = std::max(quiet, leave.back);
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
    if (scenario_.comes_and_goes) history_.ends.back().groups = created_groups(node.node());
    history_.ends.back().up = true;
  }
}

SwarmResult run_scenario(const Scenario& scenario, const std::function<void(VirtualCluster&)>& interfere) {
  SwarmRun run(scenario);
  if (interfere) interfere(run.cluster());
  SwarmGroups groups(run);
  run.set_crash_listener([&groups](NodeId node, bool back) { groups.on_crash(node, back); });
  SwarmDaemons daemons(run);
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
