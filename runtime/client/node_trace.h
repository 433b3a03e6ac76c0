// What a daemon's flight recorder still knows.
#pragma once

#include <vector>

#include "runtime/node/flight_recorder.h"
#include "transport/emulated_nic.h"

namespace fibocast {

struct NodeTrace {
  NodeId rank = 0;
  std::uint64_t first = 0;  // how many events were overwritten before the first that is left
  std::vector<FlightEvent> events;
  NicSettings machine;  // what the daemon emulates (scaled); if `enabled` is false its [model]
};

}  // namespace fibocast
