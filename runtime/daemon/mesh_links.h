// The wires of an emulated mesh, which all daemons of a host share: XY routing and wormholes, as in the simulator
// (Bruck et al. 1996, section 2.7). A message holds its whole way for a time, as soon as those before it let go, and is
// at its target a latency after that. When each link is free again stands in a file that the daemons map.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "collectives/types.h"

namespace fibocast {

struct MeshSettings {
  std::string file;            // of all daemons of the mesh; made by the first
  std::uint32_t columns = 1;   // place i is at row i / columns, column i % columns
  std::vector<NodeId> places;  // of each node; all of 0 .. places.size() - 1, so that its rows are full
  Nanoseconds hold = 0;
  Nanoseconds latency = 0;
};

// "3,0,2,1". Nothing if these are not the numbers from 0 on, each once, or no rows of so many columns.
std::optional<std::vector<NodeId>> parse_places(const std::string& text, std::uint32_t columns);

// One thread. Several in one host, each with the file open for itself, take turns message by message.
class MeshLinks {
 public:
  // Throws std::system_error if the file cannot be made or mapped.
  MeshLinks(MeshSettings settings, NodeId self);
  ~MeshLinks();
  MeshLinks(const MeshLinks&) = delete;
  MeshLinks& operator=(const MeshLinks&) = delete;

  // When a message that departs now is here. Both nodes are below places.size().
  Nanoseconds carry(NodeId source, Nanoseconds departs);
  // carry() as a NicWire; the machine is a MeshLinks.
  static Nanoseconds wire(void* machine, std::uint64_t source, std::uint64_t bytes, Nanoseconds departs);

 private:
  void find_way(NodeId from, NodeId to);

  MeshSettings settings_;
  NodeId self_;
  int descriptor_ = -1;
  std::span<Nanoseconds> free_;     // of each link, in the file
  std::vector<std::uint32_t> way_;  // links of one message
};

}  // namespace fibocast
