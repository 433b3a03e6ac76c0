#include "collectives/models/fat_tree_exchange.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <set>
#include <tuple>

#include "collectives/check.h"

namespace fibocast {
namespace {

// Bits 0 .. h-2 of a leaf's place below a level-h node that are serial.
Rank serial_bits(const FatTree& tree, unsigned h) {
  Rank bits = 0;
  for (unsigned j = 0; j + 2 <= h; ++j)
    if (tree.capacity[j + 1] == tree.capacity[j]) bits |= Rank{1} << j;
  return bits;
}

// All leaves whose serial bits are `p`, to the place k ^ M ^ l in the other half.
void append_step(std::vector<FatTreeDispatch>& schedule, Rank n, Rank serial, Rank p, Rank offset, std::uint64_t step) {
  for (Rank k = 0; k < n; ++k)
    if ((k & serial) == p) schedule.push_back({step, k, k ^ offset});
}

void append_phase(std::vector<FatTreeDispatch>& schedule, const FatTree& tree, unsigned h, std::uint64_t step) {
  const Rank half = Rank{1} << (h - 1);
  const Rank serial = serial_bits(tree, h);
  Rank p = 0;
  do {
    for (Rank l = 0; l < half; ++l) append_step(schedule, static_cast<Rank>(tree.leaves), serial, p, half ^ l, step++);
    p = (p - serial) & serial;  // the next larger value of these bits
  } while (p != 0);
}

// Steps 1, 2, .. are filled one by one; a class is kept out of a step if its arrival is taken. What was found hopeless
// is remembered: the offsets left and the arrivals taken from here on are all that matters.
class XorSearch {
 public:
  explicit XorSearch(Rank leaves) {
    for (unsigned c = 1; c <= tree_levels(leaves); ++c) left_.push_back(Rank{1} << (c - 1));
  }
  // Can everything arrive by the end of step `steps`?
  bool within(std::uint64_t steps) {
    steps_ = steps;
    hopeless_.clear();
    return fill(1, 0);
  }

 private:
  // Bit t of `taken`: the arrival in step `step` + t is taken.
  bool fill(std::uint64_t step, std::uint64_t taken) {
    if (sends_left() == 0) return true;
    if (!enough_room(step, taken)) return false;
    const auto state = std::tuple(step, taken, left_);
    if (hopeless_.contains(state)) return false;
    for (std::size_t c = left_.size(); c >= 1; --c) {
      const std::uint64_t arrival = std::uint64_t{1} << (2 * c - 1);
      if (left_[c - 1] == 0 || step + 2 * c - 1 > steps_ || (taken & arrival) != 0) continue;
      --left_[c - 1];
      const bool done = fill(step + 1, (taken | arrival) >> 1);
      ++left_[c - 1];
      if (done) return true;
    }
    if (fill(step + 1, taken >> 1)) return true;
    hopeless_.insert(state);
    return false;
  }

  Rank sends_left() const { return std::accumulate(left_.begin(), left_.end(), Rank{0}); }

  // What is left of class c and above starts in the steps up to steps_ - 2c + 1 and takes free arrivals from
  // step + 2c - 1 on.
  bool enough_room(std::uint64_t step, std::uint64_t taken) const {
    std::uint64_t sends = 0;
    for (std::size_t c = left_.size(); c >= 1; --c) {
      sends += left_[c - 1];
      const auto used = static_cast<std::uint64_t>(std::popcount(taken >> (2 * c - 1)));
      if (sends > 0 && step + sends + used + 2 * c - 2 > steps_) return false;
    }
    return true;
  }

  std::vector<Rank> left_;  // offsets of class 1, 2, .. not yet used
  std::set<std::tuple<std::uint64_t, std::uint64_t, std::vector<Rank>>> hopeless_;
  std::uint64_t steps_ = 0;
};

}  // namespace

std::optional<std::vector<FatTreeDispatch>> exchange_schedule(const FatTree& tree, bool pipelined, std::string& error) {
  error.clear();
  if (!has_exchange_schedule(tree)) {
    error = "a total exchange has a schedule only if each capacity is once or twice the one below";
    return std::nullopt;
  }
  std::vector<FatTreeDispatch> schedule;
  std::uint64_t serial_start = 1;
  for (const ExchangePhase& phase : exchange_phases(tree)) {
    append_phase(schedule, tree, phase.level, pipelined ? phase.first : serial_start);
    serial_start += phase.steps;
  }
  std::sort(schedule.begin(), schedule.end());
  return schedule;
}

std::vector<FatTreeDispatch> exchange_schedule_of_kind(ExchangeKind kind, Rank n) {
  std::vector<FatTreeDispatch> schedule;
  for (Rank me = 0; me < n; ++me)
    for (std::uint32_t i = 0; i < exchange_step_count(kind, n); ++i) {
      const ExchangeStep s = exchange_step(kind, n, me, i);
      schedule.push_back({s.step, me, s.peer});
    }
  std::sort(schedule.begin(), schedule.end());
  return schedule;
}

std::optional<std::vector<FatTreeDispatch>> xor_schedule(Rank leaves, std::span<const unsigned> classes) {
  const unsigned levels = tree_levels(leaves);
  std::vector<Rank> next(levels + 1);  // unused offset of each class
  for (unsigned c = 1; c <= levels; ++c) next[c] = Rank{1} << (c - 1);
  std::vector<FatTreeDispatch> schedule;
  for (std::size_t s = 0; s < classes.size(); ++s) {
    const unsigned c = classes[s];
    if (c == 0) continue;
    if (c > levels || next[c] >> c != 0) return std::nullopt;
    append_step(schedule, leaves, 0, 0, next[c]++, s + 1);
  }
  for (unsigned c = 1; c <= levels; ++c)
    if (next[c] >> c == 0) return std::nullopt;
  return schedule;
}

std::uint64_t best_xor_steps(Rank leaves) {
  check(leaves >= 2);
  std::uint64_t steps = leaves == 2 ? 2 : leaves + 1;
  while (!XorSearch(leaves).within(steps)) ++steps;
  return steps;
}

}  // namespace fibocast
