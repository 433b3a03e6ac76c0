#include "collectives/models/postal_curve.h"

#include <algorithm>
#include <map>
#include <stdexcept>

namespace fibocast {
namespace {

// What the sender keeps of every size that occurs, by size.
using Cuts = std::map<std::uint64_t, std::uint64_t>;

Cuts cuts_of(std::uint64_t ranks, const std::function<std::uint64_t(std::uint64_t)>& kept) {
  Cuts cuts;
  std::vector<std::uint64_t> open = {ranks};
  while (!open.empty()) {
    const std::uint64_t n = open.back();
    open.pop_back();
    if (n < 2 || cuts.contains(n)) continue;
    const std::uint64_t share = kept(n);
    cuts.emplace(n, share);
    open.push_back(share);
    open.push_back(n - share);
  }
  return cuts;
}

std::uint64_t sum(std::uint64_t a, std::uint64_t b) {
  std::uint64_t result = 0;
  if (__builtin_add_overflow(a, b, &result)) throw std::overflow_error("a time does not fit in 64 bit");
  return result;
}

std::uint64_t completion_of(const Cuts& cuts, const LatencyRatio& lambda) {
  std::map<std::uint64_t, std::uint64_t> cost = {{1, 0}};
  for (const auto& [n, kept] : cuts)  // ascending: both parts are known
    cost[n] = std::max(sum(lambda.s, cost[kept]), sum(lambda.s + lambda.r, cost[n - kept]));
  return cost.rbegin()->second;
}

Cuts cuts_of(std::uint64_t ranks, const Rational& alpha) {
  return cuts_of(ranks, [&alpha](std::uint64_t n) { return kept_share(alpha, n); });
}

// The least alpha at which another share of some size is kept: (2 n' + 1) / 2n is rounded up to n' + 1 (B7).
Rational next_breakpoint(const Cuts& cuts) {
  Rational next = 1;
  for (const auto& [n, kept] : cuts)
    if (kept < n - 1) next = std::min(next, Rational(2 * kept + 1, 2 * n));
  return next;
}

}  // namespace

std::uint64_t partition_completion(std::uint64_t ranks, const LatencyRatio& lambda,
                                   const std::function<std::uint64_t(std::uint64_t)>& kept) {
  return completion_of(cuts_of(ranks, kept), lambda);
}

std::uint64_t alpha_completion(std::uint64_t ranks, const LatencyRatio& lambda, const Rational& alpha) {
  return completion_of(cuts_of(ranks, alpha), lambda);
}

std::uint64_t alpha_completion(std::uint64_t ranks, const LatencyRatio& lambda, const AlphaTable& table) {
  return partition_completion(ranks, lambda, [&table](std::uint64_t n) { return kept_share(table.alpha(n), n); });
}

std::vector<AlphaSegment> alpha_curve(std::uint64_t ranks, const LatencyRatio& lambda, const AlphaInterval& alphas) {
  std::vector<AlphaSegment> curve;
  for (Rational alpha = alphas.from; alpha < alphas.below;) {
    const Cuts cuts = cuts_of(ranks, alpha);
    const Rational end = std::min(next_breakpoint(cuts), alphas.below);
    const std::uint64_t ticks = completion_of(cuts, lambda);
    if (!curve.empty() && curve.back().ticks == ticks) {
      curve.back().alphas.below = end;
    } else {
      curve.push_back({{alpha, end}, ticks});
    }
    alpha = end;
  }
  return curve;
}

}  // namespace fibocast
