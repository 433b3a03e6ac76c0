#include "collectives/models/mesh_times.h"

#include <cmath>
#include <stdexcept>

#include "collectives/check.h"

namespace fibocast {
namespace {

template <typename Number>
Number power_of_two(unsigned k);
template <>
double power_of_two(unsigned k) {
  return std::ldexp(1.0, static_cast<int>(k));
}
template <>
Rational power_of_two(unsigned k) {
  if (k >= 64) throw std::overflow_error("2^" + std::to_string(k) + " does not fit in 64 bit");
  return Rational(std::uint64_t{1} << k);
}

template <typename Number>
Number power(const Number& base, unsigned exponent) {
  Number result(1);
  for (unsigned i = 0; i < exponent; ++i) result = result * base;
  return result;
}

// Between binary fractions 2 (1 / sqrt 2)^2 is only almost 1, and the general form would divide rounding errors.
bool is_one(double value) { return std::abs(value - 1) < 1e-12; }
bool is_one(const Rational& value) { return value == Rational(1); }

template <typename Number>
bool is_alpha(const Number& alpha) {
  return alpha > Number(0) && alpha <= Number(1);
}

}  // namespace

template <typename Number>
Number jacobsthal(unsigned k) {
  check(k >= 1);
  const Number p = power_of_two<Number>(k);
  return (k % 2 == 0 ? p - Number(1) : p + Number(1)) / Number(3);
}

template <typename Number>
MeshPhaseShape<Number> mesh_phase_shape(MeshMapping mapping, unsigned order, unsigned phase) {
  check(phase >= 1 && phase <= order);
  if (mapping == MeshMapping::kReflecting) return {jacobsthal<Number>((order - phase + 2) / 2), Number(0)};
  if (phase <= 2) return {Number(1), Number(0)};
  const Number d = power_of_two<Number>((phase + 1) / 2 - 2);
  return {d, d - Number(1)};
}

template <typename Number>
MeshTotals<Number> mesh_totals(MeshMapping mapping, unsigned order, const Number& alpha) {
  check(is_alpha(alpha));
  MeshTotals<Number> totals;
  Number weight(1);
  for (unsigned i = 1; i <= order; ++i) {
    weight = weight * alpha;
    const auto [dilation, interference] = mesh_phase_shape<Number>(mapping, order, i);
    totals.store_and_forward = totals.store_and_forward + weight * (dilation + interference);
    totals.wormhole = totals.wormhole + weight * (Number(1) + interference);
    totals.perfect = totals.perfect + weight;
    totals.lockstep = totals.lockstep + weight * dilation;
  }
  return totals;
}

Rational store_and_forward_time(const Rational& c, const Rational& b, const Rational& weight, std::uint64_t links) {
  return (c + b * weight) * Rational(links);
}

Rational wormhole_time(const Rational& c, const Rational& b, const Rational& weight, std::uint64_t links,
                       const Rational& h) {
  return c + b * (weight + Rational(links) * h);
}

// D12: c1 2^k - (-1)^k c2 - c3 a^2k, with c3 taken positive because rationals here are.
template <typename Number>
Number reflecting_total(unsigned k, const Number& alpha) {
  check(is_alpha(alpha));
  const Number one(1);
  const Number two(2);
  const Number square = alpha * alpha;
  const Number c1 = two * alpha * (one + alpha) / (Number(3) * (two - square));
  const Number c2 = alpha * (one + alpha) / (Number(3) * (one + square));
  const Number c3 = square * alpha * (one + alpha) / ((one + square) * (two - square));
  const Number leading = c1 * power_of_two<Number>(k);
  return (k % 2 == 0 ? leading - c2 : leading + c2) - c3 * power(square, k);
}

// D13 with its two geometric sums written as differences of like sign:
// a + a^2 + a (1 + a) ((2a^2)^k - 2a^2) / (2a^2 - 1) - (a^3 - a^(2k+1)) / (1 - a).
template <typename Number>
Number growing_total(unsigned k, const Number& alpha) {
  check(is_alpha(alpha));
  const Number one(1);
  if (k == 0) return Number(0);
  if (is_one(alpha)) return power_of_two<Number>(k + 1) - Number(2 * k);
  const Number square = alpha * alpha;
  const Number ratio = Number(2) * square;
  const Number factor = alpha * (one + alpha);
  Number doubled(0);
  if (is_one(ratio))
    doubled = factor * Number(k - 1);
  else if (ratio > one)
    doubled = factor * ((power(ratio, k) - ratio) / (ratio - one));
  else
    doubled = factor * ((ratio - power(ratio, k)) / (one - ratio));
  const Number single = alpha * square * ((one - power(square, k - 1)) / (one - alpha));
  return alpha + square + doubled - single;
}

MeshCrossover mesh_crossover(double alpha, unsigned k_max) {
  MeshCrossover crossover;
  for (unsigned k = 1; k <= k_max; ++k) {
    const double growing = mesh_totals(MeshMapping::kGrowing, 2 * k, alpha).store_and_forward;
    const double reflecting = mesh_totals(MeshMapping::kReflecting, 2 * k, alpha).store_and_forward;
    if (growing < reflecting && crossover.first_win == 0) crossover.first_win = k;
    if (growing > reflecting) crossover.last_loss = k;
  }
  return crossover;
}

template Rational jacobsthal<Rational>(unsigned);
template double jacobsthal<double>(unsigned);
template MeshPhaseShape<Rational> mesh_phase_shape<Rational>(MeshMapping, unsigned, unsigned);
template MeshPhaseShape<double> mesh_phase_shape<double>(MeshMapping, unsigned, unsigned);
template MeshTotals<Rational> mesh_totals<Rational>(MeshMapping, unsigned, const Rational&);
template MeshTotals<double> mesh_totals<double>(MeshMapping, unsigned, const double&);
template Rational reflecting_total<Rational>(unsigned, const Rational&);
template double reflecting_total<double>(unsigned, const double&);
template Rational growing_total<Rational>(unsigned, const Rational&);
template double growing_total<double>(unsigned, const double&);

}  // namespace fibocast
