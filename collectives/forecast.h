// What an operation costs as a planner compares it: its predicted time, its messages, and what the busiest node does.
// The time is that of predict(), found faster where the schedule is known to be regular: along trees node by node, and
// in symmetric algorithms by following one rank. For tools, not the core.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "collectives/cost_model.h"
#include "collectives/plan.h"

namespace fibocast {

// What all messages of one rank, sent and received, cost it.
struct NodeLoad {
  std::uint64_t ticks = 0;  // of its processor or processors
  std::uint64_t bytes = 0;
};

struct Forecast {
  std::uint64_t completion = 0;  // ticks; equals predict()'s
  std::uint64_t reduced = 0;     // along trees: the root has heard of all
  std::uint64_t messages = 0;
  std::uint32_t rounds = 0;          // messages in the longest chain in which each waits for the one before
  std::uint32_t stages = 0;          // most of one rank, as in Limits
  std::uint64_t transfers = 0;       // most of one rank, as in Limits
  std::vector<NodeLoad> loads = {};  // by rank
};

// Beyond, a schedule that is not regular is not evaluated.
inline constexpr std::uint64_t kMostForecastMessages = std::uint64_t{1} << 19;

// Nothing if the schedule cannot be built, or has more than kMostForecastMessages and must be evaluated one by one.
// Preconditions: plan is valid, shape.ranks >= 1, forecast_fits().
std::optional<Forecast> forecast(const Plan& plan, const OperationShape& shape, const CostModel& model);

// No time can pass 2^62 ticks and no sum of bytes 64 bit.
bool forecast_fits(const OperationShape& shape, const CostModel& model);

// All ranks do the same at the same time, the data included.
bool is_symmetric(const OperationShape& shape, const CostModel& model);

}  // namespace fibocast
