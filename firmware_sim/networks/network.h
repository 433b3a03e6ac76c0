// What lies between the nodes of a modelled machine. A network sees of a message only its source, its target, its
// length and when it departs, and answers when it arrives. Each kind of network is a class in a file of its own.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "collectives/types.h"
#include "firmware_sim/timed_events.h"

namespace fibocast {

struct NetworkMessage {
  NodeId source = 0;  // where on the network, not which rank
  NodeId target = 0;
  std::uint64_t bytes = 0;
};

// Where a message is next: at its target, or at a place where go_on() must be asked again at that time.
struct Passage {
  Ticks time = 0;
  bool arrived = true;
  std::uint32_t packet = 0;  // the network's own name for it, to go on with
};

struct LinkLoad {
  std::string name;
  std::uint64_t messages = 0;
  Ticks busy = 0;
  std::uint64_t queue_peak = 0;  // most that had to wait for it at a time
};

// What a run did to the network. Zero where a kind of network has no such thing.
struct NetworkLoads {
  std::vector<LinkLoad> links;       // those that carried something
  std::uint64_t longest_way = 0;     // dilation: links passed by one message
  std::uint64_t conflicts = 0;       // pairs of messages that wanted one link at the same time
  std::uint64_t most_conflicts = 0;  // ... of one message (interference)
  Ticks waited = 0;                  // of all messages together
};

// Messages of one run; make another for the next.
class Network {
 public:
  virtual ~Network() = default;

  // Nodes that it joins.
  virtual std::uint64_t nodes() const = 0;
  // Those of them, the first, that programs run on; the others only pass messages on.
  virtual std::uint64_t places() const { return nodes(); }
  // No message takes less. 0 only if nothing is asked of the network but a pure latency.
  virtual Ticks shortest_transit() const = 0;
  // What a message of these bytes takes between two nodes of middling distance that nobody disturbs: to plan with.
  virtual Ticks usual_transit(std::uint64_t bytes) const = 0;
  // True if enter() depends on its arguments alone: it may then be asked in any order. Else it is asked in the order of
  // departures.
  virtual bool is_free_of_contention() const { return false; }
  // The sender is busy so much longer with a message to this target.
  virtual Ticks extra_send(NodeId /*source*/, NodeId /*target*/) const { return 0; }
  // Precondition: the time is not before that of the last call of either.
  virtual Passage enter(const NetworkMessage& message, Ticks departure) = 0;
  virtual Passage go_on(std::uint32_t /*packet*/, Ticks now) { return {.time = now}; }
  virtual NetworkLoads loads() const { return {}; }
};

}  // namespace fibocast
