// Ranks and times as people write them: "2, 5-7" and "1.5 s". Used in every sentence that names who is missing.
#pragma once

#include <string>

#include "collectives/types.h"
#include "runtime/node/rank_set.h"

namespace fibocast {

// "2, 5-7"; ends with ", ..." if the set could not keep all. "none" if it is empty.
std::string rank_text(const RankSet& ranks);

// The largest unit that gives at most three digits behind the point: "10 s", "1.5 s", "250 ms", "20 us", "7 ns".
std::string duration_text(Nanoseconds duration);

}  // namespace fibocast
