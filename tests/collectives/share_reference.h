// What divide and conquer give, worked out one element after the other: the tests' own account of it, phase by phase as
// the paper tells it (Lo et al. 1992), for schedules, virtual nodes and daemons to be compared with.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "collectives/divide.h"

namespace fibocast {

// By virtual rank: everybody who is active passes on the end of what he holds. alpha in parts of 10,000.
inline std::vector<Share> shares_by_phases(Rank ranks, std::uint64_t elements, std::uint64_t alpha) {
  std::vector<Share> held(ranks);
  held[0] = {0, static_cast<std::uint32_t>(elements)};
  for (Rank step = std::bit_ceil(ranks) / 2; step > 0; step /= 2)
    for (Rank rank = 0; rank + step < ranks; rank += 2 * step) {
      const std::uint64_t product = held[rank].count * alpha;
      const auto sent = static_cast<std::uint32_t>(product / 10'000);
      held[rank + step] = {held[rank].end() - sent, sent};
      held[rank].count = static_cast<std::uint32_t>(product / 10'000 + (product % 10'000 != 0));
    }
  return held;
}

// The root's vector of a conquer that adds: value(v, i) is the i-th element that virtual rank v brings.
template <class T, class Value>
std::vector<T> joined_sum(const std::vector<Share>& shares, std::uint64_t elements, const Value& value) {
  std::vector<T> all(elements, T{});
  for (Rank v = 0; v < shares.size(); ++v)
    for (std::uint32_t i = 0; i < shares[v].count; ++i) all[shares[v].first + i] += value(v, i);
  return all;
}

}  // namespace fibocast
