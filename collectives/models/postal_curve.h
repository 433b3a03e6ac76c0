// How long a broadcast takes whose cuts are not the optimal ones: the cost recurrence of the recursive partition for
// any rule of cutting, and the exact curve of the time over a constant alpha (Bruck et al. 1996, B7 and Fig. 12). For
// tools, not the core.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "collectives/alpha_partition.h"
#include "collectives/cost_model.h"

namespace fibocast {

// C(n) = max(1 + C(n'), lambda + C(n - n')), n' = kept(n), in ticks (lambda.s of them are one send). Looks only at the
// sizes that occur. Throws std::overflow_error if a time does not fit. Preconditions: ranks >= 1, 1 <= kept(n) < n.
std::uint64_t partition_completion(std::uint64_t ranks, const LatencyRatio& lambda,
                                   const std::function<std::uint64_t(std::uint64_t)>& kept);
// With one alpha for every n. Preconditions: 0 < alpha < 1, 1 <= ranks <= kMostPostalRanks.
std::uint64_t alpha_completion(std::uint64_t ranks, const LatencyRatio& lambda, const Rational& alpha);
// With the table's alpha(n): T(n). Precondition: the table was made for at least `ranks`.
std::uint64_t alpha_completion(std::uint64_t ranks, const LatencyRatio& lambda, const AlphaTable& table);

struct AlphaSegment {
  AlphaInterval alphas;
  std::uint64_t ticks = 0;  // the completion for all of them
  bool operator==(const AlphaSegment&) const = default;
};

// The completion for every constant alpha of an interval, with exact breakpoints; neighbours differ. Meant for up to
// some ten thousand ranks. Throws std::overflow_error as above. Preconditions: 0 < alphas.from < alphas.below <= 1, 1
// <= ranks <= kMostPostalRanks.
std::vector<AlphaSegment> alpha_curve(std::uint64_t ranks, const LatencyRatio& lambda, const AlphaInterval& alphas);

}  // namespace fibocast
