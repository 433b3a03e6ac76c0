#include "collectives/growth.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "collectives/check.h"

namespace fibocast {
namespace {

// min(a * b / divisor, cap) where the quotient is known to be whole, without a wider type than 64 bit.
std::uint64_t multiply_divide(std::uint64_t a, std::uint64_t b, std::uint64_t divisor, std::uint64_t cap) {
  std::uint64_t product = 0;
  if (!__builtin_mul_overflow(a, b, &product)) return std::min(product / divisor, cap);
  const std::uint64_t common = std::gcd(a, divisor);
  // What is left of the divisor has no factor in common with a, so it divides b.
  if (__builtin_mul_overflow(a / common, b / (divisor / common), &product)) return cap;
  return std::min(product, cap);
}

// min(C(n, k), cap). With k <= n / 2 the partial results only grow, so the first one at the cap decides.
std::uint64_t choose(std::uint64_t n, std::uint64_t k, std::uint64_t cap) {
  if (k > n) return 0;
  k = std::min(k, n - k);
  std::uint64_t result = 1;
  for (std::uint64_t i = 1; i <= k && result < cap; ++i) result = multiply_divide(result, n - k + i, i, cap);
  return std::min(result, cap);
}

}  // namespace

bool are_latencies_valid(std::uint64_t s, std::uint64_t r) { return s >= 1 && s <= kMaxLatency && r <= kMaxLatency; }

LatencyRatio reduce_latencies(std::uint64_t s, std::uint64_t r) {
  const std::uint64_t scale = std::gcd(s, r);
  return {s / scale, r / scale, scale};
}

std::uint64_t growth(std::int64_t t, std::uint64_t s, std::uint64_t r, std::uint64_t cap) {
  if (t < 0) return 0;
  std::uint64_t left = static_cast<std::uint64_t>(t);  // t - d (s + r)
  std::uint64_t sum = 0;
  for (std::uint64_t d = 0;; ++d) {
    sum += choose(left / s + d, d, cap - sum);
    if (sum >= cap || left < s + r) return sum;
    left -= s + r;
  }
}

std::int64_t distribution_latency(std::uint64_t p, std::uint64_t s, std::uint64_t r) {
  check(are_latencies_valid(s, r));
  if (p <= 1) return 0;
  const LatencyRatio ratio = reduce_latencies(s, r);
  // A binomial tree needs (s + r) ceil(log2 p): f(below) < p <= f(enough) throughout.
  std::int64_t below = 0;
  std::int64_t enough = static_cast<std::int64_t>((ratio.s + ratio.r) * std::bit_width(p - 1));
  while (enough - below > 1) {
    const std::int64_t middle = below + (enough - below) / 2;
    (growth(middle, ratio.s, ratio.r, p) >= p ? enough : below) = middle;
  }
  return enough * static_cast<std::int64_t>(ratio.scale);
}

}  // namespace fibocast
