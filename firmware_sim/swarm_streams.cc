#include "firmware_sim/swarm_streams.h"

#include <algorithm>
#include <array>

#include "firmware_sim/random.h"

namespace fibocast {
namespace {

using Kind = Fault::Kind;

// What a daemon has, or less: the contract is the same, and queues fill up sooner. Where the way is long, a connection
// that holds one frame would take a second for fifty.
StreamSettings random_streams(Random& random, Nanoseconds way) {
  StreamSettings streams;
  streams.used = true;
  if (random.chance(0.2)) return streams;
  streams.queue_frames = pick(random, std::array<std::size_t, 4>{1, 2, 8, 64});
  streams.queue_bytes = pick(random, std::array<std::size_t, 3>{16'384, 65'536, 262'144});
  const std::size_t least = way > 2 * kMillisecond ? 16'384 : 1;
  streams.held_bytes = std::max(least, pick(random, std::array<std::size_t, 5>{1, 2'048, 16'384, 65'536, 4'194'304}));
  return streams;
}

// Loss is what TCP sends again, soon as a rule. A question and its answer take six ways where both dial; where a
// connection holds one frame, they wait for those before them, of which each takes its way alone.
void let_tcp_repair(std::vector<Fault>& faults, Nanoseconds suspicion, bool holds_one) {
  std::erase_if(faults, [](const Fault& f) { return f.kind == Kind::kDuplicate; });
  for (Fault& f : faults) {
    if (f.kind == Kind::kLoss) f.kind = Kind::kDelay, f.time = 50 * kMillisecond;
    if (f.kind == Kind::kDelay || f.kind == Kind::kReorder) f.time = std::min(f.time, suspicion / 9);
    if (f.kind == Kind::kReorder && holds_one) f.time = std::min(f.time, suspicion / 50);
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

// In the handshake, or any time; one break, or one after the other. `storm`: many, so close that who is there may be
// taken for lost.
void add_resets(Random& random, Scenario& scenario, bool storm) {
  for (std::uint64_t left = storm ? 5 + random.below(10) : random.below(4); left > 0; --left) {
    Fault reset{.kind = Kind::kReset, .nodes = some_nodes(random, scenario.cluster.nodes, 1)};
    reset.probability = pick(random, std::array{0.2, 0.5, 1.0});
    const Nanoseconds longest = pick(random, std::array<Nanoseconds, 3>{50 * kMillisecond, kSecond, 5 * kSecond});
    reset.begins = scenario.start_at[reset.nodes.front()] + random.between(1, longest);
    const Nanoseconds apart =
        storm ? random.between(kMillisecond, 100 * kMillisecond) : random.between(210 * kMillisecond, kSecond);
    for (std::uint64_t times = 1 + random.below(storm ? 30 : 3); times > 0; --times, reset.begins += apart)
      scenario.cluster.faults.push_back(reset);
  }
}

Fault random_lasting(Random& random, Kind kind, std::vector<NodeId> nodes, Nanoseconds latest, Nanoseconds longest) {
  Fault fault{.kind = kind, .begins = random.between(1, latest), .nodes = std::move(nodes)};
  fault.heals = fault.begins + random.between(kMillisecond, longest);
  return fault;
}

// Cuts that follow each other closely are one: what was sent in the first may be sent again in the second only.
bool comes_near(const Fault& cut, const Fault& stall) {
  const bool stops = cuts(cut.kind) || cut.kind == Kind::kPause;
  return stops && cut.begins <= stall.heals + 2 * kSecond && cut.heals + 2 * kSecond >= stall.begins;
}

void add_waits(Random& random, Scenario& scenario) {
  const std::uint32_t nodes = scenario.cluster.nodes;
  std::vector<Fault>& faults = scenario.cluster.faults;
  if (const Nanoseconds longest = shortest_cut(scenario.cluster.node.suspicion, true);
      nodes > 1 && random.chance(0.5)) {
    const Fault stall = random_lasting(random, Kind::kStall, some_nodes(random, nodes, 2), 3 * kSecond, longest - 1);
    if (std::ranges::none_of(faults, [&](const Fault& f) { return comes_near(f, stall); })) faults.push_back(stall);
  }
  const bool holds_little = scenario.cluster.streams.held_bytes <= 16'384;  // then a slow reader is not far behind
  for (std::uint64_t left = random.below(3); left > 0; --left) {
    const Nanoseconds latest = random.chance(0.5) ? 50 * kMillisecond : 5 * kSecond;
    faults.push_back(random_lasting(random, Kind::kThrottle, some_nodes(random, nodes, 1), latest, 5 * kSecond));
    faults.back().time = random.between(10 * kMicrosecond, holds_little ? kMillisecond : 200 * kMicrosecond);
  }
}

// Flows go on for longer: more of what they have, the largest above all.
void lengthen(Random& random, ScenarioFlow& flow) {
  const std::vector<std::uint64_t> sizes = flow.sizes;
  for (std::uint64_t left = random.below(30); left > 0; --left)
    flow.sizes.push_back(random.chance(0.5) ? std::ranges::max(sizes) : sizes[random.below(sizes.size())]);
}

// A cut is longer over TCP, which asks ever less often; and what is sent to the lost is lost.
void drop_flows(Scenario& scenario) {
  const ClusterSettings& cluster = scenario.cluster;
  const Nanoseconds longest = shortest_cut(cluster.node.suspicion, true);
  const Nanoseconds way = cluster.network.latency_max + cluster.network.jitter;
  if (!storms(cluster.faults, way, cluster.node.suspicion).empty()) scenario.flows.clear();
  for (const Fault& fault : scenario.cluster.faults) {
    const bool long_enough = (cuts(fault.kind) || fault.kind == Kind::kPause) && fault.heals - fault.begins >= longest;
    std::erase_if(scenario.flows, [&](const ScenarioFlow& flow) {
      return (long_enough && (concerns(fault, flow.from) || concerns(fault, flow.to)));
    });
  }
}

}  // namespace

void use_streams(Scenario& scenario) {
  Random random(scenario.seed ^ 0x57e4);
  ClusterSettings& cluster = scenario.cluster;
  cluster.streams = random_streams(random, cluster.network.latency_max + cluster.network.jitter);
  let_tcp_repair(cluster.faults, cluster.node.suspicion, cluster.streams.held_bytes == 1);
  add_waits(random, scenario);
  add_resets(random, scenario, random.chance(0.25));
  drop_flows(scenario);
  for (ScenarioFlow& flow : scenario.flows) lengthen(random, flow);
  scenario.grace = grace_for(cluster);
}

}  // namespace fibocast
