// How long a frame may stay unacknowledged before it is sent again: from measured round trips, never from
// resent frames (Karn), plus the time the peer may hold its acknowledgement back (PROTOCOL 12). Core.
#pragma once

#include "transport/channel_types.h"

namespace fibocast {

inline constexpr Nanoseconds kLongestResend = 1'000'000'000;

class ResendTimer {
 public:
  ResendTimer(Nanoseconds floor, Nanoseconds first) : floor_(floor), first_(first) {}

  // The ack delays the peer told in the handshake.
  void set_peer_delays(Nanoseconds urgent, Nanoseconds idle);
  // A round trip of a frame that was sent once, without the time the peer held the acknowledgement.
  void sample(Nanoseconds round_trip);
  // A frame was sent again for nothing: all wait longer until the next sample, or a round trip beyond the resend
  // time would never be measured.
  void sent_in_vain();
  // srtt + 4 var + the peer's delay, at least the floor, doubled per timeout, at most 1 s.
  Nanoseconds wait(bool urgent, unsigned timeouts) const;
  Nanoseconds round_trip() const { return smoothed_; }

 private:
  Nanoseconds floor_;
  Nanoseconds first_;
  Nanoseconds urgent_delay_ = 500'000;
  Nanoseconds idle_delay_ = 25'000'000;
  Nanoseconds smoothed_ = 0;
  Nanoseconds variation_ = 0;
  unsigned backoff_ = 0;
};

}  // namespace fibocast
