#include "firmware_sim/swarm_streams.h"

#include <algorithm>
#include <array>

#include "firmware_sim/random.h"

namespace fibocast {
namespace {

using Kind = Fault::Kind;

// What a daemon has, or less: the contract is the same, and queues fill up sooner.
StreamSettings random_streams(Random& random) {
  StreamSettings streams;
  streams.used = true;
  if (random.chance(0.3)) return streams;
  streams.queue_frames = pick(random, std::array<std::size_t, 4>{2, 8, 32, 64});
  streams.queue_bytes = pick(random, std::array<std::size_t, 3>{16'384, 65'536, 262'144});
  streams.held_bytes = pick(random, std::array<std::size_t, 4>{16'384, 65'536, 262'144, 4'194'304});
  return streams;
}

// Loss is what TCP sends again, soon as a rule. A question and its answer take six ways where both dial.
void let_tcp_repair(std::vector<Fault>& faults, bool whole_run_too, Nanoseconds suspicion) {
  std::erase_if(faults, [&](const Fault& f) {
    const bool whole_run = is_of_messages(f.kind) && f.begins == 0 && f.heals == kNever;
    return f.kind == Kind::kDuplicate || (whole_run && !whole_run_too);
  });
  for (Fault& f : faults) {
    if (f.kind == Kind::kLoss) f.kind = Kind::kDelay, f.time = 50 * kMillisecond;
    if (f.kind == Kind::kDelay || f.kind == Kind::kReorder) f.time = std::min(f.time, suspicion / 9);
  }
}

std::vector<NodeId> some_nodes(Random& random, std::uint32_t nodes, std::uint32_t least) {
  std::vector<NodeId> some;
  const std::uint64_t first = random.below(nodes);
  const std::uint64_t count = least + random.below(std::max(nodes / 3, 1u));
  for (std::uint64_t i = 0; i < std::min<std::uint64_t>(count, nodes); ++i)
    some.push_back(static_cast<NodeId>((first + i) % nodes));
  std::ranges::sort(some);
  return some;
}

// In the handshake, or any time; one break, or one after the other.
void add_resets(Random& random, Scenario& scenario) {
  for (std::uint64_t left = random.below(4); left > 0; --left) {
    Fault reset{.kind = Kind::kReset, .nodes = some_nodes(random, scenario.cluster.nodes, 1)};
    reset.probability = pick(random, std::array{0.2, 0.5, 1.0});
    const Nanoseconds longest = pick(random, std::array<Nanoseconds, 3>{50 * kMillisecond, kSecond, 5 * kSecond});
    reset.begins = scenario.start_at[reset.nodes.front()] + random.between(1, longest);
    const Nanoseconds apart = random.between(210 * kMillisecond, kSecond);
    for (std::uint64_t times = 1 + random.below(3); times > 0; --times, reset.begins += apart)
      scenario.cluster.faults.push_back(reset);
  }
}

Fault random_lasting(Random& random, Kind kind, std::vector<NodeId> nodes, Nanoseconds longest) {
  Fault fault{.kind = kind, .begins = random.between(1, 5 * kSecond), .nodes = std::move(nodes)};
  fault.heals = fault.begins + random.between(kMillisecond, longest);
  return fault;
}

void add_waits(Random& random, Scenario& scenario) {
  const std::uint32_t nodes = scenario.cluster.nodes;
  std::vector<Fault>& faults = scenario.cluster.faults;
  for (std::uint64_t left = random.below(3); left > 0 && nodes > 1; --left)
    faults.push_back(random_lasting(random, Kind::kStall, some_nodes(random, nodes, 2),
                                    shortest_cut(scenario.cluster.node.suspicion, true) - kMillisecond));
  for (std::uint64_t left = random.below(3); left > 0; --left) {
    faults.push_back(random_lasting(random, Kind::kThrottle, some_nodes(random, nodes, 1), 5 * kSecond));
    faults.back().time = random.between(10 * kMicrosecond, 300 * kMicrosecond);
  }
}

// A cut is longer over TCP, which asks ever less often; and what is sent to the lost is lost.
void drop_flows(Scenario& scenario, bool may_refuse) {
  const Nanoseconds longest = shortest_cut(scenario.cluster.node.suspicion, true);
  for (const Fault& fault : scenario.cluster.faults) {
    const bool cuts = fault.kind == Kind::kPartition || fault.kind == Kind::kOneWay || fault.kind == Kind::kPause;
    const bool long_enough = cuts && fault.heals - fault.begins >= longest;
    std::erase_if(scenario.flows, [&](const ScenarioFlow& flow) {
      return may_refuse || (long_enough && (concerns(fault, flow.from) || concerns(fault, flow.to)));
    });
  }
}

}  // namespace

// In half of the scenarios nobody who is there is ever taken for dead because a connection broke.
void use_streams(Scenario& scenario) {
  Random random(scenario.seed ^ 0x57e4);
  ClusterSettings& cluster = scenario.cluster;
  cluster.streams = random_streams(random);
  const bool may_refuse = random.chance(0.5);
  let_tcp_repair(cluster.faults, may_refuse, cluster.node.suspicion);
  add_waits(random, scenario);
  add_resets(random, scenario);
  const Nanoseconds way = cluster.network.latency_max + cluster.network.jitter;
  const std::vector<Fault> all = cluster.faults;
  if (!may_refuse) std::erase_if(cluster.faults, [&](const Fault& f) { return may_refuse_the_living(f, all, way); });
  drop_flows(scenario, may_refuse);
  scenario.grace = grace_for(cluster);
}

}  // namespace fibocast
