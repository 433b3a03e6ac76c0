// The costs that a daemon plans by: the [model] of its settings.
#pragma once

#include <string>

#include "collectives/types.h"

namespace fibocast {

// Times in ns; r = l + o (PAPERS A31).
struct NodeModel {
  Nanoseconds s = 0, l = 0, o = 0;
  double send_per_byte = 0, receive_per_byte = 0;  // ns
  std::uint32_t processors = 1;                    // of a host that several nodes share
  Nanoseconds wake = 0;                            // until a processor of such a host runs a node that waited
  std::string measured;                            // what counts more than all this: collectives/measured_choice.h
};

}  // namespace fibocast
