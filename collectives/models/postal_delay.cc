#include "collectives/models/postal_delay.h"

#include <cmath>

namespace fibocast {
namespace {

// T_m(n) for an integer m.
std::uint64_t rounds(std::uint64_t ranks, std::uint64_t m) {
  return static_cast<std::uint64_t>(distribution_latency(ranks, 1, m - 1));
}

}  // namespace

CombineTimes combine_times(std::uint64_t ranks, const LatencyRatio& lambda) {
  const std::uint64_t a = lambda.s + lambda.r;
  const std::uint64_t m = a / lambda.s;
  const auto ticks = static_cast<std::uint64_t>(distribution_latency(ranks, lambda.s, lambda.r));
  return {.optimum = Rational(ticks, lambda.s),
          .delay_receive = rounds(ranks, m + (a % lambda.s == 0 ? 0 : 1)),
          .delay_send = Rational(a, lambda.s) / m * rounds(ranks, m)};
}

double postal_gamma(double lambda) { return growth_base(1, lambda - 1); }

double combine_break_even(std::uint64_t m) {
  const auto floor = static_cast<double>(m);
  return floor * std::log(postal_gamma(floor)) / std::log(postal_gamma(floor + 1));
}

}  // namespace fibocast
