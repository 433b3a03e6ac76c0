// Where a node keeps what it knows of a peer, when its tables have fewer entries than the cluster has nodes: a small
// hash table from node to entry. Where there is an entry for each node it is none, and the entry is the node. Core.
#pragma once

#include <cstdint>
#include <span>

#include "collectives/types.h"

namespace fibocast {

inline constexpr std::uint32_t kNoIndex = 0xffff'ffff;

// Open addressing with linear probing (Knuth, The Art of Computer Programming 3, 6.4, algorithm L); nothing is removed.
// One thread.
class PeerMap {
 public:
  struct Place {
    NodeId node = kNoNode;
    std::uint32_t entry = kNoIndex;
  };

  // Places that `entries` need, at least half of which stay empty: a power of two.
  static std::uint32_t places_for(std::uint32_t entries);

  // The entry of each node is the node.
  PeerMap() = default;
  // `places`: empty for the same, or places_for(entries) of them, all free. They outlive the map.
  explicit PeerMap(std::span<Place> places) : places_(places) {}

  // kNoIndex if it has none.
  std::uint32_t find(NodeId node) const { return places_.empty() ? node : places_[place_of(node)].entry; }
  // Precondition: it has none yet; no more than places_for() was asked for.
  void add(NodeId node, std::uint32_t entry);

 private:
  // Where the node is, or would be.
  std::uint32_t place_of(NodeId node) const;

  std::span<Place> places_;
};

}  // namespace fibocast
