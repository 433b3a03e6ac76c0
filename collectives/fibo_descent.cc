#include "collectives/fibo_descent.h"

#include "collectives/check.h"
#include "collectives/growth.h"

namespace fibocast {

FiboDescent::FiboDescent(std::uint64_t s, std::uint64_t r, Rank ranks, Rank me) {
  check(are_latencies_valid(s, r) && me < ranks);
  const LatencyRatio ratio = reduce_latencies(s, r);
  s_ = ratio.s;
  r_ = ratio.r;
  budget_ = distribution_latency(ranks, s_, r_);
  missing_ = active(budget_) - ranks;
  descend(me);
}

std::uint64_t FiboDescent::active(std::int64_t t) const { return growth(t, s_, r_); }

// Child i has the budget t - (i+1) s - r; there are as many children as budgets that are not negative.
Rank FiboDescent::children() const {
  const std::int64_t first_budget = budget_ - static_cast<std::int64_t>(s_ + r_);
  return first_budget < 0 ? 0 : static_cast<Rank>(first_budget / static_cast<std::int64_t>(s_) + 1);
}

Rank FiboDescent::child(Rank i) const {
  check(i < children());
  return static_cast<Rank>(me_ + 1 + block_from(i + 1));
}

// Missing processes left for child i and those after it: the earlier children lack all that they would
// activate at the very end, as long as there are enough to be left out (rem of A11).
std::uint64_t FiboDescent::missing_from(Rank i) const {
  if (missing_ == 0) return 0;
  const std::uint64_t left_out = activated_at(budget_) - activated_at(budget_ - static_cast<std::int64_t>(i * s_));
  return missing_ > left_out ? missing_ - left_out : 0;
}

// Processes in the subtrees of child i and those after it. They fill the front of the block.
std::uint64_t FiboDescent::block_from(Rank i) const {
  return active(budget_ - static_cast<std::int64_t>(i * s_)) - 1 - missing_from(i);
}

// Rank `offset` of the current block becomes the current process.
void FiboDescent::descend(std::uint64_t offset) {
  while (offset > 0) {
    Rank inside = 0;  // block_from(inside) >= offset > block_from(beyond)
    Rank beyond = children();
    check(offset <= block_from(0));
    while (beyond - inside > 1) {
      const Rank middle = inside + (beyond - inside) / 2;
      (block_from(middle) >= offset ? inside : beyond) = middle;
    }
    offset -= 1 + block_from(inside + 1);
    enter_child(inside);
  }
}

void FiboDescent::enter_child(Rank i) {
  const Rank rank = child(i);
  const std::uint64_t missing = missing_from(i);
  std::int64_t budget = budget_ - static_cast<std::int64_t>((i + 1) * s_ + r_);
  missing_ = 0;
  if (missing > 0) {
    // Without any of its last ones the child is a whole tree of one tick less.
    if (missing >= activated_at(budget)) {
      --budget;
    } else {
      missing_ = missing;
    }
  }
  budget_ = budget;
  parent_ = me_;
  me_ = rank;
}

}  // namespace fibocast
