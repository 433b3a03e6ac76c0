// Where one fraction alpha serves many sizes and where none does: the triangles of the partition diagram, what they
// tend to, and for which lambda a single alpha is enough (Bruck et al. 1996, section 2.5: B10-B14). For tools, not the
// core.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "collectives/alpha_partition.h"
#include "collectives/cost_model.h"
#include "collectives/rational.h"

namespace fibocast {

// lambda as s and r (B1). Nothing, and a sentence, for lambda < 1 or one with too many digits.
std::optional<LatencyRatio> postal_latencies(const Rational& lambda, std::string& error);

// A corner of a triangle in the diagram of n over alpha.
struct PartitionPoint {
  Rational alpha;
  std::uint64_t ranks = 0;
  bool operator==(const PartitionPoint&) const = default;
};

// The legal fractions of all n with the same T(n): widest at the least n, a point at the greatest, N(t) (B12).
struct PartitionTriangle {
  std::uint64_t ticks = 0;  // t, in units of 1 / denominator of lambda
  PartitionPoint top;
  PartitionPoint left_bottom;
  PartitionPoint right_bottom;  // all three the same if only one n has this T(n)
};

// All triangles whose top is at most `ranks`, ascending. Preconditions: as growth_steps().
std::vector<PartitionTriangle> partition_triangles(std::uint64_t ranks, const LatencyRatio& lambda);

// What the alphas of the corners tend to for large n (B13, corrected): beta is the limit of N(k) / N(k + 1).
struct PartitionLimits {
  double beta = 0;
  double top = 0;
  double left_bottom = 0;
  double right_bottom = 0;
};
// Precondition: lambda.s >= 1.
PartitionLimits partition_limits(const LatencyRatio& lambda);

// The alpha that is optimal for every number of ranks; there is one for lambda = 1, 3/2, 2, 3, 4 and 5 only (B14).
std::optional<double> single_alpha(const Rational& lambda);

// The most ranks, up to `ranks`, for which one alpha is legal at every n from 2 on. Preconditions: as
// legal_partitions(); takes one evaluation of T for each n.
std::uint64_t single_alpha_reach(std::uint64_t ranks, const LatencyRatio& lambda);

}  // namespace fibocast
