#include "transport/send_window.h"

#include <algorithm>

#include "transport/check.h"

namespace fibocast {

using State = SentFrame::State;

void SendWindow::reset() {
  base_ = unsent_ = next_ = lost_ = 0;
  std::fill(std::begin(newest_), std::end(newest_), 0);
}

std::optional<std::uint32_t> SendWindow::next_lost() const {
  if (lost_ == 0) return std::nullopt;
  std::uint32_t sequence = base_;
  while (frame(sequence).state != State::kLost) ++sequence;
  return sequence;
}

std::optional<std::uint32_t> SendWindow::next_queued() const {
  if (unsent_ == next_) return std::nullopt;
  return unsent_;
}

Nanoseconds SendWindow::next_deadline(const ResendTimer& timer) const {
  Nanoseconds first = kNoDeadline;
  for (std::uint32_t sequence = base_; sequence != unsent_; ++sequence) {
    const SentFrame& f = frame(sequence);
    if (f.state == State::kSent) first = std::min(first, f.sent_at + timer.wait(f.urgent, f.timeouts));
  }
  return first;
}

std::uint32_t SendWindow::push(bool urgent, bool keepable) {
  check_channel(free() > 0);
  slots_[slot(next_)] = SentFrame{};
  slots_[slot(next_)].urgent = urgent;
  slots_[slot(next_)].keepable = keepable;
  return next_++;
}

void SendWindow::sent(std::uint32_t sequence, std::uint64_t counter, Nanoseconds now) {
  SentFrame& f = slots_[slot(sequence)];
  if (f.state == State::kLost) {
    --lost_;
    f.resent = true;
  } else {
    check_channel(f.state == State::kQueued && sequence == unsent_);
    f.first_counter = static_cast<std::uint32_t>(counter);
    ++unsent_;
  }
  f.state = State::kSent;
  f.counter = counter;
  f.sent_at = now;
}

void SendWindow::mark_overdue(const ResendTimer& timer, Nanoseconds now) {
  for (std::uint32_t sequence = base_; sequence != unsent_; ++sequence) {
    SentFrame& f = slots_[slot(sequence)];
    if (f.state != State::kSent || f.sent_at + timer.wait(f.urgent, f.timeouts) > now) continue;
    mark_lost(sequence);
    f.timeouts = static_cast<std::uint8_t>(std::min(f.timeouts + 1, 255));
  }
}

void SendWindow::mark_lost(std::uint32_t sequence) {
  SentFrame& f = slots_[slot(sequence)];
  if (f.state != State::kSent) return;
  f.state = State::kLost;
  ++lost_;
}

void SendWindow::mark_all_lost() {
  for (std::uint32_t sequence = base_; sequence != unsent_; ++sequence) mark_lost(sequence);
}

void SendWindow::mark_lost_up_to(std::uint32_t counter) {
  for (std::uint32_t sequence = base_; sequence != unsent_; ++sequence) {
    const auto later = static_cast<std::int32_t>(static_cast<std::uint32_t>(frame(sequence).counter) - counter);
    if (later <= 0) mark_lost(sequence);
  }
}

bool SendWindow::take(std::uint32_t sequence) {
  SentFrame& f = slots_[slot(sequence)];
  if (f.state == State::kAcknowledged) return false;
  if (f.state == State::kLost) --lost_;
  f.state = State::kAcknowledged;
  remember_counter(f.counter);
  return true;
}

void SendWindow::remember_counter(std::uint64_t counter) {
  for (std::uint64_t& newest : newest_) {
    if (counter > newest) std::swap(counter, newest);
  }
}

// The path is alive again: who waited in vain behind the frame that was missing starts anew.
void SendWindow::forget_timeouts() {
  for (std::uint32_t sequence = base_; sequence != unsent_; ++sequence) slots_[slot(sequence)].timeouts = 0;
}

// Three frames that left later have arrived: this one will not. One is enough where the receiver keeps nothing
// that comes early. By frame counter rather than by sequence, so that a frame sent again gets its chance.
void SendWindow::mark_overtaken_lost() {
  for (std::uint32_t sequence = base_; sequence != unsent_; ++sequence) {
    const SentFrame& f = frame(sequence);
    if (f.counter < newest_[f.keepable ? 2 : 0]) mark_lost(sequence);
  }
}

}  // namespace fibocast
