// Latencies by the postal model's lambda = 1 + r / s.
#pragma once

#include "collectives/cost_model.h"

namespace fibocast::test {

inline LatencyRatio latencies(const Rational& lambda) { return latencies_of_lambda(lambda).value(); }

}  // namespace fibocast::test
