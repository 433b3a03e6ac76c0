// Who comes last to barriers: plain values that the node, the library and the command line hand on. Core.
#pragma once

#include <cstdint>

#include "collectives/types.h"

namespace fibocast {

// The rank that a barrier waited for. `late_by` is the time between the arrival of its word and that of the last one
// of all other ranks, where the two were compared: so much sooner the barrier would have ended without this rank, no
// more. If several ranks were late, it is the time between the last two of them. No clocks are compared: each node
// measures, on its own, when the word of which rank came. The way of the words is part of the time, so that of ranks
// that call at the same instant one far from the root is named, with a few message times at most. In a barrier along
// trees all members are told the root's answer; in one without a root each has its own, and members may name
// different ranks where these were equally late but for the ways. If the barrier was repeated in a new epoch of its
// group, whoever had called before is on time.
struct Straggler {
  Rank rank = kNoRank;      // of the group; kNoRank: not known, or there is no other rank
  Nanoseconds late_by = 0;  // >= 0
};

// A row of a group's running table of its slowest ranks (Limits::slowest_ranks of them). Everything counts since the
// rank came into the table. When the table is full, a rank that is not in it takes the place of the one with the least
// `total` + `unseen` (Metwally, Agrawal and El Abbadi 2005, Space-Saving), so that whoever is often late is found:
// each rank with more than the sum of all latenesses / Limits::slowest_ranks is in the table.
struct SlowRank {
  Rank rank = kNoRank;      // of the group
  std::uint32_t times = 0;  // barriers to which it came last
  Nanoseconds total = 0;    // of Straggler::late_by
  Nanoseconds largest = 0;
  Nanoseconds unseen = 0;  // at most so much more it was late before it came into the table
};

}  // namespace fibocast
