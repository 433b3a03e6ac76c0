#include "collectives/alpha_partition.h"

#include <algorithm>

#include "collectives/check.h"
#include "collectives/growth.h"

namespace fibocast {
namespace {

__extension__ typedef unsigned __int128 Wide;  // the tools run where there is one

constexpr std::size_t kMostSteps = 10'000'000;

}  // namespace

PartitionRange legal_partitions(std::uint64_t ranks, std::uint64_t s, std::uint64_t r) {
  check(ranks >= 2 && ranks <= kMostPostalRanks && are_latencies_valid(s, r));
  const std::int64_t t = distribution_latency(ranks, s, r);
  return {ranks - growth(t - static_cast<std::int64_t>(s + r), s, r), growth(t - static_cast<std::int64_t>(s), s, r)};
}

AlphaInterval intersection(const AlphaInterval& a, const AlphaInterval& b) {
  return {std::max(a.from, b.from), std::min(a.below, b.below)};
}

AlphaInterval legal_alphas(std::uint64_t ranks, const PartitionRange& range) {
  AlphaInterval alphas;
  if (range.least > 1) alphas.from = Rational(2 * range.least - 1, 2 * ranks);
  if (range.most < ranks - 1) alphas.below = Rational(2 * range.most + 1, 2 * ranks);
  return alphas;
}

std::uint64_t kept_share(const Rational& alpha, std::uint64_t ranks) {
  const Wide half_up = Wide{2} * alpha.numerator() * ranks + alpha.denominator();
  const auto rounded = static_cast<std::uint64_t>(half_up / (Wide{2} * alpha.denominator()));
  return std::clamp<std::uint64_t>(rounded, 1, ranks - 1);
}

bool is_alpha_valid(const Rational& alpha, std::string& error) {
  if (Rational(0) < alpha && alpha < Rational(1)) return true;
  error = "alpha must be greater than 0 and less than 1";
  return false;
}

std::optional<AlphaTable> AlphaTable::make(std::uint64_t ranks, std::uint64_t s, std::uint64_t r, std::string& error) {
  if (ranks < 1 || ranks > kMostPostalRanks) {
    error = "an alpha table is for 1 to " + std::to_string(kMostPostalRanks) + " ranks";
    return {};
  }
  if (!are_latencies_valid(s, r)) {
    error = "the costs are too large or have too many digits";
    return {};
  }
  const bool only_the_first_sends = ranks > kMostSteps && r / s >= kMostSteps;  // until then each step adds one rank
  const std::vector<GrowthStep> steps = growth_steps(ranks, s, r, only_the_first_sends ? 1 : kMostSteps);
  if (steps.back().size < ranks) {
    error =
        "the table would look at more than " + std::to_string(kMostSteps) + " sizes: take a smaller lambda or maximum";
    return {};
  }
  AlphaTable table;
  for (std::size_t i = 1; i < steps.size(); ++i) {
    const std::uint64_t n = std::min(steps[i].size, ranks);
    table.add(n, legal_alphas(n, {n - steps[steps[i].given].size, steps[steps[i].kept].size}));
  }
  return table;
}

// Into the last entry as long as one alpha serves all of it.
void AlphaTable::add(std::uint64_t ranks, const AlphaInterval& alphas) {
  if (!entries_.empty()) {
    const AlphaInterval both = intersection(entries_.back().alphas, alphas);
    if (!both.is_empty()) {
      entries_.back() = {ranks, both};
      return;
    }
  }
  entries_.push_back({ranks, alphas});
}

Rational AlphaTable::alpha(std::uint64_t ranks) const {
  const auto entry = std::ranges::lower_bound(entries_, ranks, {}, &AlphaEntry::most_ranks);
  check(entry != entries_.end() && ranks >= 2);
  return entry->alpha();
}

}  // namespace fibocast
