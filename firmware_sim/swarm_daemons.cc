#include "firmware_sim/swarm_daemons.h"

#include <algorithm>

namespace fibocast {
namespace {

constexpr Nanoseconds kDrainTime = 500 * kMillisecond;  // as a daemon has to bring what its clients gave it
constexpr Nanoseconds kDrainTick = 5 * kMillisecond;
constexpr std::uint64_t kDigestBefore = 0x11, kDigestAfter = 0x22;  // of the cluster's file

}  // namespace

std::function<void(NodeSettings&)> before_growth(const Scenario& scenario) {
  if (!scenario.growth) return nullptr;
  return [nodes = scenario.growth->nodes_before](NodeSettings& settings) {
    const bool is_new = settings.self >= nodes;
    if (!is_new) settings.nodes = nodes;
    settings.cluster_digest = is_new ? kDigestAfter : kDigestBefore;
  };
}

SwarmDaemons::SwarmDaemons(SwarmRun& run) : run_(run), random_(run.scenario().seed ^ 0xdae305) {
  const Scenario& scenario = run.scenario();
  for (const ScenarioLeave& each : scenario.leaves) run.cluster().at(each.at, [this, &each] { leave(each); });
  if (!scenario.growth) return;
  for (NodeId node = 0; node < scenario.growth->nodes_before; ++node)
    run.cluster().at(scenario.growth->read_at[node], [this, node] { read_file(node); });
  run.cluster().at(std::ranges::min(scenario.growth->read_at), [this] { note_strangers(); });
}

// Nodes that are not connected by then find each other when both have read the file.
void SwarmDaemons::note_strangers() {
  const ScenarioGrowth& growth = *run_.scenario().growth;
  for (NodeId id = 0; id < growth.nodes_before; ++id) {
    const VirtualNode& node = run_.cluster().node(id);
    if (node.started() && node.node().connected_peers() + 1 == growth.nodes_before) continue;
    Fault apart{.kind = Fault::Kind::kPartition, .nodes = {id}};
    apart.begins = run_.cluster().now(), apart.heals = std::ranges::max(growth.read_at);
    run_.history().faults.push_back(apart);
  }
}

// Its clients are told that it leaves, and call nothing more.
void SwarmDaemons::leave(const ScenarioLeave& l) {
  if (!run_.cluster().node(l.node).running()) return;
  Fault gone{.kind = Fault::Kind::kCrash, .nodes = {l.node}};
  gone.begins = run_.cluster().now(), gone.heals = l.back;
  run_.history().faults.push_back(gone);
  run_.tell_crash(l.node, false);
  finish(l, run_.cluster().now() + kDrainTime);
}

void SwarmDaemons::finish(const ScenarioLeave& l, Nanoseconds until) {
  VirtualNode& node = run_.cluster().node(l.node);
  if (node.running() && !node.node().is_settled() && run_.cluster().now() < until)
    return run_.after(kDrainTick, [this, &l, until] { finish(l, until); });
  run_.tell_crash(l.node, false);  // who has begun meanwhile
  if (node.running()) node.leave();
  node.stop();
  if (l.back != kNever) run_.cluster().at(std::max(l.back, run_.cluster().now()), [this, &l] { come_back(l); });
}

void SwarmDaemons::come_back(const ScenarioLeave& l) {
  const std::uint64_t incarnation = random_.next() | 1;
  if (!run_.cluster().node(l.node).started()) run_.cluster().node(l.node).restart(incarnation);
  run_.tell_crash(l.node, true);
}

void SwarmDaemons::read_file(NodeId id) {
  VirtualNode& node = run_.cluster().node(id);
  if (node.started() && !node.running()) return run_.after(kDrainTick, [this, id] { read_file(id); });
  node.adopt_cluster(run_.cluster().size(), kDigestAfter);
}

}  // namespace fibocast
