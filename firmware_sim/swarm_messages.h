// The application messages of a swarm's run: one sender per flow, one receiver per node and tag.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "firmware_sim/swarm_run.h"

namespace fibocast {

class SwarmMessages {
 public:
  // Begins all flows of the scenario. `run` must outlive it.
  explicit SwarmMessages(SwarmRun& run);

 private:
  void send(std::size_t flow, std::size_t number);
  void receive(NodeId node, std::uint64_t tag);
  void on_message(const Answer& answer);

  SwarmRun& run_;
  std::map<std::pair<NodeId, std::uint64_t>, std::size_t> expected_;  // (node, tag) -> messages still to come
};

}  // namespace fibocast
