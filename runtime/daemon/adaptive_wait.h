// When a node that waits for a frame spins, yields or blocks: the `adaptive` policy, as rules over times that the host
// tells it. To be woken from blocking costs some 20 us, to poll costs the core that others may need (ARCHITECTURE 8).
//   spin   where the host's nodes may have a core each: an answer comes sooner than a core that was given away. That
//          holds even where somebody computes beside them: while both run, they should not be the ones to leave.
//   yield  where nodes are more than cores; in turns, the answer's sender among them.
//   block  after so many yields in vain, and where yields take so long that somebody computes on this core. At once
//          where many nodes to a core serve clients: each that yields in vain has its turn, and the clients wait for
//          it. A barrier of 6 daemons and their clients on two cores took 512 us with yields and 466 without, of 8 906
//          and 665; elsewhere of 12 776 and 372, of 16 1,063 and 571, of 24 1,958 and 1,265; of 5 as long, of 4 less
//          with yields. But who blocks is woken late: not where times are to be kept.
//   move   to another core where the node that answers is found to share ours although each could have its own: the
//          kernel is slow to part two that give way to each other all the time.
//   place  where nodes are more than cores, on the core of which each has its share: the kernel puts who is woken with
//          who woke it, mostly the root, and leaves those there that yield all the time. Of 16 nodes 9 to 11 shared the
//          root's core of two, with which a barrier takes a fifth longer than with 7. Not beside somebody who computes:
//          the kernel then moves nodes away from him.
// Pure: no clock, no system call. One thread.
#pragma once

#include <cstdint>
#include <optional>

#include "collectives/types.h"

namespace fibocast {

class AdaptiveWait {
 public:
  enum class Next : std::uint8_t { kSpin, kYield, kBlock, kMove };

  // Processes that need cores as well, or none: with them no node spins. `kOnTime`: what their nodes send has its time,
  // that of an emulated NIC.
  enum class Clients : std::uint8_t { kNone, kServed, kServedOnTime };

  // `nodes` >= 1 wait on this host, `self` one of them, `cores` >= 1.
  AdaptiveWait(NodeId self, Rank nodes, unsigned cores, Clients clients = Clients::kNone);

  // A peer came or data passed: for a while, long turns of others are our own doing and no sign of a competitor.
  void unsettle(Nanoseconds now) {
    if (settled_at_ != kNever) settled_at_ = now + settling_;
  }
  // An operation has ended. Until the first one has, its members may still be starting: as with unsettle().
  void ended(Nanoseconds now) {
    if (settled_at_ == kNever) settled_at_ = now + settling_;
  }
  // Each node of the host may have a core of its own, as far as their number tells.
  bool has_core() const { return has_core_; }
  // May the host poll at all, or is it to block at once?
  bool may_poll(Nanoseconds now);
  // Is the host to look for a frame at once when it begins to wait? In vain if it has just sent something, and whoever
  // is to answer needs this core; what a look through sockets costs is better spent on letting him have it.
  bool looks_first(bool has_sent) const { return has_core_ || !has_sent; }
  // Which of the host's cores, from 0, the node is to wait on, if it is time to see whether it does and there is one.
  // `in_memory`: frames to others of this host go through memory.
  std::optional<unsigned> place(Nanoseconds now, bool in_memory);
  // A poll found something.
  void found();
  // The host begins to poll, or goes on after it has found something: more may come.
  void begin(Nanoseconds now);
  // A poll found nothing.
  Next next(Nanoseconds now);
  // A yield, what next() said, took from `from` to `to`.
  void yielded(Nanoseconds from, Nanoseconds to);

 private:
  // Each time four times as long as the last time, unless it went well since for longer than that.
  struct Pause {
    Nanoseconds end = 0, length = 0;
    void begin(Nanoseconds now);
  };

  bool may_spin(Nanoseconds now) const { return has_core_ && now >= spin_again_; }
  bool is_to_move(Nanoseconds now);

  bool has_core_;  // of its own, as far as the number of nodes tells
  struct Places {
    unsigned through_sockets, in_memory;
  };
  std::optional<Places> places_;
  Nanoseconds look_again_ = 0;  // whether the node is there
  int most_shared_turns_, most_yields_, yields_ = 0;
  Nanoseconds long_yield_, settling_;
  Rank long_yields_needed_, long_yields_ = 0;  // in a row, for a pause; so far
  Nanoseconds between_long_yields_, last_long_yield_;
  Nanoseconds begun_ = 0, spin_again_ = 0, settled_at_ = kNever;
  Pause polling_, moving_;  // somebody else computes on this core: no yields; we have tried to move to another core
  bool waits_ = false;      // the first poll was in vain
  bool gave_turn_ = false;  // in the first yield of this wait somebody else ran
  int shared_turns_ = 0;    // waits in a row that such a yield ended
};

}  // namespace fibocast
