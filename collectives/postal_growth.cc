#include "collectives/postal_growth.h"

#include <algorithm>

#include "collectives/check.h"
#include "collectives/growth.h"

namespace fibocast {

std::vector<GrowthStep> growth_steps(std::uint64_t ranks, std::uint64_t s, std::uint64_t r, std::size_t most_steps) {
  check(are_latencies_valid(s, r) && ranks >= 1 && ranks <= kMostPostalRanks);
  std::vector<GrowthStep> steps(1);
  // The next step is s after an earlier one (not after the first: nobody has sent before s) or s + r after one.
  std::size_t kept = 1;
  std::size_t given = 0;
  while (steps.back().size < ranks && steps.size() < most_steps) {
    std::uint64_t tick = steps[given].tick + s + r;
    if (kept < steps.size()) tick = std::min(tick, steps[kept].tick + s);
    while (given < steps.size() && steps[given].tick + s + r <= tick) ++given;
    while (kept < steps.size() && steps[kept].tick + s <= tick) ++kept;
    steps.push_back({tick, steps[kept - 1].size + steps[given - 1].size, kept - 1, given - 1});
  }
  return steps;
}

}  // namespace fibocast
