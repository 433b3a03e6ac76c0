// Certificates: times that no schedule whatever can beat under a cost model, each with its reason in words, so that a
// choice can be called nearly optimal. For tools, not the core.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "collectives/cost_model.h"
#include "collectives/shape.h"

namespace fibocast {

struct LowerBound {
  std::uint64_t ticks = 0;
  std::string formula;  // "T(19; s, l+o)": T(p; s, r) is the distribution latency (A6)
  std::string reason;   // one sentence without its full stop
};

// All bounds that apply to this operation; its choice (but for alpha) and segments do not matter. At least one; one
// rank needs no time. Preconditions: latencies and their sums as in growth.h; forecast_fits().
std::vector<LowerBound> lower_bounds(const OperationShape& shape, const CostModel& model, const HostSharing& hosts);
// The largest; the first of them if they tie.
LowerBound strongest_bound(const OperationShape& shape, const CostModel& model, const HostSharing& hosts);

}  // namespace fibocast
