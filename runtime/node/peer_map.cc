#include "runtime/node/peer_map.h"

#include <bit>

namespace fibocast {

std::uint32_t PeerMap::places_for(std::uint32_t entries) { return std::bit_ceil(2 * entries); }

void PeerMap::add(NodeId node, std::uint32_t entry) {
  if (!places_.empty()) places_[place_of(node)] = {node, entry};
}

std::uint32_t PeerMap::place_of(NodeId node) const {
  constexpr std::uint32_t kGoldenRatio = 0x9e37'79b1;  // multiplicative hashing (Knuth 3, 6.4)
  const auto last = static_cast<std::uint32_t>(places_.size()) - 1;
  std::uint32_t place = (node * kGoldenRatio) >> std::countl_zero(last);
  while (places_[place].node != node && places_[place].node != kNoNode) place = (place + 1) & last;
  return place;
}

}  // namespace fibocast
