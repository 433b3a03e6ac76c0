// The global combine when lambda is no integer: how long the two ways to make it one take, and where the one overtakes
// the other (Bruck et al. 1996, section 3.3: B26-B30). For tools, not the core.
#pragma once

#include <cstdint>

#include "collectives/cost_model.h"
#include "collectives/rational.h"

namespace fibocast {

// In units of a send.
struct CombineTimes {
  Rational optimum;        // T: a lower bound for any scheme, reached if lambda is an integer
  Rational delay_receive;  // T' = T of lambda rounded up
  Rational delay_send;     // T'' = (lambda / m) T of m, lambda rounded down
};

// Throws std::overflow_error if a time does not fit. Preconditions: ranks >= 1, lambda from postal_latencies().
CombineTimes combine_times(std::uint64_t ranks, const LatencyRatio& lambda);

// Root of x^lambda = x^(lambda - 1) + 1: N grows like its powers (B29). Precondition: lambda >= 1.
double postal_gamma(double lambda);

// The lambda in [m, m + 1) below which delaying the sends is asymptotically faster: m ln gamma(m) / ln gamma(m + 1)
// (B30). For a given number of ranks compare combine_times(). Precondition: m >= 1.
double combine_break_even(std::uint64_t m);

}  // namespace fibocast
