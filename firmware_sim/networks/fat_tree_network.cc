#include "firmware_sim/networks/fat_tree_network.h"

#include <algorithm>
#include <bit>

namespace fibocast {

FatTreeNetwork::FatTreeNetwork(const FatTree& tree, Ticks step, std::uint64_t packet_bytes)
    : leaves_(tree.leaves), step_(step), packet_bytes_(packet_bytes) {
  std::uint64_t first = 0, count = leaves_;  // of the nodes of one level
  for (const std::uint64_t capacity : tree.capacity) {
    for (std::uint64_t v = first; v < first + count; ++v) {
      up_.emplace_back(capacity);
      down_.emplace_back(capacity);
    }
    first += count;
    count /= 2;
  }
}

// Levels are numbered one after the other, so a node's number is higher than those of all below it.
bool FatTreeNetwork::is_below(NodeId v, NodeId above) const {
  while (v < above) v = parent(v);
  return v == above;
}

NodeId FatTreeNetwork::child_towards(NodeId at, NodeId target) const {
  while (parent(target) != at) target = parent(target);
  return target;
}

Ticks FatTreeNetwork::duration(std::uint64_t bytes) const {
  const std::uint64_t packets = packet_bytes_ == 0 ? 1 : (bytes + packet_bytes_ - 1) / packet_bytes_;
  return step_ * std::max<std::uint64_t>(packets, 1);
}

Ticks FatTreeNetwork::usual_transit(std::uint64_t bytes) const {
  return 2 * static_cast<Ticks>(std::bit_width(leaves_) - 1) * duration(bytes);
}

Passage FatTreeNetwork::enter(const NetworkMessage& message, Ticks departure) {
  if (unused_.empty()) {
    unused_.push_back(static_cast<std::uint32_t>(packets_.size()));
    packets_.emplace_back();
  }
  const std::uint32_t packet = unused_.back();
  unused_.pop_back();
  packets_[packet] = {message.source, message.target, duration(message.bytes), 0};
  return go_on(packet, departure);
}

// Up to the lowest router above both, then down.
Passage FatTreeNetwork::go_on(std::uint32_t packet, Ticks now) {
  Packet& p = packets_[packet];
  if (p.at == p.target) {
    unused_.push_back(packet);
    longest_way_ = std::max(longest_way_, p.hops);
    return {.time = now};
  }
  ++p.hops;
  const bool down = is_below(p.target, p.at);
  const NodeId next = down ? child_towards(p.at, p.target) : parent(p.at);
  QueuedLink& link = down ? down_[next] : up_[p.at];
  p.at = next;
  return {.time = link.admit(now, p.duration) + p.duration, .arrived = false, .packet = packet};
}

NetworkLoads FatTreeNetwork::loads() const {
  NetworkLoads loads;
  for (std::size_t v = 0; v < up_.size(); ++v) {
    const std::string above = std::to_string(parent(static_cast<NodeId>(v)));
    add_load(loads, up_[v], std::to_string(v) + " up to " + above);
    add_load(loads, down_[v], above + " down to " + std::to_string(v));
  }
  loads.longest_way = longest_way_;
  return loads;
}

}  // namespace fibocast
