// How far a daemon's clock is from ours: from round trips, with a bound that holds whatever the way took in each
// direction (Cristian 1989). Where both are one clock of one host, it is nothing.
#pragma once

#include <string>

#include "collectives/types.h"
#include "runtime/client/status.h"

namespace fibocast {

class Client;

struct ClockReading {
  Nanoseconds now = 0;  // CLOCK_MONOTONIC of the daemon
  std::string id;       // host_clock_id()
};

// The daemon's time = ours + offset, to within +- bound, when it was measured.
struct ClockOffset {
  Nanoseconds offset = 0;
  Nanoseconds bound = 0;     // half of the shortest round trip; 0: one clock
  Nanoseconds measured = 0;  // when, on our clock
  // At another time: clocks of computers may drift apart, by 100 ppm here.
  Nanoseconds bound_at(Nanoseconds when) const;
};

// The best of `readings` round trips. One thread: the client's.
Result<ClockOffset> measure_clock_offset(Client& client, int readings = 50);

}  // namespace fibocast
