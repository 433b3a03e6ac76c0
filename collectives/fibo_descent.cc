#include "collectives/fibo_descent.h"

#include <algorithm>

#include "collectives/check.h"

namespace fibocast {

namespace {

LatencyRatio checked_ratio(std::uint64_t s, std::uint64_t r) {
  check(are_latencies_valid(s, r));
  return reduce_latencies(s, r);
}

}  // namespace

FiboDescent::FiboDescent(std::uint64_t s, std::uint64_t r, Rank ranks, Rank me)
    : FiboDescent(checked_ratio(s, r), ranks, me) {}

FiboDescent::FiboDescent(const LatencyRatio& ratio, Rank ranks, Rank me)
    : s_(static_cast<std::int64_t>(ratio.s)),
      delay_(static_cast<std::int64_t>(ratio.s + ratio.r)),
      growth_(ratio.s, ratio.r) {
  check(me < ranks);
  const std::int64_t budget = growth_.latency(ranks);
  stand_at(budget, growth_.active(budget) - ranks);
  descend(me);
}

// Child i has the budget t - (i+1) s - r; there are as many children as budgets that are not negative.
void FiboDescent::stand_at(std::int64_t budget, std::uint64_t missing) {
  budget_ = budget;
  missing_ = missing;
  latest_ = missing > 0 ? growth_.reached(budget).latest : 0;
  children_ = budget < delay_ ? 0 : static_cast<Rank>((budget - delay_) / s_ + 1);
}

Rank FiboDescent::child(Rank i) const {
  check(i < children_);
  return static_cast<Rank>(me_ + 1 + border(i + 1).block);
}

// The earlier children lack all that they would activate at the very end, as long as there are enough to be left out
// (rem of A11).
FiboDescent::Border FiboDescent::border(Rank i) const {
  const std::int64_t budget = budget_ - std::int64_t{i} * s_;
  if (missing_ == 0) return {growth_.active(budget) - 1, 0};
  const Growth::Reached reached = growth_.reached(budget);
  const std::uint64_t left_out = latest_ - reached.latest;
  const std::uint64_t missing = missing_ > left_out ? missing_ - left_out : 0;
  return {reached.active - 1 - missing, missing};
}

// Rank `offset` of the current block becomes the current process. It is in child `inside`, the last one whose border is
// not before it; large subtrees come first, so that the search begins there.
void FiboDescent::descend(std::uint64_t offset) {
  while (offset > 0) {
    Rank inside = 0;
    Rank beyond = children_;
    Border first = border(0);
    Border last{};  // of `beyond`
    check(offset <= first.block);
    for (Rank step = 1; beyond - inside > 1;) {
      const Rank next = inside + std::min(step, (beyond - inside) / 2);
      const Border found = border(next);
      const bool is_inside = found.block >= offset;
      (is_inside ? inside : beyond) = next;
      (is_inside ? first : last) = found;
      step *= 2;
    }
    parent_ = me_;
    me_ += static_cast<Rank>(1 + last.block);
    offset -= 1 + last.block;
    enter_child(inside, first.missing);
  }
}

// Without any of its last ones the child is a whole tree of one tick less.
void FiboDescent::enter_child(Rank i, std::uint64_t missing) {
  const std::int64_t budget = budget_ - std::int64_t{i} * s_ - delay_;
  stand_at(budget, missing);
  if (missing > 0 && missing >= latest_) stand_at(budget - 1, 0);
}

}  // namespace fibocast
