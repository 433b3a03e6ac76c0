#include "firmware_sim/networks/crossbar_network.h"

#include <algorithm>

namespace fibocast {

Ticks CrossbarNetwork::shortest_transit() const { return std::min(times_.latency, times_.far_latency); }

Passage CrossbarNetwork::enter(const NetworkMessage& message, Ticks departure) {
  const bool far = is_far(message.source, message.target);
  ++(far ? across_ : inside_);
  return {.time = departure + (far ? times_.far_latency : times_.latency)};
}

NetworkLoads CrossbarNetwork::loads() const {
  NetworkLoads loads;
  const auto add = [&](const char* name, std::uint64_t messages, Ticks each) {
    if (messages > 0) loads.links.push_back({.name = name, .messages = messages, .busy = messages * each});
  };
  add("inside clusters", inside_, times_.latency);
  add("across clusters", across_, times_.far_latency);
  loads.longest_way = across_ > 0 ? 2 : inside_ > 0 ? 1 : 0;
  return loads;
}

}  // namespace fibocast
