// A switched network of workstations (Banikazemi et al. 1999, C1): every two are connected, m bytes take X_c + X_m m,
// and the wire into a node carries one message after the other (C11). The nodes' own costs differ: see NodeTable.
#pragma once

#include <vector>

#include "firmware_sim/networks/queued_link.h"

namespace fibocast {

class WorkstationNetwork : public Network {
 public:
  WorkstationNetwork(std::uint32_t nodes, Ticks latency, Ticks latency_per_byte)
      : wires_(nodes), latency_(latency), latency_per_byte_(latency_per_byte) {}

  std::uint64_t nodes() const override { return wires_.size(); }
  Ticks shortest_transit() const override { return latency_; }
  Ticks usual_transit(std::uint64_t bytes) const override { return latency_ + latency_per_byte_ * bytes; }
  Passage enter(const NetworkMessage& message, Ticks departure) override;
  NetworkLoads loads() const override;

 private:
  std::vector<QueuedLink> wires_;  // into each node
  Ticks latency_;
  Ticks latency_per_byte_;
};

}  // namespace fibocast
