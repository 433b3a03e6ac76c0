#include "transport/small_lane.h"

#include <algorithm>

namespace fibocast {

std::size_t SmallSender::bytes_needed(const ChannelLimits& limits) {
  const std::uint32_t slots = ring_slots(limits.small_window);
  return carved_bytes<SentFrame>(slots) + carved_bytes<Message>(slots) +
         carved_bytes<std::byte>(slots * limits.small_body);
}

SmallSender::SmallSender(const ChannelLimits& limits, MemoryCarver& memory)
    : body_limit_(limits.small_body),
      window_(limits.small_window, memory.take<SentFrame>(ring_slots(limits.small_window))),
      messages_(memory.take<Message>(ring_slots(limits.small_window))),
      bodies_(memory.take<std::byte>(ring_slots(limits.small_window) * limits.small_body)) {}

void SmallSender::push(std::span<const std::byte> body, PayloadRange payload, bool urgent) {
  check_channel(body.size() <= body_limit_);
  const std::uint32_t slot = window_.slot(window_.push(urgent, payload.length == 0));
  messages_[slot] = {payload, static_cast<std::uint32_t>(body.size())};
  std::copy(body.begin(), body.end(), bodies_.begin() + slot * body_limit_);
}

PayloadRange SmallSender::fill(std::uint32_t sequence, Frame& frame) const {
  const std::uint32_t slot = window_.slot(sequence);
  frame.type = FrameType::kDataSmall;
  frame.sequence = sequence;
  frame.urgent = window_.frame(sequence).urgent;
  frame.body = bodies_.subspan(slot * body_limit_, messages_[slot].body_length);
  frame.payload_length = static_cast<std::uint32_t>(messages_[slot].payload.length);
  return messages_[slot].payload;
}

std::size_t SmallReceiver::bytes_needed(const ChannelLimits& limits) {
  const std::uint32_t slots = ring_slots(limits.small_window);
  return carved_bytes<std::uint32_t>(slots) + carved_bytes<std::byte>(slots * limits.small_body);
}

SmallReceiver::SmallReceiver(const ChannelLimits& limits, MemoryCarver& memory)
    : body_limit_(limits.small_body),
      window_(limits.small_window),
      lengths_(memory.take<std::uint32_t>(ring_slots(limits.small_window))),
      bodies_(memory.take<std::byte>(ring_slots(limits.small_window) * limits.small_body)) {}

void SmallReceiver::reset() {
  window_.reset();
  delivered_ = 0;
}

SmallReceiver::Verdict SmallReceiver::on_frame(const Frame& frame) {
  check_channel(drained());
  using Place = ReceiveWindow::Place;
  const Place place = window_.place(frame.sequence);
  if (place == Place::kDuplicate) return Verdict::kDuplicate;
  if (place == Place::kBeyond) return Verdict::kDropped;
  if (place == Place::kAhead) {
    if (!frame.payload.empty()) return Verdict::kDropped;
    if (frame.body.size() > body_limit_) return Verdict::kMalformed;
    keep(frame);
    window_.mark(frame.sequence);
    return Verdict::kAhead;
  }
  current_sequence_ = frame.sequence;
  current_body_ = frame.body;
  current_payload_ = frame.payload;
  window_.mark(frame.sequence);
  return Verdict::kTaken;
}

bool SmallReceiver::poll(Delivery& out) {
  if (drained()) return false;
  out.kind = Delivery::Kind::kSmall;
  if (delivered_ == current_sequence_) {
    out.body = current_body_;
    out.payload = current_payload_;
  } else {
    out.body = body(delivered_);
  }
  ++delivered_;
  return true;
}

void SmallReceiver::keep(const Frame& frame) {
  lengths_[frame.sequence & (lengths_.size() - 1)] = static_cast<std::uint32_t>(frame.body.size());
  std::copy(frame.body.begin(), frame.body.end(), body(frame.sequence).begin());
}

std::span<std::byte> SmallReceiver::body(std::uint32_t sequence) const {
  const std::size_t slot = sequence & (lengths_.size() - 1);
  return bodies_.subspan(slot * body_limit_, lengths_[slot]);
}

}  // namespace fibocast
