#include "collectives/rank_runs.h"

#include <algorithm>

namespace fibocast {

void RankRuns::insert(const RankRuns& other) {
  for (const Run& run : other.runs_) insert_run(run.begin, run.end);
}

bool RankRuns::is_all(Rank ranks) const { return ranks == 0 || first_missing() >= ranks; }

Rank RankRuns::first_missing() const {
  return runs_.empty() || runs_.front().begin > 0 ? 0 : static_cast<Rank>(runs_.front().end);
}

void RankRuns::insert_run(std::uint64_t begin, std::uint64_t end) {
  // The runs that touch the new one become one with it.
  const auto first = std::ranges::lower_bound(runs_, begin, {}, &Run::end);
  auto last = first;
  for (; last != runs_.end() && last->begin <= end; ++last) {
    begin = std::min(begin, last->begin);
    end = std::max(end, last->end);
  }
  runs_.insert(runs_.erase(first, last), {begin, end});
}

}  // namespace fibocast
