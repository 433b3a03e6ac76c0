#include "collectives/models/postal_measure.h"

#include <algorithm>

namespace fibocast {
namespace {

constexpr std::uint64_t kPacketBytes = 512;

struct FittedLine {
  double slope = 0;
  double intercept = 0;
};

// Nothing if all x are the same.
std::optional<FittedLine> least_squares(std::span<const ExperimentPoint> points) {
  const auto count = static_cast<double>(points.size());
  double mean_x = 0;
  double mean_y = 0;
  for (const ExperimentPoint& p : points) {
    mean_x += (static_cast<double>(p.k) - 1) / count;
    mean_y += p.time / count;
  }
  double xx = 0;
  double xy = 0;
  for (const ExperimentPoint& p : points) {
    const double dx = static_cast<double>(p.k) - 1 - mean_x;
    xx += dx * dx;
    xy += dx * (p.time - mean_y);
  }
  if (xx <= 0) return {};
  return FittedLine{xy / xx, mean_y - xy / xx * mean_x};
}

bool has_two_sizes(std::span<const ExperimentPoint> points) {
  return std::ranges::any_of(points, [&](const ExperimentPoint& p) { return p.k != points.front().k; });
}

}  // namespace

Rational experiment_time(PostalExperiment experiment, std::uint64_t k, const Rational& t0, const Rational& lambda) {
  if (experiment == PostalExperiment::kOneWay) return t0 * (Rational(k - 1) + Rational(2) * lambda);
  return Rational(2) * t0 * (Rational(k - 1) + lambda);
}

std::optional<PostalFit> fit_experiment(PostalExperiment experiment, std::span<const ExperimentPoint> points,
                                        std::string& error) {
  const auto line = has_two_sizes(points) ? least_squares(points) : std::nullopt;
  if (!line) {
    error = "a fit needs the times of at least two different numbers of receivers";
    return {};
  }
  if (!(line->slope > 0)) {
    error = "the times do not grow with the number of receivers";
    return {};
  }
  const double t0 = experiment == PostalExperiment::kOneWay ? line->slope : line->slope / 2;
  return PostalFit{t0, line->intercept / (2 * t0)};
}

DeltaCost delta_cost(std::uint64_t bytes) {
  DeltaCost cost{Rational(546) + Rational(bytes), 846};
  if (bytes >= kPacketBytes) return cost;
  const Rational at_zero = Rational(546, 5);
  cost.difference = at_zero + (Rational(846) - at_zero) * Rational(bytes, kPacketBytes);
  return cost;
}

}  // namespace fibocast
