#include "runtime/node/last_arrival.h"

#include <algorithm>

namespace fibocast {

void LastArrival::add(const Straggler& word, Nanoseconds now) {
  if (word.rank == kNoRank) return;
  // As if the others of this word had come by themselves. Negative where there are none, for late_by is kNever then.
  before_ = std::max(before_, now - word.late_by);
  if (word.rank != rank_ && rank_ != kNoRank) before_ = std::max(before_, std::min(last_, now));
  if (now > last_ || rank_ == kNoRank) rank_ = word.rank;
  last_ = std::max(last_, now);
}

void LastArrival::settle(const Straggler& answer) {
  rank_ = answer.rank;
  last_ = answer.late_by, before_ = 0;
}

Straggler LastArrival::straggler() const {
  if (rank_ == kNoRank) return {};
  return {rank_, before_ < 0 ? kNever : last_ - before_};
}

}  // namespace fibocast
