// The figures of Lo et al. 1992 (D17): the tree B(n), its phases, and its two layouts on a mesh.
#include <array>

#include "collectives/models/figure.h"
#include "collectives/models/mesh.h"
#include "collectives/models/mesh_times.h"
#include "collectives/tree_mesh.h"

namespace fibocast {
namespace {

using std::to_string;

FigureTable binomial_tree() {
  FigureTable table{{"label", "parent", "subtree_nodes", "phase"}, {}};
  constexpr unsigned kOrder = 4;
  for (Rank b = 0; b < Rank{1} << kOrder; ++b) {
    const Rank parent = divide_parent(kOrder, b);
    const unsigned phase = divide_phase(kOrder, b);
    table.rows.push_back({to_string(b), parent == kNoRank ? "-" : to_string(parent), to_string(1u << (kOrder - phase)),
                          to_string(phase)});
  }
  return table;
}

// All nodes of CBT(4) in the order of their levels.
FigureTable contraction() {
  FigureTable table{{"path", "label"}, {}};
  constexpr unsigned kOrder = 3;
  std::string error;
  for (unsigned depth = 0; depth <= kOrder; ++depth)
    for (unsigned bits = 0; bits < 1u << depth; ++bits) {
      std::string path;
      for (unsigned i = depth; i-- > 0;) path += (bits >> i & 1) != 0 ? 'R' : 'L';
      table.rows.push_back({path.empty() ? "root" : path, to_string(contract(kOrder, path, error).value())});
    }
  return table;
}

FigureTable phases() {
  FigureTable table{{"phase", "from", "to"}, {}};
  constexpr unsigned kOrder = 4;
  for (unsigned phase = 1; phase <= kOrder; ++phase)
    for (Rank b = 0; b < Rank{1} << kOrder; ++b)
      if (divide_phase(kOrder, b) == phase)
        table.rows.push_back({to_string(phase), to_string(divide_parent(kOrder, b)), to_string(b)});
  return table;
}

FigureTable layouts(MeshMapping mapping) {
  FigureTable table{{"n", "label", "x", "y"}, {}};
  for (unsigned order = 1; order <= 6; ++order)
    for (Rank b = 0; b < Rank{1} << order; ++b) {
      const MeshPoint p = mesh_point(mapping, order, b);
      table.rows.push_back({to_string(order), to_string(b), to_string(p.x), to_string(p.y)});
    }
  return table;
}

FigureTable reflecting_layouts() { return layouts(MeshMapping::kReflecting); }
FigureTable growing_layouts() { return layouts(MeshMapping::kGrowing); }

FigureTable recurrence() {
  FigureTable table{{"k", "width_2^(k-1)", "J(k-1)", "J(k)"}, {}};
  for (unsigned k = 2; k <= 12; ++k)
    table.rows.push_back({to_string(k), to_string(1u << (k - 1)), jacobsthal<Rational>(k - 1).to_string(),
                          jacobsthal<Rational>(k).to_string()});
  return table;
}

}  // namespace

std::span<const FigureEntry> figures_002() {
  static constexpr std::array kFigures = {
      FigureEntry{"002:1", "the tree B(4), labels in post-order", binomial_tree},
      FigureEntry{"002:2", "nodes of the complete binary tree CBT(4) and the node of B(3) they merge into",
                  contraction},
      FigureEntry{"002:3", "messages of each phase in B(4)", phases},
      FigureEntry{"002:4", "reflecting mapping: the mesh point of each label, n = 1..6", reflecting_layouts},
      FigureEntry{"002:5", "the longest path doubles and reflects: J(k) = 2^(k-1) - J(k-1)", recurrence},
      FigureEntry{"002:6", "growing mapping: the mesh point of each label, n = 1..6", growing_layouts},
  };
  return kFigures;
}

}  // namespace fibocast
