#include "collectives/models/mesh.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <set>

#include "collectives/models/mesh_times.h"
#include "collectives/schedule.h"
#include "collectives/tree_mesh.h"
#include "tests/collectives/golden.h"

namespace fibocast {
namespace {

using enum MeshMapping;

constexpr std::array kBothMappings = {kReflecting, kGrowing};

std::vector<std::uint32_t> flat(MeshMapping mapping, unsigned order) {
  std::vector<std::uint32_t> xy;
  for (Rank b = 0; b < Rank{1} << order; ++b) {
    const MeshPoint p = mesh_point(mapping, order, b);
    xy.push_back(p.x);
    xy.push_back(p.y);
  }
  return xy;
}

void expect_golden_layouts(const std::string& key, MeshMapping mapping) {
  for (const auto& entry : test::golden("mesh.json", key)) {
    const unsigned n = entry["n"];
    EXPECT_EQ(mesh_size(n).width, entry["w"]);
    EXPECT_EQ(mesh_size(n).height, entry["h"]);
    EXPECT_EQ(flat(mapping, n), entry["xy"].get<std::vector<std::uint32_t>>()) << key << ' ' << n;
  }
}

TEST(Mesh, GoldenLayouts) {
  expect_golden_layouts("reflect", kReflecting);
  expect_golden_layouts("growing", kGrowing);
}

TEST(Mesh, D4EveryPointIsUsedOnce) {
  for (const MeshMapping mapping : kBothMappings)
    for (unsigned n = 0; n <= 13; ++n) {
      const MeshSize size = mesh_size(n);
      std::set<std::pair<std::uint32_t, std::uint32_t>> points;
      for (Rank b = 0; b < Rank{1} << n; ++b) {
        const MeshPoint p = mesh_point(mapping, n, b);
        EXPECT_LT(p.x, size.width);
        EXPECT_LT(p.y, size.height);
        points.emplace(p.x, p.y);
      }
      EXPECT_EQ(points.size(), std::size_t{1} << n);
    }
}

TEST(Mesh, D5ReflectingByItsConstruction) {
  std::vector<MeshPoint> points = {{0, 0}};
  for (unsigned m = 1; m <= 10; ++m) {
    const MeshSize old = mesh_size(m - 1);
    const std::size_t half = points.size();
    for (std::size_t b = 0; b < half; ++b)
      points.push_back(m % 2 == 1 ? MeshPoint{2 * old.width - 1 - points[b].x, points[b].y}
                                  : MeshPoint{points[b].x, 2 * old.height - 1 - points[b].y});
    for (Rank b = 0; b < points.size(); ++b) EXPECT_EQ(mesh_point(kReflecting, m, b), points[b]) << m << ' ' << b;
  }
}

TEST(Mesh, D5D6Roots) {
  EXPECT_EQ(mesh_point(kReflecting, 4, 15), (MeshPoint{2, 2}));
  EXPECT_EQ(mesh_point(kReflecting, 5, 31), (MeshPoint{5, 2}));
  EXPECT_EQ(mesh_point(kGrowing, 4, 15), (MeshPoint{2, 2}));
  EXPECT_EQ(mesh_point(kGrowing, 5, 31), (MeshPoint{4, 2}));
  EXPECT_EQ(mesh_point(kGrowing, 6, 63), (MeshPoint{4, 4}));
}

TEST(Mesh, D3GoldenContraction) {
  std::string error;
  for (const auto& entry : test::golden("mesh.json", "contract"))
    EXPECT_EQ(contract(entry["n"], entry["path"].get<std::string>(), error), entry["label"].get<Rank>());
}

TEST(Mesh, D3RightMovesMergeAndLeftMovesAreMessages) {
  std::string error;
  for (unsigned n = 1; n <= 8; ++n)
    for (unsigned depth = 0; depth < n; ++depth)
      for (unsigned bits = 0; bits < 1u << depth; ++bits) {
        std::string path;
        for (unsigned i = depth; i-- > 0;) path += (bits >> i & 1) != 0 ? 'R' : 'L';
        const Rank parent = contract(n, path, error).value();
        const Rank left = contract(n, path + "L", error).value();
        EXPECT_EQ(contract(n, path + "R", error), parent);
        EXPECT_EQ(divide_parent(n, left), parent);
        EXPECT_EQ(divide_phase(n, left), depth + 1);
      }
}

TEST(Mesh, D3RefusesWhatIsNoPath) {
  std::string error;
  EXPECT_FALSE(contract(3, "LRLR", error));
  EXPECT_NE(error, "");
  EXPECT_FALSE(contract(3, "LX", error));
  EXPECT_FALSE(contract(32, "L", error));
  EXPECT_EQ(contract(0, "", error), 0u);
  EXPECT_EQ(error, "");
}

TEST(Mesh, D7GoldenPhases) {
  for (const auto& entry : test::golden("mesh.json", "phases")) {
    const auto phases = measure_mesh_phases(entry["map"] == "R" ? kReflecting : kGrowing, entry["n"]);
    ASSERT_EQ(phases.size(), entry["phase"].size());
    for (std::size_t i = 0; i < phases.size(); ++i) {
      EXPECT_EQ(phases[i].longest, entry["phase"][i][0]);
      EXPECT_EQ(phases[i].most, entry["phase"][i][1]);
      EXPECT_EQ(phases[i].edges_per_link, entry["phase"][i][2]);
    }
  }
}

using Link = std::pair<std::pair<std::uint32_t, std::uint32_t>, std::pair<std::uint32_t, std::uint32_t>>;

Link link(MeshPoint a, MeshPoint b) { return std::minmax(std::pair{a.x, a.y}, std::pair{b.x, b.y}); }

std::vector<std::vector<MeshPoint>> paths_of_phase(MeshMapping mapping, unsigned n, unsigned phase) {
  std::vector<std::vector<MeshPoint>> paths;
  for (Rank b = 0; b < Rank{1} << n; ++b)
    if (divide_phase(n, b) == phase)
      paths.push_back(mesh_path(mesh_point(mapping, n, divide_parent(n, b)), mesh_point(mapping, n, b)));
  return paths;
}

// The definition of D7, link by link: nothing of measure_mesh_phases in it.
TEST(Mesh, D7InterferenceByItsDefinition) {
  for (const MeshMapping mapping : kBothMappings)
    for (unsigned n = 1; n <= 9; ++n) {
      const auto measured = measure_mesh_phases(mapping, n);
      for (unsigned i = 1; i <= n; ++i) {
        const auto paths = paths_of_phase(mapping, n, i);
        std::map<Link, std::vector<std::size_t>> users;
        for (std::size_t e = 0; e < paths.size(); ++e)
          for (std::size_t k = 1; k < paths[e].size(); ++k) users[link(paths[e][k - 1], paths[e][k])].push_back(e);
        std::size_t busiest = 0;
        std::vector<std::set<std::size_t>> met(paths.size());
        for (const auto& [l, edges] : users) {
          busiest = std::max(busiest, edges.size());
          for (const std::size_t e : edges) met[e].insert(edges.begin(), edges.end());
        }
        std::size_t most = 0;
        for (const auto& others : met) most = std::max(most, others.size() - 1);
        EXPECT_EQ(measured[i - 1].edges_per_link, busiest);
        EXPECT_EQ(measured[i - 1].most, most);
      }
    }
}

void expect_closed_form(MeshMapping mapping, unsigned n) {
  const auto phases = measure_mesh_phases(mapping, n);
  for (unsigned i = 1; i <= n; ++i) {
    const auto shape = mesh_phase_shape<Rational>(mapping, n, i);
    const MeshPhase& phase = phases[i - 1];
    EXPECT_EQ(Rational(phase.longest), shape.dilation) << n << ' ' << i;
    EXPECT_EQ(phase.shortest, phase.longest);
    EXPECT_EQ(Rational(phase.most), shape.interference);
    EXPECT_EQ(phase.fewest, phase.most);
    if (mapping == kReflecting) {
      EXPECT_EQ(phase.edges_per_link, 1u);
    }
  }
}

TEST(Mesh, D8EveryReflectingEdge) {
  for (unsigned n = 0; n <= 14; ++n) expect_closed_form(kReflecting, n);
}

TEST(Mesh, D9EveryGrowingEdge) {
  for (unsigned n = 0; n <= 14; ++n) expect_closed_form(kGrowing, n);
}

TEST(Mesh, D8Recurrence) {
  const std::vector<std::uint64_t> first = {1, 1, 3, 5, 11, 21};
  for (unsigned k = 1; k <= 6; ++k) EXPECT_EQ(jacobsthal<Rational>(k), Rational(first[k - 1]));
  for (unsigned k = 2; k <= 60; ++k)
    EXPECT_EQ(jacobsthal<Rational>(k) + jacobsthal<Rational>(k - 1), Rational(std::uint64_t{1} << (k - 1)));
}

TEST(Mesh, D8PairsOfPhasesAreEqual) {
  for (unsigned n = 2; n <= 20; ++n)
    for (unsigned i = n % 2 == 0 ? 1 : 2; i < n; i += 2)
      EXPECT_EQ(mesh_phase_shape<Rational>(kReflecting, n, i).dilation,
                mesh_phase_shape<Rational>(kReflecting, n, i + 1).dilation);
}

// In lockstep, link by link, the messages of a growing phase never meet: it takes D, not D + C.
TEST(Mesh, D10bLockstepStoreAndForwardTakesD) {
  for (unsigned n = 1; n <= 10; ++n)
    for (unsigned i = 1; i <= n; ++i) {
      std::set<std::pair<std::size_t, Link>> used;
      for (const auto& path : paths_of_phase(kGrowing, n, i))
        for (std::size_t k = 1; k < path.size(); ++k)
          EXPECT_TRUE(used.emplace(k, link(path[k - 1], path[k])).second) << n << ' ' << i;
    }
}

TEST(Mesh, PathsGoAlongTheRowFirst) {
  EXPECT_EQ(mesh_path({1, 1}, {3, 0}), (std::vector<MeshPoint>{{1, 1}, {2, 1}, {3, 1}, {3, 0}}));
  EXPECT_EQ(mesh_path({2, 2}, {2, 2}).size(), 1u);
}

TEST(Mesh, D18OneNode) {
  for (const MeshMapping mapping : kBothMappings) {
    EXPECT_TRUE(measure_mesh_phases(mapping, 0).empty());
    EXPECT_EQ(mesh_point(mapping, 0, 0), (MeshPoint{0, 0}));
    EXPECT_EQ(mesh_totals<Rational>(mapping, 0, 1).slowdown_store_and_forward(), Rational(1));
  }
}

TEST(Mesh, NamesOfMappings) {
  for (const MeshMapping mapping : kBothMappings) EXPECT_EQ(parse_mesh_mapping(mapping_name(mapping)), mapping);
  EXPECT_FALSE(parse_mesh_mapping("R"));
}

// D3: the contracted complete binary tree is the tree of the operation `divide`. A left move at depth i is a message of
// phase i; a right move is none. Rank v is label 2^n - 1 - v.
TEST(Contraction, LeftMovesAreTheMessagesOfADivide) {
  for (unsigned n = 0; n <= 6; ++n) {
    const Rank ranks = Rank{1} << n;
    OperationShape shape{.operation = Operation::kDivide, .ranks = ranks, .total_bytes = 1000};
    const Schedule schedule = build_schedule(Plan{}, shape).value();
    std::set<std::array<Rank, 3>> messages, moves;  // from, to, phase
    for (Rank from = 0; from < ranks; ++from) {
      const RankSchedule view = schedule.ranks[from].view();
      for (const Transfer& t : view.sends(view.stages[0])) {
        const auto phase = n - static_cast<unsigned>(std::countr_zero(t.peer - from));
        messages.insert({ranks - 1 - from, ranks - 1 - t.peer, phase});
      }
    }
    std::string error;
    std::vector<std::string> paths = {""};
    for (unsigned depth = 1; depth <= n; ++depth) {
      std::vector<std::string> longer;
      for (const std::string& path : paths) {
        const Rank parent = contract(n, path, error).value();
        moves.insert({parent, contract(n, path + "L", error).value(), depth});
        EXPECT_EQ(contract(n, path + "R", error), parent);
        longer.push_back(path + "L"), longer.push_back(path + "R");
      }
      paths = std::move(longer);
    }
    EXPECT_EQ(messages, moves) << n;
  }
}

}  // namespace
}  // namespace fibocast
