// The papers' own machine (Cordsen et al. 1997 A1, Bruck et al. 1996 B1): every message has its own link and takes the
// same time. With the nodes' s and o it is the pure model of predict().
#pragma once

#include "firmware_sim/networks/network.h"

namespace fibocast {

class IdealNetwork : public Network {
 public:
  IdealNetwork(std::uint64_t nodes, Ticks latency) : nodes_(nodes), latency_(latency) {}

  std::uint64_t nodes() const override { return nodes_; }
  Ticks shortest_transit() const override { return latency_; }
  Ticks usual_transit(std::uint64_t) const override { return latency_; }
  bool is_free_of_contention() const override { return true; }
  Passage enter(const NetworkMessage&, Ticks departure) override { return {.time = departure + latency_}; }

 private:
  std::uint64_t nodes_;
  Ticks latency_;
};

}  // namespace fibocast
