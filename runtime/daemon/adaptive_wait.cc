#include "runtime/daemon/adaptive_wait.h"

#include <algorithm>
#include <utility>

namespace fibocast {
namespace {

// Yields before blocking: the fewer nodes share the host, the more each may try.
constexpr int kYields = 400, kLeastYields = 16, kMostYields = 200;
constexpr Nanoseconds kSpin = 30'000;            // longer than it takes to wake a peer that blocks,
constexpr Nanoseconds kSpinAgain = 1'000'000;    // and not again for so long after one in vain: two may share a core
constexpr Nanoseconds kLongYield = 1'000'000;    // a yield that took longer: the core is somebody else's
constexpr Nanoseconds kYieldPerNode = 50'000;    // ... or, for each node here: all of them may have cold turns
constexpr Nanoseconds kTwiceIn = 50'000'000;     // one may be an accident, two within so long are not:
constexpr Nanoseconds kBlockAfter = 20'000'000;  // for so long we do not compete for it, or, as it goes on,
constexpr Nanoseconds kMostBlock = 640'000'000;  // for up to so long: with many nodes even to try costs too much

}  // namespace

AdaptiveWait::AdaptiveWait(Rank nodes, unsigned cores, bool with_clients)
    : has_core_(!with_clients && nodes <= cores),
      most_yields_(std::clamp(kYields / static_cast<int>(nodes), kLeastYields, kMostYields)),
      long_yield_(std::max(kLongYield, nodes * kYieldPerNode)),
      last_long_yield_(-kTwiceIn) {}

bool AdaptiveWait::may_poll(Nanoseconds now) { return now >= block_until_ || may_spin(now); }

void AdaptiveWait::begin(Nanoseconds now) {
  begun_ = now;
  yields_ = 0;
}

AdaptiveWait::Next AdaptiveWait::next(Nanoseconds now) {
  if (may_spin(now)) {
    if (now - begun_ < kSpin) return Next::kSpin;
    spin_again_ = now + kSpinAgain;
  }
  return now < block_until_ || ++yields_ > most_yields_ ? Next::kBlock : Next::kYield;
}

// The first long yield after a good time is no answer.
void AdaptiveWait::yielded(Nanoseconds from, Nanoseconds to) {
  if (to - from < long_yield_ || to < settled_at_) return;
  if (from - std::exchange(last_long_yield_, to) < kTwiceIn) stop_polling(to);
}

// Four times as long as the last time, if it went well since for less than that.
void AdaptiveWait::stop_polling(Nanoseconds now) {
  const bool goes_on = now - last_block_end_ < block_for_;
  block_for_ = goes_on ? std::min(4 * block_for_, kMostBlock) : kBlockAfter;
  block_until_ = last_block_end_ = now + block_for_;
}

}  // namespace fibocast
