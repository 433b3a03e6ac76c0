// MANNA (Cordsen et al. 1997): clusters of nodes on a crossbar each, joined by a second level of crossbars. Crossbars
// do not block; a message to another cluster takes longer and keeps its sender longer, so that s and r differ inside
// and across.
#pragma once

#include "firmware_sim/networks/network.h"

namespace fibocast {

struct CrossbarTimes {
  Ticks latency = 0;      // inside a cluster
  Ticks far_latency = 0;  // to another one
  Ticks far_send = 0;     // what the sender needs more for another cluster
};

class CrossbarNetwork : public Network {
 public:
  // Node i is in cluster i / cluster_nodes. Precondition: cluster_nodes > 0.
  CrossbarNetwork(std::uint64_t nodes, std::uint32_t cluster_nodes, const CrossbarTimes& times)
      : nodes_(nodes), cluster_nodes_(cluster_nodes), times_(times) {}

  std::uint64_t nodes() const override { return nodes_; }
  Ticks shortest_transit() const override;
  Ticks usual_transit(std::uint64_t) const override { return times_.latency; }
  bool is_free_of_contention() const override { return true; }
  Ticks extra_send(NodeId source, NodeId target) const override { return is_far(source, target) ? times_.far_send : 0; }
  Passage enter(const NetworkMessage& message, Ticks departure) override;
  // Two "links": all messages inside clusters, all across.
  NetworkLoads loads() const override;

 private:
  bool is_far(NodeId a, NodeId b) const { return a / cluster_nodes_ != b / cluster_nodes_; }

  std::uint64_t nodes_;
  std::uint32_t cluster_nodes_;
  CrossbarTimes times_;
  std::uint64_t inside_ = 0;
  std::uint64_t across_ = 0;
};

}  // namespace fibocast
