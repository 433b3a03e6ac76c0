#include "runtime/daemon/adaptive_wait.h"

#include <algorithm>
#include <utility>

namespace fibocast {
namespace {

// Yields before blocking: the fewer nodes share the host, the more each may try.
constexpr int kYields = 400, kLeastYields = 16, kMostYields = 200;
constexpr Nanoseconds kSpin = 30'000;              // longer than it takes to wake a peer that blocks,
constexpr Nanoseconds kSpinAgain = 1'000'000;      // and not again for so long after one in vain: two may share a core
constexpr Nanoseconds kLongYield = 1'000'000;      // a yield that took longer: the core is somebody else's
constexpr Nanoseconds kYieldPerNode = 50'000;      // ... or, for each node here: all of them may have cold turns
constexpr Nanoseconds kSettling = 15'000'000;      // none counts for so long after data passed, or,
constexpr Nanoseconds kSettlePerNode = 1'000'000;  // for each node here: each of them may have a turn over its data
constexpr Rank kLeastLongYields = 2;               // one may be an accident, so many in a row are not, or, where
constexpr Rank kNodesPerLongYield = 16;            // more nodes yield, more: a kernel that is fair by what each has
                                                   // given away runs one several turns later than the others,
constexpr Rank kManyNodes = 48;                    // ... and somebody who computes for some 30 ms and is gone again,
constexpr Rank kManyLongYields = 12;               // as the kernel's own threads do, all of them at once
constexpr Nanoseconds kLongYieldsIn = 50'000'000;  // ... all of them within so long, or, where they are many,
constexpr Nanoseconds kBetweenMany = 10'000'000;   // ... so long from one to the next:
constexpr Nanoseconds kLeastPause = 20'000'000;    // for so long we do not compete for it, or, as it goes on,
constexpr Nanoseconds kMostPause = 640'000'000;    // for up to so long: with many nodes even to try costs too much
constexpr Nanoseconds kTurn = 1'000;               // a yield that took longer: somebody else ran meanwhile
constexpr int kSharedTurns = 4;                    // so many answers in such yields: who answers is on our core;
                                                   // more for a higher number: of two that share one only one is to go
constexpr Nanoseconds kPlaceEvery = 5'000'000;     // so often a node sees whether it is on its core, but it leaves that
constexpr Nanoseconds kNoPlace = 1'000'000'000;    // to the kernel for so long after a long yield
constexpr std::uint64_t kPartsOfANode = 6;         // the first one, the root of most trees, has so many parts to do and
                                                   // one for each of the others: what a message is to it
constexpr Rank kMessagesInMemory = 2;              // ... or one for so many of them, which go through memory
constexpr Rank kServingNodes = 2;                  // of a core, with clients: where there are more, none yields

// The nodes have equal shares of the cores, in their order. The first one alone, which has `more` parts to do than the
// others, is at most a core's.
unsigned share_of(NodeId self, Rank nodes, unsigned cores, std::uint64_t more) {
  const std::uint64_t others = (nodes - 1) * kPartsOfANode;
  const std::uint64_t first = std::min(kPartsOfANode + more, others / (cores - 1));
  const std::uint64_t index = self % nodes, before = index == 0 ? 0 : first + (index - 1) * kPartsOfANode;
  return static_cast<unsigned>(before * cores / (first + others));
}

}  // namespace

AdaptiveWait::AdaptiveWait(NodeId self, Rank nodes, unsigned cores, Clients clients)
    : has_core_(clients == Clients::kNone && nodes <= cores),
      most_shared_turns_(kSharedTurns * (1 + static_cast<int>(self % std::max(1U, cores)))),
      most_yields_(std::clamp(kYields / static_cast<int>(nodes), kLeastYields, kMostYields)),
      long_yield_(std::max(kLongYield, nodes * kYieldPerNode)),
      settling_(std::max(kSettling, nodes * kSettlePerNode)),
      long_yields_needed_(nodes < kManyNodes ? kLeastLongYields + nodes / kNodesPerLongYield : kManyLongYields),
      between_long_yields_(nodes < kManyNodes ? kLongYieldsIn / (long_yields_needed_ - 1) : kBetweenMany),
      last_long_yield_(-between_long_yields_) {
  if (clients == Clients::kServed && nodes > kServingNodes * cores) polling_.end = kNever;
  if (clients != Clients::kNone || cores == 1 || nodes <= cores) return;
  places_ = {share_of(self, nodes, cores, nodes), share_of(self, nodes, cores, nodes / kMessagesInMemory)};
}

std::optional<unsigned> AdaptiveWait::place(Nanoseconds now, bool in_memory) {
  if (!places_ || now < look_again_) return std::nullopt;
  look_again_ = now + kPlaceEvery;
  return in_memory ? places_->in_memory : places_->through_sockets;
}

bool AdaptiveWait::may_poll(Nanoseconds now) { return now >= polling_.end || may_spin(now); }

void AdaptiveWait::begin(Nanoseconds now) {
  begun_ = now;
  yields_ = 0;
  waits_ = gave_turn_ = false;
}

// What was there at once tells nothing: of two on one core each finds the other's next message there too.
void AdaptiveWait::found() {
  if (waits_) shared_turns_ = gave_turn_ ? shared_turns_ + 1 : 0;
}

AdaptiveWait::Next AdaptiveWait::next(Nanoseconds now) {
  waits_ = true;
  if (may_spin(now)) {
    if (now - begun_ < kSpin) return Next::kSpin;
    spin_again_ = now + kSpinAgain;
  }
  if (is_to_move(now)) return Next::kMove;
  if (now < polling_.end) return Next::kBlock;
  return ++yields_ > most_yields_ ? Next::kBlock : Next::kYield;
}

// Where that leads to no better core it is tried less and less.
bool AdaptiveWait::is_to_move(Nanoseconds now) {
  if (!has_core_ || shared_turns_ < most_shared_turns_ || now < moving_.end) return false;
  shared_turns_ = 0;
  moving_.begin(now);
  return true;
}

// After a pause the next long yield goes on where the last one was.
void AdaptiveWait::yielded(Nanoseconds from, Nanoseconds to) {
  gave_turn_ = yields_ == 1 && to - from >= kTurn;
  if (to - from < long_yield_ || to < settled_at_) return;
  look_again_ = to + kNoPlace;
  if (from - std::exchange(last_long_yield_, to) >= between_long_yields_) long_yields_ = 0;
  if (++long_yields_ < long_yields_needed_) return;
  polling_.begin(to);
  last_long_yield_ = polling_.end;
}

void AdaptiveWait::Pause::begin(Nanoseconds now) {
  const bool goes_on = now - end < length;
  length = goes_on ? std::min(4 * length, kMostPause) : kLeastPause;
  end = now + length;
}

}  // namespace fibocast
