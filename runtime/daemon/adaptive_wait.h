// When a node that waits for a frame spins, yields or blocks: the `adaptive` policy, as rules over times that the host
// tells it. To be woken from blocking costs some 20 us, to poll costs the core that others may need (ARCHITECTURE 8).
//   spin   where the host's nodes may have a core each: an answer comes sooner than a core that was given away. That
//          holds even where somebody computes beside them: while both run, they should not be the ones to leave.
//   yield  where nodes are more than cores; in turns, the answer's sender among them.
//   block  after so many yields in vain, and where yields take so long that somebody computes on this core.
// Pure: no clock, no system call. One thread.
#pragma once

#include <cstdint>

#include "collectives/types.h"

namespace fibocast {

class AdaptiveWait {
 public:
  enum class Next : std::uint8_t { kSpin, kYield, kBlock };

  // `nodes` >= 1 wait on this host, `cores` >= 1. With clients, who need cores as well, no node spins.
  AdaptiveWait(Rank nodes, unsigned cores, bool with_clients);

  // A peer came or data passed: for a while, long turns of others are our own doing and no sign of a competitor.
  void unsettle(Nanoseconds now) { settled_at_ = now + kSettling; }
  // May the host poll at all, or is it to block at once?
  bool may_poll(Nanoseconds now);
  // The host begins to poll, or a poll found something: more may have come.
  void begin(Nanoseconds now);
  // A poll found nothing.
  Next next(Nanoseconds now);
  // A yield, what next() said, took from `from` to `to`.
  void yielded(Nanoseconds from, Nanoseconds to);

 private:
  static constexpr Nanoseconds kSettling = 15'000'000;

  bool may_spin(Nanoseconds now) const { return has_core_ && now >= spin_again_; }
  void stop_polling(Nanoseconds now);

  bool has_core_;  // of its own, as far as the number of nodes tells
  int most_yields_, yields_ = 0;
  Nanoseconds long_yield_, last_long_yield_;
  Nanoseconds begun_ = 0, spin_again_ = 0, settled_at_ = 0;
  Nanoseconds block_until_ = 0;  // somebody else computes on this core: no yields before that
  Nanoseconds last_block_end_ = 0, block_for_ = 0;
};

}  // namespace fibocast
