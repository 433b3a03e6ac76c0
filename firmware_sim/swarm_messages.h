// The application messages of a swarm's run: one sender per flow, one receiver per node and tag.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "firmware_sim/swarm_run.h"

namespace fibocast {

class SwarmMessages {
 public:
  // Begins all flows of the scenario. `run` must outlive it.
  explicit SwarmMessages(SwarmRun& run);

 private:
  // What a flow sends next, kept while its node has no room.
  struct Message {
    std::vector<std::byte> bytes;
    Fingerprint fingerprint;
  };

  const Message& next_of(std::size_t flow, std::size_t number);
  void send(std::size_t flow, std::size_t number);
  void receive(NodeId node, std::uint64_t tag);
  void stop_waiting_soon(NodeId node, std::uint64_t tag, std::uint64_t cookie);
  void on_message(const Answer& answer);

  SwarmRun& run_;
  std::vector<std::optional<Message>> next_;                          // of each flow
  std::map<std::pair<NodeId, std::uint64_t>, std::size_t> expected_;  // (node, tag) -> messages still to come
};

}  // namespace fibocast
