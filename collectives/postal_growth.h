// The growth function of the postal model as the short list of ticks at which it jumps (Bruck et al. 1996, eq. 1, B2):
// what tables, triangles and the bottom-up construction walk along. For tools, not the core.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace fibocast {

// From `tick` on, `size` processes can be active: size = size(tick - s) + size(tick - s - r).
struct GrowthStep {
  std::uint64_t tick = 0;
  std::uint64_t size = 1;
  std::size_t kept = 0;   // index of the step in force at tick - s: what the first sender's half can reach
  std::size_t given = 0;  // index of the step in force at tick - s - r: what the first receiver's half can reach
};

// A number of ranks for which the lists of this header and the alpha tables are exact in 64 bit.
inline constexpr std::uint64_t kMostPostalRanks = 2'000'000'000;

// All steps from (0, 1) up to the first whose size is at least `ranks`; at most `most_steps` of them, so that
// back().size < ranks says that the list would be longer. lambda = 1 + r / s; one send is s ticks (B1).
// Preconditions: are_latencies_valid(s, r), 1 <= ranks <= kMostPostalRanks.
std::vector<GrowthStep> growth_steps(std::uint64_t ranks, std::uint64_t s, std::uint64_t r,
                                     std::size_t most_steps = SIZE_MAX);

}  // namespace fibocast
