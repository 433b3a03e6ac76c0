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
    if (f.state == State::kSent) first = std::min(first, f.sent_at + timer.wait(f.urgent, f.tries));
  }
  return first;
}

std::uint32_t SendWindow::push(bool urgent) {
  check_channel(free() > 0);
  slots_[slot(next_)] = SentFrame{};
  slots_[slot(next_)].urgent = urgent;
  return next_++;
}

void SendWindow::sent(std::uint32_t sequence, std::uint64_t counter, Nanoseconds now) {
  SentFrame& f = slots_[slot(sequence)];
  if (f.state == State::kLost) {
    --lost_;
    f.tries = static_cast<std::uint8_t>(std::min(f.tries + 1, 255));
  } else {
    check_channel(f.state == State::kQueued && sequence == unsent_);
    ++unsent_;
  }
  f.state = State::kSent;
  f.counter = counter;
  f.sent_at = now;
}

std::uint32_t SendWindow::mark_overdue(const ResendTimer& timer, Nanoseconds now) {
  std::uint32_t marked = 0;
  for (std::uint32_t sequence = base_; sequence != unsent_; ++sequence) {
    SentFrame& f = slots_[slot(sequence)];
    if (f.state != State::kSent || f.sent_at + timer.wait(f.urgent, f.tries) > now) continue;
    f.state = State::kLost;
    ++marked;
  }
  lost_ += marked;
  return marked;
}

void SendWindow::mark_all_lost() {
  for (std::uint32_t sequence = base_; sequence != unsent_; ++sequence) {
    SentFrame& f = slots_[slot(sequence)];
    if (f.state != State::kSent) continue;
    f.state = State::kLost;
    ++lost_;
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

// Three frames that left later have arrived: this one will not. By frame counter rather than by sequence, so
// that a frame that was already sent again gets its chance.
void SendWindow::mark_overtaken_lost() {
  for (std::uint32_t sequence = base_; sequence != unsent_; ++sequence) {
    SentFrame& f = slots_[slot(sequence)];
    if (f.state != State::kSent || f.counter >= newest_[2]) continue;
    f.state = State::kLost;
    ++lost_;
  }
}

}  // namespace fibocast
