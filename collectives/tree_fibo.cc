#include "collectives/tree_fibo.h"

#include <algorithm>

#include "collectives/check.h"
#include "collectives/growth.h"

namespace fibocast {
namespace {

constexpr std::uint32_t kNone = 0xffff'ffff;

// f as a step function: the times at which it grows, and for each the step that holds one send (s) or
// one message (s + r) earlier. Following these links replaces all searching.
struct Steps {
  std::vector<std::int64_t> time;
  std::vector<std::uint64_t> active;       // f(time)
  std::vector<std::uint32_t> send_before;  // the step at time - s, for times >= s + r
  std::vector<std::uint32_t> child;        // the step at time - s - r, kNone if that is negative
};

// Steps are made in order of time: the next one is the earliest t at which f(t - s) or f(t - s - r) grows.
Steps steps_up_to(std::int64_t end, std::int64_t s, std::int64_t r) {
  Steps steps{{0}, {1}, {0}, {kNone}};
  std::uint32_t next_sent = 1;      // the first step later than t - s
  std::uint32_t next_received = 0;  // the first step later than t - s - r: there always is one
  for (;;) {
    std::int64_t t = steps.time[next_received] + s + r;
    if (next_sent < steps.time.size()) t = std::min(t, steps.time[next_sent] + s);
    if (t > end) return steps;
    while (next_sent < steps.time.size() && steps.time[next_sent] + s <= t) ++next_sent;
    while (next_received < steps.time.size() && steps.time[next_received] + s + r <= t) ++next_received;
    steps.time.push_back(t);
    steps.active.push_back(steps.active[next_sent - 1] + steps.active[next_received - 1]);
    steps.send_before.push_back(next_sent - 1);
    steps.child.push_back(next_received - 1);
  }
}

class FiboBuilder {
 public:
  FiboBuilder(Rank ranks, std::int64_t s, std::int64_t r)
      : delay_(s + r), steps_(steps_up_to(distribution_latency(ranks, s, r), s, r)), parent_(ranks, kNoRank) {
    const std::uint64_t missing = steps_.active.back() - ranks;
    fill(0, static_cast<std::uint32_t>(steps_.time.size() - 1), missing);
  }
  std::vector<Rank> take() { return std::move(parent_); }

 private:
  // Processes that become active exactly at step k.
  std::uint64_t activated_at(std::uint32_t k) const { return steps_.active[k] - (k == 0 ? 0 : steps_.active[k - 1]); }

  // Lays out the subtree of `root` for the budget of `step` with `missing` of its last processes left out (A12): the
  // first child, the largest, at the end of the block.
  void fill(Rank root, std::uint32_t step, std::uint64_t missing) {
    std::uint64_t end = root + steps_.active[step] - missing;
    for (; steps_.child[step] != kNone; step = steps_.send_before[step]) {
      std::uint32_t child = steps_.child[step];
      std::uint64_t left_out = 0;
      // With processes missing, `step` is an exact budget; its child's may lie between two steps.
      if (missing > 0 && steps_.time[child] + delay_ == steps_.time[step]) {
        left_out = std::min(missing, activated_at(child));
        missing -= left_out;
        if (left_out == activated_at(child)) {
          check(child > 0);
          --child;
          left_out = 0;
        }
      }
      end -= steps_.active[child] - left_out;
      parent_[end] = root;
      if (steps_.active[child] - left_out > 1) fill(static_cast<Rank>(end), child, left_out);
    }
    check(end == root + 1u && missing == 0);
  }

  std::int64_t delay_;
  Steps steps_;
  std::vector<Rank> parent_;
};

}  // namespace

Tree tree_fibo(Rank ranks, std::uint64_t s, std::uint64_t r) {
  check(ranks >= 1 && are_latencies_valid(s, r));
  const LatencyRatio ratio = reduce_latencies(s, r);
  FiboBuilder builder(ranks, static_cast<std::int64_t>(ratio.s), static_cast<std::int64_t>(ratio.r));
  return Tree::from_parents(builder.take(), SendOrder::kDescending);
}

}  // namespace fibocast
