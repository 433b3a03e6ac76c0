#include "collectives/models/mesh.h"

#include <algorithm>
#include <map>
#include <utility>

#include "collectives/check.h"
#include "collectives/tree_mesh.h"

namespace fibocast {
namespace {

// Every second bit of b, from `first` on.
std::uint32_t every_second_bit(Rank b, unsigned first) {
  std::uint32_t bits = 0;
  for (unsigned i = first; i < 32; i += 2) bits |= (b >> i & 1) << (i / 2);
  return bits;
}

// The index of v in the reflected Gray sequence: the exclusive or of all its prefixes (D5).
std::uint32_t gray_index(std::uint32_t v) {
  for (unsigned shift = 1; shift < 32; shift *= 2) v ^= v >> shift;
  return v;
}

// One step of D6 along the axis that doubles: `is_leaf` for the label 2b, else 2b + 1.
std::uint32_t grown(std::uint32_t old, std::uint32_t half, bool is_leaf) {
  if (!is_leaf) return old + half;
  return old >= half ? old + 2 * half : old;
}

MeshPoint growing_point(unsigned order, Rank b) {
  if (order <= 2) return {b & 1, b >> 1};
  MeshPoint p = growing_point(order - 1, b >> 1);
  std::uint32_t& axis = order % 2 == 1 ? p.x : p.y;
  axis = grown(axis, std::uint32_t{1} << ((order - 1) / 2 - 1), (b & 1) == 0);
  return p;
}

// A message along one row or column: the links from position `begin` to `end` of that line.
struct Span {
  std::uint32_t begin;
  std::uint32_t end;
};
using Line = std::pair<bool, std::uint32_t>;  // is a column?, its number

struct PhaseEdges {
  std::map<Line, std::vector<Span>> lines;
};

void add_edge(PhaseEdges& edges, MeshPoint a, MeshPoint b) {
  check(a.x == b.x || a.y == b.y);  // both mappings give straight paths (D4)
  const bool column = a.x == b.x;
  const auto [begin, end] = column ? std::minmax(a.y, b.y) : std::minmax(a.x, b.x);
  edges.lines[{column, column ? a.x : a.y}].push_back({begin, end});
}

// All other spans of the line except those that end before this one begins or begin after it ends.
void measure_line(const std::vector<Span>& spans, MeshPhase& phase) {
  std::vector<std::uint32_t> begins;
  std::vector<std::uint32_t> ends;
  for (const Span& s : spans) begins.push_back(s.begin), ends.push_back(s.end);
  std::sort(begins.begin(), begins.end());
  std::sort(ends.begin(), ends.end());
  const auto until = [](const std::vector<std::uint32_t>& sorted, std::uint32_t bound) {
    return static_cast<std::uint64_t>(std::upper_bound(sorted.begin(), sorted.end(), bound) - sorted.begin());
  };
  for (const Span& s : spans) {
    const std::uint64_t others = until(begins, s.end - 1) - until(ends, s.begin) - 1;
    phase.most = std::max(phase.most, others);
    phase.fewest = std::min(phase.fewest, others);
    phase.longest = std::max<std::uint64_t>(phase.longest, s.end - s.begin);
    phase.shortest = std::min<std::uint64_t>(phase.shortest, s.end - s.begin);
    // The most used link of a line is the first one of some span.
    phase.edges_per_link = std::max(phase.edges_per_link, until(begins, s.begin) - until(ends, s.begin));
  }
}

MeshPhase measure(const PhaseEdges& edges) {
  MeshPhase phase{.shortest = ~std::uint64_t{0}, .fewest = ~std::uint64_t{0}};
  for (const auto& [line, spans] : edges.lines) measure_line(spans, phase);
  return phase;
}

}  // namespace

std::optional<MeshMapping> parse_mesh_mapping(std::string_view name) {
  if (name == "reflecting") return MeshMapping::kReflecting;
  if (name == "growing") return MeshMapping::kGrowing;
  return std::nullopt;
}

std::string_view mapping_name(MeshMapping mapping) {
  return mapping == MeshMapping::kReflecting ? "reflecting" : "growing";
}

MeshSize mesh_size(unsigned order) {
  check(order <= kMostTreeOrder);
  return {std::uint32_t{1} << (order + 1) / 2, std::uint32_t{1} << order / 2};
}

MeshPoint mesh_point(MeshMapping mapping, unsigned order, Rank b) {
  check(order <= kMostTreeOrder && b >> order == 0);
  if (mapping == MeshMapping::kGrowing) return growing_point(order, b);
  return {gray_index(every_second_bit(b, 0)), gray_index(every_second_bit(b, 1))};
}

std::vector<MeshPoint> mesh_path(MeshPoint a, MeshPoint b) {
  std::vector<MeshPoint> path{a};
  while (a.x != b.x) {
    a.x < b.x ? ++a.x : --a.x;
    path.push_back(a);
  }
  while (a.y != b.y) {
    a.y < b.y ? ++a.y : --a.y;
    path.push_back(a);
  }
  return path;
}

std::optional<Rank> contract(unsigned order, std::string_view path, std::string& error) {
  if (order > kMostTreeOrder)
    error = "the order must be at most " + std::to_string(kMostTreeOrder);
  else if (path.size() > order)
    error = "a path in CBT(n+1) has at most n moves";
  else if (path.find_first_not_of("LR") != std::string_view::npos)
    error = "a path consists of L and R";
  else
    error.clear();
  if (!error.empty()) return std::nullopt;
  Rank label = 0;
  for (const char move : path) label = 2 * label + (move == 'R' ? 1 : 0);
  const auto rest = static_cast<unsigned>(order - path.size());
  return static_cast<Rank>((std::uint64_t{label} << rest) | ((std::uint64_t{1} << rest) - 1));
}

std::vector<MeshPhase> measure_mesh_phases(MeshMapping mapping, unsigned order) {
  check(order <= kMostMeshOrder);
  std::vector<PhaseEdges> edges(order);
  const Rank root = (Rank{1} << order) - 1;
  for (Rank b = 0; b < root; ++b) {
    const MeshPoint to = mesh_point(mapping, order, b);
    add_edge(edges[divide_phase(order, b) - 1], mesh_point(mapping, order, divide_parent(order, b)), to);
  }
  std::vector<MeshPhase> phases;
  for (const PhaseEdges& e : edges) phases.push_back(measure(e));
  return phases;
}

}  // namespace fibocast
