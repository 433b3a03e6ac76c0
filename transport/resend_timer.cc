#include "transport/resend_timer.h"

#include <algorithm>

namespace fibocast {
namespace {
constexpr unsigned kMostBackoff = 10;
constexpr unsigned kMostDoublings = 20;
}  // namespace

void ResendTimer::set_peer_delays(Nanoseconds urgent, Nanoseconds idle) {
  urgent_delay_ = urgent;
  idle_delay_ = idle;
}

void ResendTimer::sample(Nanoseconds round_trip) {
  round_trip = std::max<Nanoseconds>(round_trip, 1);
  backoff_ = 0;
  if (smoothed_ == 0) {
    smoothed_ = round_trip;
    variation_ = round_trip / 2;
    return;
  }
  const Nanoseconds error = round_trip > smoothed_ ? round_trip - smoothed_ : smoothed_ - round_trip;
  variation_ += (error - variation_) / 4;
  smoothed_ = std::max<Nanoseconds>(1, smoothed_ + (round_trip - smoothed_) / 8);
}

void ResendTimer::sent_in_vain() { backoff_ = std::min(backoff_ + 1, kMostBackoff); }

Nanoseconds ResendTimer::wait(bool urgent, unsigned timeouts) const {
  const Nanoseconds delay = urgent ? urgent_delay_ : idle_delay_;
  const Nanoseconds measured = smoothed_ + 4 * variation_ + delay;
  const Nanoseconds once = std::max({floor_, smoothed_ == 0 ? first_ : measured, Nanoseconds{1}});
  if (once >= kLongestResend) return kLongestResend;
  return std::min(once << std::min(std::max(timeouts, backoff_), kMostDoublings), kLongestResend);
}

}  // namespace fibocast
