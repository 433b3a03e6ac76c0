#include "runtime/client/clock_offset.h"

#include "runtime/client/client.h"
#include "runtime/daemon/host_clock.h"
#include "runtime/daemon/node_host.h"

namespace fibocast {

namespace {
constexpr double kDrift = 100e-6;
}

Nanoseconds ClockOffset::bound_at(Nanoseconds when) const {
  if (bound == 0) return 0;
  return bound +
         static_cast<Nanoseconds>(kDrift * static_cast<double>(when > measured ? when - measured : measured - when));
}

// A reading between `before` and `after` of ours is the time of some moment of these: offset = reading - middle, and
// the moment is at most half the way from the middle.
Result<ClockOffset> measure_clock_offset(Client& client, int readings) {
  const std::string ours = host_clock_id();
  ClockOffset best{0, kNever, 0};
  for (int i = 0; i < readings; ++i) {
    const Nanoseconds before = monotonic_now();
    auto reading = client.clock();
    const Nanoseconds after = monotonic_now();
    if (!reading.ok()) return reading.status();
    if (!ours.empty() && reading->id == ours) return ClockOffset{0, 0, after};
    const Nanoseconds bound = (after - before + 1) / 2;
    if (bound < best.bound) best = {reading->now - (before + (after - before) / 2), bound, after};
  }
  return best;
}

}  // namespace fibocast
