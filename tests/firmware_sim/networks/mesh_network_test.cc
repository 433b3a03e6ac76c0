// The papers' meshes: dilation, interference and times of divide and conquer (Lo et al. 1992, D5 to D11), and the
// congestion experiment of Bruck et al. 1996 (B19).
#include "firmware_sim/networks/mesh_network.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <vector>

#include "collectives/models/mesh_times.h"
#include "collectives/models/postal_congestion.h"
#include "collectives/tree_binomial.h"
#include "collectives/tree_lambda.h"
#include "collectives/tree_mesh.h"
#include "firmware_sim/random.h"
#include "tests/firmware_sim/simulated.h"

namespace fibocast {
namespace {

using test::free_nodes;
using test::simulated;

constexpr MeshMapping kMappings[] = {MeshMapping::kReflecting, MeshMapping::kGrowing};
constexpr Ticks kTransfer = 12;  // of one message: c + b W

unsigned trailing_ones(Rank b) { return static_cast<unsigned>(std::countr_one(b)); }

// The messages of the phases `first` .. `last`, phase i not before (i - first) * phase_ticks.
Workload phases(unsigned order, unsigned first, unsigned last, Ticks phase_ticks) {
  const auto write = [=](Rank b, ScheduleWriter& out) {
    const unsigned received = divide_phase(order, b);
    out.begin_stage({.waits_for_arrival = true});
    if (received >= first && received <= last)
      out.receive({.peer = divide_parent(order, b), .carries = Carries::kPayload});
    std::uint8_t stage = 0;
    for (unsigned i = std::max(first, order - trailing_ones(b) + 1); i <= last; ++i, ++stage) {
      out.begin_stage({.not_before = static_cast<Nanoseconds>((i - first) * phase_ticks), .after = stage});
      out.send({.peer = divide_child(b, order - i), .carries = Carries::kPayload});
    }
    return true;
  };
  return {{.operation = Operation::kMulticast, .ranks = Rank{1} << order, .total_bytes = 1}, write};
}

std::vector<NodeId> placed(MeshMapping mapping, unsigned order) {
  std::vector<NodeId> nodes(std::size_t{1} << order);
  for (Rank b = 0; b < nodes.size(); ++b) {
    const MeshPoint p = mesh_point(mapping, order, b);
    nodes[b] = p.y * mesh_size(order).width + p.x;
  }
  return nodes;
}

MeshNetwork mesh_of(unsigned order, bool wormhole, const MeshTimes& times) {
  const MeshSize size = mesh_size(order);
  return {size.height, size.width, wormhole, times};
}

TEST(MeshNetwork, D5ToD10PhaseByPhase) {
  for (const MeshMapping mapping : kMappings)
    for (unsigned n = 1; n <= 10; ++n) {
      const std::vector<MeshPhase> measured = measure_mesh_phases(mapping, n);
      for (unsigned i = 1; i <= n; ++i) {
        const auto shape = mesh_phase_shape<Rational>(mapping, n, i);
        const Ticks d = shape.dilation.numerator(), c = shape.interference.numerator();
        MeshNetwork wormhole = mesh_of(n, true, {.hold = kTransfer, .latency = kTransfer, .per_hop = 1});
        const SimulationRun held = simulated(phases(n, i, i, 0), free_nodes(), wormhole, placed(mapping, n));
        EXPECT_EQ(held.loads.longest_way, d);
        EXPECT_EQ(held.loads.most_conflicts, c);
        EXPECT_EQ(held.loads.conflicts, c * held.messages / 2);  // every edge has as many
        EXPECT_EQ(std::ranges::max_element(held.loads.links, {}, &LinkLoad::messages)->messages,
                  measured[i - 1].edges_per_link);
        EXPECT_EQ(held.completion, kTransfer * (1 + c) + d) << n << ' ' << i;  // D10, and h = 1 per link
        MeshNetwork forwarding = mesh_of(n, false, {.hold = kTransfer});
        const SimulationRun passed = simulated(phases(n, i, i, 0), free_nodes(), forwarding, placed(mapping, n));
        EXPECT_EQ(passed.completion, kTransfer * d);  // D10b: in lockstep they never meet
        EXPECT_LE(passed.completion, kTransfer * (d + c));
      }
    }
}

// All phases one after the other, each as long as its bound or less.
TEST(MeshNetwork, D11Totals) {
  for (const MeshMapping mapping : kMappings)
    for (unsigned n = 1; n <= 8; ++n) {
      const auto totals = mesh_totals(mapping, n, Rational(1));
      Ticks wormhole_total = 0, forwarding_total = 0;
      for (unsigned i = 1; i <= n; ++i) {
        MeshNetwork wormhole = mesh_of(n, true, {.hold = 1, .latency = 1});
        MeshNetwork forwarding = mesh_of(n, false, {.hold = 1});
        wormhole_total += simulated(phases(n, i, i, 0), free_nodes(), wormhole, placed(mapping, n)).completion;
        forwarding_total += simulated(phases(n, i, i, 0), free_nodes(), forwarding, placed(mapping, n)).completion;
      }
      EXPECT_EQ(Rational(wormhole_total), totals.wormhole);
      EXPECT_EQ(Rational(forwarding_total), totals.lockstep);
      EXPECT_LE(Rational(forwarding_total), totals.store_and_forward);
    }
}

// With enough time for each phase the operation as a whole ends with its last message.
TEST(MeshNetwork, AWholeDivisionEndsWithItsLastPhase) {
  constexpr unsigned kOrder = 6;
  constexpr Ticks kPhase = 1000;
  MeshNetwork network = mesh_of(kOrder, true, {.hold = kTransfer, .latency = kTransfer});
  const SimulationRun run =
      simulated(phases(kOrder, 1, kOrder, kPhase), free_nodes(), network, placed(MeshMapping::kReflecting, kOrder));
  EXPECT_EQ(run.messages, 63u);
  EXPECT_EQ(run.completion, (kOrder - 1) * kPhase + kTransfer);
}

TEST(MeshNetwork, HoldsThePathAgainstTheNextMessage) {
  MeshNetwork network(1, 4, true, {.hold = 10, .latency = 3});
  EXPECT_EQ(network.enter({0, 2, 0}, 0).time, 3u);
  EXPECT_EQ(network.enter({3, 1, 0}, 1).time, 4u);   // the other direction
  EXPECT_EQ(network.enter({1, 3, 0}, 4).time, 13u);  // waits for the link 1 -> 2
  EXPECT_EQ(network.enter({2, 3, 0}, 15).time, 23u);
  const NetworkLoads loads = network.loads();
  EXPECT_EQ(loads.conflicts, 2u);
  EXPECT_EQ(loads.most_conflicts, 2u);
  EXPECT_EQ(loads.waited, 6u + 5u);
  EXPECT_EQ(loads.longest_way, 2u);
}

TEST(MeshNetwork, BadParameters) {
  MachineDescription d{.network = NetworkKind::kMesh};
  EXPECT_EQ(test::mistake(d), "");
  d.rows = 2;
  EXPECT_EQ(test::mistake(d), "a mesh has both rows and columns, or neither");
  d.columns = 1;
  EXPECT_EQ(test::mistake(d), "the machine has 2 nodes, not 4");
  d.columns = 1 << 30;
  EXPECT_EQ(test::mistake(d), "a mesh has at most 16000000 nodes");
  d.columns = 2, d.wormhole = false;
  EXPECT_EQ(test::mistake(d), "a link that stores and forwards needs a hold time above 0");
  d.hold = 1;
  EXPECT_EQ(test::mistake(d), "");
}

// -- The congestion experiment: 8 x 8 nodes, lambda = 1.8 in ticks of 1/5.

constexpr NodeTable postal_nodes(Ports ports) { return {.kinds = {{.send = 5, .occupancy = 0}}, .ports = ports}; }
constexpr MeshTimes kPostal{.hold = 5, .latency = 4};

std::vector<NodeId> shuffled(std::uint64_t seed) {
  std::vector<NodeId> nodes(64);
  for (NodeId i = 0; i < 64; ++i) nodes[i] = i;
  Random random(seed);
  for (std::size_t i = 63; i > 0; --i) std::swap(nodes[i], nodes[random.below(i + 1)]);
  return nodes;
}

SimulationRun postal_broadcast(const Tree& tree, const std::vector<NodeId>& placement) {
  MeshNetwork network(8, 8, true, kPostal);
  return simulated(test::along(tree, Operation::kMulticast), postal_nodes(Ports::kIndependent), network, placement);
}

std::uint64_t half(std::uint64_t n) { return (n + 1) / 2; }
std::uint64_t most(std::uint64_t n) { return std::clamp<std::uint64_t>((2 * 29 * n + 50) / 100, 1, n - 1); }  // 0.58

TEST(MeshNetwork, B19RowMajorHasNoConflictsAndTheLambdaTreeGains) {
  const Tree lambda = tree_lambda_partition(64, most), binomial = tree_lambda_partition(64, half);
  std::vector<NodeId> row_major(64);
  for (NodeId i = 0; i < 64; ++i) row_major[i] = i;
  const SimulationRun best = postal_broadcast(lambda, row_major), other = postal_broadcast(binomial, row_major);
  EXPECT_EQ(best.completion, 46u);   // 9.2
  EXPECT_EQ(other.completion, 54u);  // 10.8: the lambda-tree gains 4/27
  EXPECT_EQ(best.loads.conflicts + other.loads.conflicts, 0u);
}

// On one placement either may win; over many the lambda-tree does.
TEST(MeshNetwork, B19RandomPlacementHasConflictsAndTheLambdaTreeIsNotSlowerOnAverage) {
  const Tree lambda = tree_lambda_partition(64, most), binomial = tree_lambda_partition(64, half);
  Ticks with_lambda = 0, with_binomial = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const SimulationRun random = postal_broadcast(lambda, shuffled(seed));
    EXPECT_GT(random.loads.conflicts, 0u) << seed;
    EXPECT_GT(random.completion, 46u) << seed;
    with_lambda += random.completion;
    with_binomial += postal_broadcast(binomial, shuffled(seed)).completion;
  }
  EXPECT_LE(with_lambda, with_binomial);
}

// By their definition: pairs of messages that want one link at the same time, each once.
TEST(MeshNetwork, ConflictsArePairsThatWantALinkAtATime) {
  constexpr std::uint32_t kRows = 5, kColumns = 7;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    MeshNetwork network(kRows, kColumns, true, {.hold = 40});
    struct Sent {
      std::set<std::pair<NodeId, NodeId>> links;
      Ticks wanted, until;
    };
    std::vector<Sent> all;
    std::vector<std::uint64_t> conflicts(60);
    Random random(seed);
    Ticks now = 0;
    for (std::size_t i = 0; i < conflicts.size(); ++i) {
      now += random.below(30);
      NodeId at = random.below(kRows * kColumns);
      const NodeId target = random.below(kRows * kColumns);
      Sent sent{.links = {}, .wanted = now, .until = network.enter({at, target, 1}, now).time + 40};
      const auto go_to = [&](NodeId next) { sent.links.emplace(at, next), at = next; };
      while (at % kColumns != target % kColumns) go_to(at % kColumns < target % kColumns ? at + 1 : at - 1);
      while (at != target) go_to(at < target ? at + kColumns : at - kColumns);
      for (std::size_t j = 0; j < i; ++j) {
        const auto is_shared = [&](const auto& link) { return all[j].links.contains(link); };
        if (all[j].until <= now || std::ranges::none_of(sent.links, is_shared)) continue;
        ++conflicts[i], ++conflicts[j];
      }
      all.push_back(std::move(sent));
    }
    EXPECT_EQ(2 * network.loads().conflicts, std::accumulate(conflicts.begin(), conflicts.end(), 0u)) << seed;
    EXPECT_EQ(network.loads().most_conflicts, std::ranges::max(conflicts)) << seed;
  }
}

}  // namespace
}  // namespace fibocast
