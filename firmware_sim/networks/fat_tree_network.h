// A binary fat tree of routers with a queue of packets at each branch (Dimakopoulos and Dimopoulos, E1, E2): full
// duplex, every node serves all its branches at once, a packet crosses one branch per step.
#pragma once

#include <vector>

#include "collectives/models/fat_tree.h"
#include "firmware_sim/networks/queued_link.h"

namespace fibocast {

// Nodes 0 .. n - 1 are the leaves, n .. 2n - 2 the routers: node v lies below n + v / 2. Messages may begin and end at
// routers too, which is what the flooding of E7 does.
class FatTreeNetwork : public Network {
 public:
  // A message is a packet per `packet_bytes` (at least one; 0: always one), which stay together: it holds a link for a
  // step each. Precondition: step > 0.
  FatTreeNetwork(const FatTree& tree, Ticks step, std::uint64_t packet_bytes);

  std::uint64_t nodes() const override { return 2 * leaves_ - 1; }
  std::uint64_t places() const override { return leaves_; }
  Ticks shortest_transit() const override { return step_; }
  Ticks usual_transit(std::uint64_t bytes) const override;  // up to the root and down
  Passage enter(const NetworkMessage& message, Ticks departure) override;
  Passage go_on(std::uint32_t packet, Ticks now) override;
  NetworkLoads loads() const override;

 private:
  struct Packet {
    NodeId at;
    NodeId target;
    Ticks duration;
    std::uint64_t hops;
  };
  Ticks duration(std::uint64_t bytes) const;
  NodeId parent(NodeId v) const { return static_cast<NodeId>(leaves_ + v / 2); }
  bool is_below(NodeId v, NodeId above) const;
  NodeId child_towards(NodeId at, NodeId target) const;

  std::uint64_t leaves_;
  Ticks step_;
  std::uint64_t packet_bytes_;
  std::vector<QueuedLink> up_;    // from node v to its parent
  std::vector<QueuedLink> down_;  // back
  std::vector<Packet> packets_;
  std::vector<std::uint32_t> unused_;
  std::uint64_t longest_way_ = 0;
};

}  // namespace fibocast
