#include "firmware_sim/networks/workstation_network.h"

namespace fibocast {

// (C11): arrive_i = max(arrive_(i-1), departure) + trans(m).
Passage WorkstationNetwork::enter(const NetworkMessage& message, Ticks departure) {
  const Ticks transit = latency_ + latency_per_byte_ * message.bytes;
  return {.time = wires_[message.target].admit(departure, transit) + transit};
}

NetworkLoads WorkstationNetwork::loads() const {
  NetworkLoads loads;
  for (std::size_t i = 0; i < wires_.size(); ++i) add_load(loads, wires_[i], "to " + std::to_string(i));
  loads.longest_way = loads.links.empty() ? 0 : 1;
  return loads;
}

}  // namespace fibocast
