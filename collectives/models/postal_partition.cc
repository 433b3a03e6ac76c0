#include "collectives/models/postal_partition.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace fibocast {

std::optional<LatencyRatio> postal_latencies(const Rational& lambda, std::string& error) {
  const auto latencies = latencies_of_lambda(lambda);
  if (!latencies) {
    error = "lambda must be at least 1";
    return {};
  }
  if (!are_latencies_valid(latencies->s, latencies->r)) {
    error = "lambda is too large or has too many digits";
    return {};
  }
  return latencies;
}

std::vector<PartitionTriangle> partition_triangles(std::uint64_t ranks, const LatencyRatio& lambda) {
  const std::vector<GrowthStep> steps = growth_steps(ranks, lambda.s, lambda.r);
  std::vector<PartitionTriangle> triangles;
  for (std::size_t i = 1; i < steps.size() && steps[i].size <= ranks; ++i) {
    const std::uint64_t kept = steps[steps[i].kept].size;
    const std::uint64_t given = steps[steps[i].given].size;
    const std::uint64_t least = steps[i - 1].size + 1;
    triangles.push_back({.ticks = steps[i].tick,
                         .top = {{kept, steps[i].size}, steps[i].size},
                         .left_bottom = {{least - given, least}, least},
                         .right_bottom = {{kept, least}, least}});
  }
  return triangles;
}

PartitionLimits partition_limits(const LatencyRatio& lambda) {
  const auto f = static_cast<double>(lambda.s);
  const double u = f + static_cast<double>(lambda.r);
  const double beta = 1 / growth_base(f, static_cast<double>(lambda.r));
  return {.beta = beta,
          .top = std::pow(beta, f),
          .left_bottom = 1 - std::pow(beta, u - 1),
          .right_bottom = std::pow(beta, f - 1)};
}

std::optional<double> single_alpha(const Rational& lambda) {
  const std::array<Rational, 6> all = {1, Rational(3, 2), 2, 3, 4, 5};
  if (std::ranges::find(all, lambda) == all.end()) return {};
  return partition_limits(*latencies_of_lambda(lambda)).top;
}

std::uint64_t single_alpha_reach(std::uint64_t ranks, const LatencyRatio& lambda) {
  AlphaInterval common;
  for (std::uint64_t n = 2; n <= ranks; ++n) {
    common = intersection(common, legal_alphas(n, legal_partitions(n, lambda.s, lambda.r)));
    if (common.is_empty()) return n - 1;
  }
  return ranks;
}

}  // namespace fibocast
