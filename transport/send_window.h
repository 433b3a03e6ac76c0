// The frames of one lane that are not yet acknowledged: when each was sent, what was acknowledged, what is lost.
// It knows nothing of what the frames carry; the lanes keep that beside it, under the same slot. Core.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "transport/frame.h"
#include "transport/resend_timer.h"

namespace fibocast {

struct SentFrame {
  enum class State : std::uint8_t { kQueued, kSent, kLost, kAcknowledged };
  Nanoseconds sent_at = 0;          // the last time it went out
  std::uint64_t counter = 0;        // frame counter of that time
  std::uint32_t first_counter = 0;  // low half of that of the first time
  State state = State::kQueued;
  bool resent = false;
  std::uint8_t timeouts = 0;  // since the lane moved on
  bool urgent : 1 = false;
  bool keepable : 1 = true;  // the receiver keeps it when it comes early
};

class SendWindow {
 public:
  // At most `window` frames; `slots` is ring_slots(window) long.
  SendWindow(std::uint32_t window, std::span<SentFrame> slots) : window_(window), slots_(slots) {}
  void reset();

  std::uint32_t free() const { return window_ - (next_ - base_); }
  bool empty() const { return next_ == base_; }
  std::uint32_t used() const { return next_ - base_; }
  std::uint32_t base() const { return base_; }
  std::uint32_t slot(std::uint32_t sequence) const {
    return sequence & (static_cast<std::uint32_t>(slots_.size()) - 1);
  }
  const SentFrame& frame(std::uint32_t sequence) const { return slots_[slot(sequence)]; }
  bool has_next() const { return lost_ != 0 || unsent_ != next_; }
  std::optional<std::uint32_t> next_lost() const;    // the oldest frame to be sent again
  std::optional<std::uint32_t> next_queued() const;  // the oldest frame never sent
  Nanoseconds next_deadline(const ResendTimer& timer) const;

  // Takes the next sequence. Precondition: free() > 0.
  std::uint32_t push(bool urgent, bool keepable);
  // `sequence` (from next_lost or next_queued) leaves now under this frame counter: its resend clock starts.
  void sent(std::uint32_t sequence, std::uint64_t counter, Nanoseconds now);
  // Marks the frames whose resend time has passed as lost.
  void mark_overdue(const ResendTimer& timer, Nanoseconds now);
  void mark_lost(std::uint32_t sequence);  // nothing, if it is not on its way
  void mark_all_lost();
  // The peer dropped what came early, up to the frame of this counter (its low half).
  void mark_lost_up_to(std::uint32_t counter);

  // All below `cumulative`, and cumulative + 1 + i for each set bit, arrived. Calls acknowledged(sequence) for
  // each frame that this is news of, in order. False: such frames were never sent.
  template <class OnAcknowledged>
  bool acknowledge(std::uint32_t cumulative, const BulkBits& bits, OnAcknowledged acknowledged);

 private:
  bool take(std::uint32_t sequence);
  void remember_counter(std::uint64_t counter);
  void forget_timeouts();
  void mark_overtaken_lost();

  std::uint32_t window_;
  std::span<SentFrame> slots_;
  std::uint32_t base_ = 0;    // the oldest not acknowledged
  std::uint32_t unsent_ = 0;  // the oldest never sent
  std::uint32_t next_ = 0;    // the next to be pushed
  std::uint32_t lost_ = 0;
  std::uint64_t newest_[3] = {};  // the greatest counters acknowledged, descending
};

template <class OnAcknowledged>
bool SendWindow::acknowledge(std::uint32_t cumulative, const BulkBits& bits, OnAcknowledged acknowledged) {
  if (static_cast<std::int32_t>(cumulative - base_) < 0) return true;  // an old frame: we know more already
  if (cumulative - base_ > unsent_ - base_) return false;
  const bool moved = base_ != cumulative;
  for (; base_ != cumulative; ++base_) {
    if (take(base_)) acknowledged(base_);
  }
  if (moved) forget_timeouts();
  if (base_ == unsent_ || (!moved && bits == BulkBits{})) return true;
  for (std::uint32_t i = 0; i < 256 && i + 1 < unsent_ - base_; ++i) {
    const bool arrived = (bits[i / 64] >> (i % 64) & 1) != 0;
    if (arrived && take(base_ + 1 + i)) acknowledged(base_ + 1 + i);
  }
  mark_overtaken_lost();
  return true;
}

}  // namespace fibocast
