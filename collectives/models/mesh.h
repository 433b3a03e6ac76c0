// Where the nodes of the divide and conquer tree B(n) lie on a two-dimensional mesh, and which messages of a phase get
// into each other's way (Lo et al. 1992). For tools, not the core.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/types.h"

namespace fibocast {

enum class MeshMapping : std::uint8_t { kReflecting, kGrowing };

// "reflecting" or "growing"; nothing for other names.
std::optional<MeshMapping> parse_mesh_mapping(std::string_view name);
std::string_view mapping_name(MeshMapping mapping);

// A whole layout is computed up to this order of the tree: 2^20 nodes.
inline constexpr unsigned kMostMeshOrder = 20;

// x to the East, y to the South; links join neighbours and are undirected.
struct MeshPoint {
  std::uint32_t x = 0;
  std::uint32_t y = 0;
  bool operator==(const MeshPoint&) const = default;
};

// Of the mesh that B(order) fills: 2^ceil(n/2) by 2^floor(n/2) (D4).
struct MeshSize {
  std::uint32_t width = 1;
  std::uint32_t height = 1;
};
MeshSize mesh_size(unsigned order);

// The point of label b. Preconditions: order <= kMostTreeOrder, b < 2^order. Reflecting (D5): each axis is the
// position of its bits of b in the reflected Gray sequence, which is the INVERSE of v ^ (v >> 1). Growing (D6): each
// step moves all nodes and puts the new leaves into the other half.
MeshPoint mesh_point(MeshMapping mapping, unsigned order, Rank b);

// All points passed from a to b, both included: first along the row, then along the column.
std::vector<MeshPoint> mesh_path(MeshPoint a, MeshPoint b);

// The complete binary tree CBT(n+1) folded onto B(n): a right child merges with its parent (D3). `path` leads from
// the root down, of L and R. Nothing for other letters or a path longer than `order`; `error` is then a sentence.
std::optional<Rank> contract(unsigned order, std::string_view path, std::string& error);

// What the edges of one phase have in common, measured by looking at every one of them (D7).
struct MeshPhase {
  std::uint64_t shortest = 0;  // length of a path in links
  std::uint64_t longest = 0;
  std::uint64_t fewest = 0;  // other edges of the phase that share a link with an edge
  std::uint64_t most = 0;
  std::uint64_t edges_per_link = 0;  // the largest
};
// Phases 1 .. order. Precondition: order <= kMostMeshOrder.
std::vector<MeshPhase> measure_mesh_phases(MeshMapping mapping, unsigned order);

}  // namespace fibocast
