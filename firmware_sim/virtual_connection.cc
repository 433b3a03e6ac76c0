#include "firmware_sim/virtual_connection.h"

#include <algorithm>
#include <utility>

#include "collectives/check.h"

namespace fibocast {
namespace {

// Of Linux: what is not acknowledged is sent again after that, then after twice as long each time.
constexpr Nanoseconds kFirstResend = 200 * kMillisecond, kLongestResend = 1600 * kMillisecond;
// What tcp_sender.cc sets: so long nothing is acknowledged, or there is no room, until the connection is given up.
constexpr Nanoseconds kUnacknowledged = 3 * kSecond;

}  // namespace

VirtualConnection::VirtualConnection(EventQueue& queue, Way way, std::size_t held_bytes, Sender sender,
                                     std::function<void()> on_arrival)
    : queue_(queue),
      way_(std::move(way)),
      held_bytes_(held_bytes),
      sender_(std::move(sender)),
      on_arrival_(std::move(on_arrival)) {}

template <class Action>
void VirtualConnection::after(Nanoseconds delay, Action action) {
  queue_.at(queue_.now() + delay, [self = shared_from_this(), action] { action(*self); });
}

void VirtualConnection::put(Frame frame) {
  check(has_room());
  held_ += frame.size();
  last_due_ = std::max(last_due_, queue_.now() + way_.time(false));
  in_flight_.push_back({std::move(frame), last_due_});
  unacknowledged_.push_back(queue_.now());
  arrive_later();
  watch();
}

void VirtualConnection::wait_for_room() {
  if (no_room_since_ == kNever) no_room_since_ = queue_.now();
  watch();
}

std::optional<Nanoseconds> VirtualConnection::next_came_at() const {
  if (arrived_.empty()) return std::nullopt;
  return arrived_.front().at;
}

VirtualConnection::Frame VirtualConnection::take() {
  Frame frame = std::move(arrived_.front().frame);
  arrived_.pop_front();
  read_bytes_ += frame.size();
  tell();
  return frame;
}

void VirtualConnection::close() {
  closed_ = true;
  arrived_.clear();
  tell_end();
}

void VirtualConnection::cut(bool keeps) {
  broken_ = true;
  in_flight_.clear();
  if (!keeps) arrived_.clear();
  const Sender sender = std::exchange(sender_, {});
  if (sender.on_end) sender.on_end();
}

void VirtualConnection::arrive_later() {
  if (arriving_ || in_flight_.empty()) return;
  arriving_ = true;
  after(in_flight_.front().at - queue_.now(), [](VirtualConnection& c) { c.arrive(); });
}

// The first that is missing keeps all behind it waiting, and then they come at once.
void VirtualConnection::arrive() {
  arriving_ = false;
  if (in_flight_.empty()) return;
  if (way_.is_cut(false)) {
    resend_after_ = std::clamp(2 * resend_after_, kFirstResend, kLongestResend);
    arriving_ = true;
    return after(resend_after_, [](VirtualConnection& c) { c.arrive(); });
  }
  resend_after_ = 0;
  for (; !in_flight_.empty() && in_flight_.front().at <= queue_.now(); in_flight_.pop_front(), ++arrived_count_)
    if (!closed_) arrived_.push_back({std::move(in_flight_.front().frame), queue_.now()});
  arrive_later();
  if (closed_) return tell_end();
  tell();
  on_arrival_();
}

void VirtualConnection::tell() {
  if (!sender_.on_room) return;
  after(way_.time(true),
        [arrived = arrived_count_, read = read_bytes_](VirtualConnection& c) { c.on_told(arrived, read); });
}

void VirtualConnection::on_told(std::uint64_t arrived, std::uint64_t read) {
  if (!sender_.on_room) return;
  if (way_.is_cut(true))
    return after(kFirstResend, [arrived, read](VirtualConnection& c) { c.on_told(arrived, read); });
  for (; told_arrived_ < arrived; ++told_arrived_) unacknowledged_.pop_front();
  if (read <= told_read_) return;
  held_ -= read - std::exchange(told_read_, read);
  no_room_since_ = kNever;
  sender_.on_room();
}

void VirtualConnection::tell_end() {
  if (!sender_.on_end) return;
  after(way_.time(true), [](VirtualConnection& c) {
    if (!c.way_.is_cut(true)) return c.cut(false);
    c.after(kFirstResend, [](VirtualConnection& later) { later.tell_end(); });
  });
}

Nanoseconds VirtualConnection::waiting_since() const {
  return std::min(unacknowledged_.empty() ? kNever : unacknowledged_.front(), no_room_since_);
}

void VirtualConnection::watch() {
  const Nanoseconds since = waiting_since();
  if (since == kNever || std::exchange(watched_, true)) return;
  after(since + kUnacknowledged - queue_.now(), [](VirtualConnection& c) { c.on_watch(); });
}

void VirtualConnection::on_watch() {
  watched_ = false;
  if (!sender_.on_end) return;
  const Nanoseconds since = waiting_since();
  if (since != kNever && since + kUnacknowledged <= queue_.now()) return cut(true);
  watch();
}

}  // namespace fibocast
