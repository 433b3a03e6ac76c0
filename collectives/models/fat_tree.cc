#include "collectives/models/fat_tree.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>

#include "collectives/check.h"

namespace fibocast {
namespace {

std::uint64_t ceil_divide(std::uint64_t a, std::uint64_t b) { return a / b + (a % b == 0 ? 0 : 1); }

// "1,1,2"; nothing if something else than numbers is in it.
std::optional<std::vector<std::uint64_t>> parse_list(std::string_view text) {
  std::vector<std::uint64_t> list;
  if (text.empty()) return list;
  const char* at = text.data();
  const char* const end = at + text.size();
  for (;;) {
    std::uint64_t value = 0;
    const auto [next, code] = std::from_chars(at, end, value);
    if (code != std::errc{}) return std::nullopt;
    list.push_back(value);
    if (next == end) return list;
    if (*next != ',') return std::nullopt;
    at = next + 1;
  }
}

std::string list_mistake(const std::vector<std::uint64_t>& list, unsigned levels) {
  if (list.size() != levels)
    return "capacities must be one number for each of the " + std::to_string(levels) + " levels, not " +
           std::to_string(list.size());
  if (list.empty()) return {};
  if (list.front() != 1) return "the capacity next to the leaves must be 1, not " + std::to_string(list.front());
  if (!std::is_sorted(list.begin(), list.end())) return "capacities must not decrease towards the root";
  return {};
}

// The least T that no level i contradicts. `feasible` is monotone in T.
template <typename Feasible>
std::uint64_t least_steps(std::uint64_t n, unsigned levels, Feasible feasible) {
  std::uint64_t steps = n - 1;
  for (unsigned i = 1; i <= levels; ++i)
    while (!feasible(steps, i)) ++steps;
  return steps;
}

}  // namespace

std::optional<FatTree> make_fat_tree(std::uint64_t leaves, std::string_view capacities, std::string& error) {
  error.clear();
  if (!std::has_single_bit(leaves) || leaves > kMostModelLeaves) {
    error = "the number of leaves must be a power of two from 1 to " + std::to_string(kMostModelLeaves) + ", not " +
            std::to_string(leaves);
    return std::nullopt;
  }
  const auto levels = static_cast<unsigned>(std::countr_zero(leaves));
  FatTree tree{leaves, std::vector<std::uint64_t>(levels, 1)};
  if (capacities == "constant") return tree;
  if (capacities == "exponential") {
    for (unsigned h = 0; h < levels; ++h) tree.capacity[h] = std::uint64_t{1} << h;
    return tree;
  }
  auto list = parse_list(capacities);
  error = list ? list_mistake(*list, levels) : "capacities are constant, exponential or a list of numbers like 1,1,2";
  if (!error.empty()) return std::nullopt;
  tree.capacity = std::move(*list);
  return tree;
}

bool has_exchange_schedule(const FatTree& tree) {
  for (unsigned h = 1; h < tree.levels(); ++h) {
    const std::uint64_t below = tree.capacity[h - 1];
    const std::uint64_t here = tree.capacity[h];
    if (here != below && (here % 2 != 0 || here / 2 != below)) return false;
  }
  return true;
}

FatTreeBounds fat_tree_bounds(const FatTree& tree) {
  const std::uint64_t n = tree.leaves;
  if (n == 1) return {};
  const std::uint64_t collective = n == 2 ? 2 : n + 1;
  // All n^2 / 4 messages from one half to the other cross the root's branch.
  const std::uint64_t crossing = ceil_divide(ceil_divide(n * n, 4), tree.capacity.back());
  return {2ull * tree.levels(), collective, collective, std::max(collective, crossing)};
}

std::vector<std::uint64_t> effective_capacities(const FatTree& tree) {
  std::vector<std::uint64_t> effective;
  for (const std::uint64_t c : tree.capacity)
    effective.push_back(effective.empty() ? 1 : std::min(c, 2 * effective.back()));
  return effective;
}

std::vector<ExchangePhase> exchange_phases(const FatTree& tree) {
  const std::vector<std::uint64_t> effective = effective_capacities(tree);
  std::vector<ExchangePhase> phases;
  std::uint64_t first = 1;
  for (unsigned h = tree.levels(); h >= 1; --h) {
    const std::uint64_t dispatches = ceil_divide(std::uint64_t{1} << 2 * (h - 1), effective[h - 1]);
    phases.push_back({h, dispatches, dispatches + 2 * h - 1, first});
    first += dispatches + 2;
  }
  return phases;
}

std::uint64_t serial_exchange(const FatTree& tree) {
  std::uint64_t steps = 0;
  for (const ExchangePhase& phase : exchange_phases(tree)) steps += phase.steps;
  return steps;
}

std::uint64_t pipelined_exchange(const FatTree& tree) {
  const std::vector<ExchangePhase> phases = exchange_phases(tree);
  return phases.empty() ? 0 : phases.back().first - 1 + phases.back().steps;
}

// T - n + 1 steps of each leaf are without a reception, which leaves room for n (2^i - 1) / 2^i of its messages from
// other subtrees of level L - i in each period. The rigorous form: a period is P = 2 (L - i) + 1 steps, and what leaves
// the subtree does so in the steps 1 .. T - P.
ExchangeLowerBounds exchange_lower_bounds(std::uint64_t leaves) {
  check(leaves >= 2 && std::has_single_bit(leaves) && leaves <= kMostModelLeaves);
  const std::uint64_t n = leaves;
  const auto levels = static_cast<unsigned>(std::countr_zero(n));
  const auto printed = [&](std::uint64_t t, unsigned i) {
    const std::uint64_t period = 2ull * (levels - i + 1);
    // n / 2^i is whole: divided out so that the products fit.
    return (t - n + 1) * t >= (n >> i) * period * ((std::uint64_t{1} << i) - 1);
  };
  const auto rigorous = [&](std::uint64_t t, unsigned i) {
    const std::uint64_t period = 2ull * (levels - i) + 1;
    if (t < period) return false;
    return (t - n + 1) * ceil_divide(t - period, period) >= (n >> i) * ((std::uint64_t{1} << i) - 1);
  };
  const double log_n = levels;
  ExchangeLowerBounds bounds;
  bounds.lemma3 = static_cast<double>(n) + 2 * log_n - 2 * std::log2(log_n) - 2;
  bounds.holes = least_steps(n, levels, printed);
  bounds.sound = std::max(least_steps(n, levels, rigorous), n == 2 ? 2 : n + 1);
  return bounds;
}

}  // namespace fibocast
