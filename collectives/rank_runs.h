// A set of ranks as a sorted list of runs. What a rank of a tree knows is nearly always one run, so whole groups are
// checked without a bit for each pair of ranks. For tools, not the core.
#pragma once

#include <vector>

#include "collectives/types.h"

namespace fibocast {

class RankRuns {
 public:
  void insert(Rank rank) { insert_run(rank, std::uint64_t{rank} + 1); }
  void insert(const RankRuns& other);
  // All of 0 .. ranks - 1.
  bool is_all(Rank ranks) const;
  // The smallest rank of 0 .. that is not in the set.
  Rank first_missing() const;

 private:
  struct Run {
    std::uint64_t begin;
    std::uint64_t end;  // one past the last
  };
  void insert_run(std::uint64_t begin, std::uint64_t end);

  std::vector<Run> runs_;  // sorted, no two touch
};

}  // namespace fibocast
