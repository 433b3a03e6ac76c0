// The firmware of every node of the modelled machine, as a bare-metal main loop would run it: take what came in, let
// the product's engine say what that starts, send. What a step costs is charged on the node's ports (PAPERS A1, A31,
// C1; PROTOCOL 4, 18): s per send, o per receive, and a part of each per byte. It shares no code with predict(): that
// both agree is a test of both.
#pragma once

#include <cstdint>
#include <vector>

#include "collectives/cost_model.h"
#include "firmware_sim/rank_programs.h"
#include "firmware_sim/timed_events.h"

namespace fibocast {

// What a message of b bytes costs one node, in ticks: send + b * send_per_byte, occupancy + b * occupancy_per_byte.
struct PortCosts {
  Ticks send = 1;
  Ticks occupancy = 1;
  Ticks send_per_byte = 0;
  Ticks occupancy_per_byte = 0;
  bool operator==(const PortCosts&) const = default;
};

// The nodes that the ranks run on. Speeds may differ (PAPERS C1).
struct NodeTable {
  std::vector<PortCosts> kinds = {PortCosts{}};
  std::vector<std::uint32_t> kind_of = {};  // by virtual rank; empty: all of the first kind
  Ports ports = Ports::kShared;

  const PortCosts& of(Rank rank) const { return kinds[kind_of.empty() ? 0 : kind_of[rank]]; }
};

// Of a port by one message.
struct Occupancy {
  Ticks begins = 0;
  Ticks ends = 0;
};

// A message that a node has begun to send.
struct Outgoing {
  Rank target = 0;
  std::uint64_t bytes = 0;
  std::uint32_t transfer = 0;
  std::uint32_t repetition = 0;
  std::uint8_t stage = 0;
  Ticks not_before = 0;  // it must not be taken earlier
  Ticks begins = 0;      // its occupancy of the sender
  Ticks departs = 0;
};

class Firmware {
 public:
  Firmware(const OperationShape& shape, RankPrograms programs, NodeTable nodes);

  Rank ranks() const { return programs_.ranks(); }

  // -- events in. Each says whether the node now has something to send.
  bool call(Rank rank);                                // the application calls the operation, at time 0
  bool receive(const TimedEvent& message, Ticks now);  // its occupancy is over
  // A message of these bytes asks for the port now: first come, first served.
  Occupancy occupy(Rank rank, std::uint64_t bytes, Ticks now);
  // -- outputs
  // The next message to send, looked at; false: none.
  bool next_send(Rank rank, Outgoing& out);
  // Takes it: its port is charged, `extra` ticks more than the node's own cost.
  void send(Rank rank, Outgoing& out, Ticks extra, Ticks now);

  // -- queries
  std::uint64_t bytes_of(const TimedEvent& message) const;  // a message on its way
  bool charges_received_bytes(Rank rank) const { return nodes_.of(rank).occupancy_per_byte != 0; }
  bool failed() const { return failed_; }  // a message came that the schedule does not expect
  bool finished() const { return !failed_ && unfinished_ == 0; }
  // When the last stage of each rank had all it waited for.
  const std::vector<Ticks>& active() const { return active_; }

 private:
  bool settle(Rank rank, Engine& engine, Ticks now);

  OperationShape shape_;
  RankPrograms programs_;
  NodeTable nodes_;
  struct PortsOfNode {
    Ticks send_free = 0;
    Ticks receive_free = 0;
  };
  std::vector<PortsOfNode> ports_;
  std::vector<Ticks> active_;
  std::vector<bool> done_;
  Rank unfinished_ = 0;
  bool failed_ = false;
};

}  // namespace fibocast
