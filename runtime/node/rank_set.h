// A bounded set of ranks as runs of consecutive ones: members of a group, ranks that are missing. Every message and
// every answer has one, most of them empty: only the runs that are there are copied. Core: no heap.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "collectives/types.h"

namespace fibocast {

// At most kMaxRuns runs, ascending. A set that would need more keeps the first ones and says so: truncated().
class RankSet {
 public:
  static constexpr std::uint32_t kMaxRuns = 16;
  struct Run {
    Rank first = 0;
    std::uint32_t count = 0;
    bool operator==(const Run&) const = default;
  };

  RankSet() {}  // NOLINT(modernize-use-equals-default): at_ stays as it is
  RankSet(const RankSet& other) { *this = other; }
  RankSet& operator=(const RankSet& other) {
    std::copy_n(other.at_.begin(), other.runs_, at_.begin());
    runs_ = other.runs_, size_ = other.size_, truncated_ = other.truncated_;
    return *this;
  }

  // Precondition: `rank` is larger than all before. False (and truncated() from now on) when full.
  bool add(Rank rank) { return add_run({rank, 1}); }
  bool add_run(Run run) {
    const bool goes_on = runs_ > 0 && end() == run.first;
    if (!goes_on && runs_ == kMaxRuns) {
      truncated_ = true;
      return false;
    }
    if (goes_on)
      at_[runs_ - 1].count += run.count;
    else
      at_[runs_++] = run;
    size_ += run.count;
    return true;
  }
  std::uint32_t runs() const { return runs_; }
  Run run(std::uint32_t i) const { return at_[i]; }
  bool truncated() const { return truncated_; }
  void set_truncated(bool t) { truncated_ = t; }
  bool empty() const { return runs_ == 0; }
  std::uint32_t size() const { return size_; }
  // One more than the largest.
  Rank end() const { return empty() ? 0 : at_[runs_ - 1].first + at_[runs_ - 1].count; }
  // The i-th member; precondition i < size().
  Rank at(std::uint32_t i) const {
    std::uint32_t k = 0;
    while (i >= at_[k].count) i -= at_[k++].count;
    return at_[k].first + i;
  }
  // Position of `value` in the set, kNoRank if it is not a member.
  Rank index_of(Rank value) const {
    std::uint32_t before = 0;
    for (std::uint32_t k = 0; k < runs_; before += at_[k++].count)
      if (value >= at_[k].first && value - at_[k].first < at_[k].count) return before + (value - at_[k].first);
    return kNoRank;
  }
  bool operator==(const RankSet& other) const {
    return truncated_ == other.truncated_ &&
           std::equal(at_.begin(), at_.begin() + runs_, other.at_.begin(), other.at_.begin() + other.runs_);
  }

 private:
  std::array<Run, kMaxRuns> at_;  // the first runs_ of them
  std::uint32_t size_ = 0;
  std::uint8_t runs_ = 0;
  bool truncated_ = false;
};

// The ranks of both; if they are more runs than there is room for, the first ones.
inline RankSet joined(const RankSet& a, const RankSet& b) {
  RankSet both;
  for (std::uint32_t i = 0, k = 0; i < a.runs() || k < b.runs();) {
    const bool is_next_of_a = k == b.runs() || (i < a.runs() && a.run(i).first <= b.run(k).first);
    const RankSet::Run run = is_next_of_a ? a.run(i++) : b.run(k++);
    const Rank first = std::max(run.first, both.end()), end = run.first + run.count;
    if (first < end) both.add_run({first, end - first});
  }
  both.set_truncated(both.truncated() || a.truncated() || b.truncated());
  return both;
}

}  // namespace fibocast
