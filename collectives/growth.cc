#include "collectives/growth.h"

#include <algorithm>
#include <array>
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

// C(n, k) for k <= n / 2 where it fits in 32 bit, else 0: all that the usual s and r need for a million ranks, in 5 KB.
constexpr std::uint64_t kRows = 48;
using Row = std::array<std::uint32_t, kRows / 2>;

constexpr std::array<Row, kRows> small_binomials() {
  std::array<Row, kRows> rows{};
  for (std::uint64_t n = 0; n < kRows; ++n) {
    std::uint64_t value = 1;
    for (std::uint64_t k = 0; k <= n / 2 && value <= UINT32_MAX; ++k) {
      rows[n][k] = static_cast<std::uint32_t>(value);
      value = value * (n - k) / (k + 1);
    }
  }
  return rows;
}

constexpr std::array<Row, kRows> kBinomials = small_binomials();

// min(C(n, k), cap). With k <= n / 2 the partial results only grow, so the first one at the cap decides.
std::uint64_t multiply_up(std::uint64_t n, std::uint64_t k, std::uint64_t cap) {
  std::uint64_t result = 1;
  for (std::uint64_t i = 1; i <= k && result < cap; ++i) result = multiply_divide(result, n - k + i, i, cap);
  return std::min(result, cap);
}

// min(C(n, k), cap).
std::uint64_t choose(std::uint64_t n, std::uint64_t k, std::uint64_t cap) {
  if (k > n) return 0;
  k = std::min(k, n - k);
  if (n < kRows && kBinomials[n][k] != 0) return std::min<std::uint64_t>(kBinomials[n][k], cap);
  return multiply_up(n, k, cap);
}

}  // namespace

bool are_latencies_valid(std::uint64_t s, std::uint64_t r) { return s >= 1 && s <= kMaxLatency && r <= kMaxLatency; }

LatencyRatio reduce_latencies(std::uint64_t s, std::uint64_t r) {
  const std::uint64_t scale = std::gcd(s, r);
  return {s / scale, r / scale, scale};
}

Growth::Growth(std::uint64_t s, std::uint64_t r) : s_(s), delay_(s + r), receive_sends_(r / s), receive_rest_(r % s) {}

std::uint64_t Growth::active(std::int64_t t, std::uint64_t cap) const {
  if (t < 0) return 0;
  std::uint64_t left = static_cast<std::uint64_t>(t);  // t - d (s + r)
  Term term = first_term(left);
  std::uint64_t sum = 0;
  for (std::uint64_t d = 0;; ++d) {
    sum += choose(term.sends, d, cap - sum);
    if (sum >= cap || left < delay_) return sum;
    left -= delay_;
    next_term(term);
  }
}

// Where s divides t - d r, the processes at depth d whose last send was one of the latest: C(n, d) - C(n - 1, d).
Growth::Reached Growth::reached(std::int64_t t) const {
  if (t <= 0) return t == 0 ? Reached{1, 1} : Reached{};
  std::uint64_t left = static_cast<std::uint64_t>(t);
  Term term = first_term(left);
  Reached sum{1, 0};  // the root
  for (std::uint64_t d = 1; left >= delay_; ++d) {
    left -= delay_;
    next_term(term);
    sum.active += choose(term.sends, d, UINT64_MAX);
    if (term.rest == 0) sum.latest += choose(term.sends - 1, d - 1, UINT64_MAX);
  }
  return sum;
}

std::int64_t Growth::latency(std::uint64_t p) const {
  if (p <= 1) return 0;
  // A binomial tree needs (s + r) ceil(log2 p): f(below) < p <= f(enough) throughout.
  std::int64_t below = 0;
  std::int64_t enough = static_cast<std::int64_t>(delay_ * static_cast<std::uint64_t>(std::bit_width(p - 1)));
  while (enough - below > 1) {
    const std::int64_t middle = below + (enough - below) / 2;
    (active(middle, p) >= p ? enough : below) = middle;
  }
  return enough;
}

std::uint64_t growth(std::int64_t t, std::uint64_t s, std::uint64_t r, std::uint64_t cap) {
  return Growth(s, r).active(t, cap);
}

std::int64_t distribution_latency(std::uint64_t p, std::uint64_t s, std::uint64_t r) {
  check(are_latencies_valid(s, r));
  const LatencyRatio ratio = reduce_latencies(s, r);
  return Growth(ratio.s, ratio.r).latency(p) * static_cast<std::int64_t>(ratio.scale);
}

}  // namespace fibocast
