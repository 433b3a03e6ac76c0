#include "transport/ready_table.h"

namespace fibocast {

void ReadyTable::rest(std::uint32_t index, Nanoseconds until) {
  std::uint64_t& timed = timed_[index / 64];
  ready_[index / 64] &= ~bit(index);
  timed = until == kNoDeadline ? timed & ~bit(index) : timed | bit(index);
  until_[index] = until;
  if (index == earliest_entry_) return find_earliest();
  if (until < earliest_) earliest_ = until, earliest_entry_ = index;
}

template <class Visit>
void ReadyTable::for_each_timed(Visit visit) {
  for (std::uint32_t word = 0; word < words_; ++word)
    for (std::uint64_t rest = timed_[word] & ~ready_[word]; rest != 0; rest &= rest - 1)
      visit(word * 64 + static_cast<std::uint32_t>(std::countr_zero(rest)));
}

void ReadyTable::wake_due(Nanoseconds now) {
  for_each_timed([&](std::uint32_t index) {
    if (until_[index] <= now) flag(index).raise();
  });
}

void ReadyTable::find_earliest() {
  earliest_ = kNoDeadline, earliest_entry_ = kNone;
  for_each_timed([&](std::uint32_t index) {
    if (until_[index] < earliest_) earliest_ = until_[index], earliest_entry_ = index;
  });
}

}  // namespace fibocast
