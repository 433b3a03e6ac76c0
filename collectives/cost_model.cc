#include "collectives/cost_model.h"

#include <array>
#include <cmath>
#include <numeric>

namespace fibocast {

TickedModel in_ticks(const ExactCosts& costs, Ports ports) {
  const std::array values = {costs.send, costs.latency, costs.occupancy, costs.send_per_byte, costs.occupancy_per_byte,
                             costs.wake};
  const CommonTicks common = to_common_ticks(values);
  const std::vector<std::uint64_t>& t = common.ticks;
  return {{.send = t[0],
           .latency = t[1],
           .occupancy = t[2],
           .send_per_byte = t[3],
           .occupancy_per_byte = t[4],
           .ports = ports,
           .wake = t[5]},
          common.unit};
}

Rational lambda_of(const Rational& s, const Rational& r) { return Rational(1) + r / s; }

std::optional<LatencyRatio> latencies_of_lambda(const Rational& lambda) {
  if (lambda < Rational(1)) return {};
  return LatencyRatio{.s = lambda.denominator(), .r = lambda.numerator() - lambda.denominator()};
}

std::optional<LatencyRatio> extract_latencies(std::uint64_t first, std::uint64_t second) {
  if (second <= first || second - first > first) return {};
  return LatencyRatio{.s = second - first, .r = first - (second - first)};
}

double growth_base(double s, double r) {
  // (s + r) ln x - ln(1 + x^r) is increasing and changes its sign in (1, 2^(1/s)].
  double low = 0;
  double high = std::log(2.0) / s;
  for (int i = 0; i < 100; ++i) {
    const double ln_x = (low + high) / 2;
    const bool below = (s + r) * ln_x < std::log1p(std::exp(r * ln_x));
    (below ? low : high) = ln_x;
  }
  return std::exp(high);
}

std::optional<double> growth_amplitude(std::uint64_t s, std::uint64_t r) {
  if (std::gcd(s, r) != 1) return {};
  const auto ds = static_cast<double>(s);
  const auto dr = static_cast<double>(r);
  const double z = 1 / growth_base(ds, dr);
  return (1 - std::pow(z, ds)) / (1 - z) / (ds * std::pow(z, ds) + (ds + dr) * std::pow(z, ds + dr));
}

Plan fibo_plan(const CostModel& model) {
  Plan plan;
  plan.distribution = {.kind = TreeKind::kFibo, .s = model.send, .r = model.receive()};
  plan.reduction = {.kind = TreeKind::kFibo, .s = model.occupancy, .r = model.send + model.latency};
  // A parent that is never busy takes everything at once.
  if (model.occupancy == 0) plan.reduction = {.kind = TreeKind::kSequential};
  return plan;
}

}  // namespace fibocast
