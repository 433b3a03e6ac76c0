// When an acknowledgement has to leave although there is nothing to ride on: bare acknowledgements cost a
// datagram each, so a steady two-way stream shall have none. Core.
#pragma once

#include <algorithm>

#include "transport/channel_types.h"

namespace fibocast {

class AckPolicy {
 public:
  static constexpr std::uint32_t kBulkFramesPerAck = 16;
  static constexpr std::uint32_t kSmallFramesPerAck = 16;  // half of the largest window: a one-way flow never stalls

  // A data frame came that may be acknowledged up to `delay` later.
  void on_data(Nanoseconds now, Nanoseconds delay) { due_at_ = std::min(due_at_, now + delay); }
  void on_small() {
    if (++small_frames_ >= kSmallFramesPerAck) at_once();
  }
  // A bulk fragment came. The sender stalls when its window (`grant` bytes) is in flight, so half of it is
  // acknowledged at once.
  void on_fragment(std::uint64_t bytes, std::uint64_t grant) {
    bulk_bytes_ += bytes;
    if (++bulk_frames_ >= kBulkFramesPerAck || 2 * bulk_bytes_ >= grant) at_once();
  }
  void at_once() { due_at_ = kDueNow; }
  // Any frame carries all acknowledgements.
  void sent() { *this = AckPolicy{}; }
  bool due(Nanoseconds now) const { return due_at_ <= now; }
  bool owed() const { return due_at_ != kNoDeadline; }
  // What is due at once is no deadline: the host drains poll_transmit() after every event.
  Nanoseconds deadline() const { return due_at_ == kDueNow ? kNoDeadline : due_at_; }

 private:
  static constexpr Nanoseconds kDueNow = std::numeric_limits<Nanoseconds>::min();
  Nanoseconds due_at_ = kNoDeadline;
  std::uint32_t small_frames_ = 0;
  std::uint32_t bulk_frames_ = 0;
  std::uint64_t bulk_bytes_ = 0;
};

}  // namespace fibocast
