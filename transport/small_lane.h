// The small lane: messages of one frame each, delivered in order. The sender keeps the bodies until they are
// acknowledged; the receiver keeps bodies that came early. Payloads are never kept: they stay in the sending
// host's buffer, and one that comes early is dropped and sent again. Core.
#pragma once

#include "transport/channel_types.h"
#include "transport/memory_carver.h"
#include "transport/receive_window.h"
#include "transport/send_window.h"

namespace fibocast {

class SmallSender {
 public:
  static std::size_t bytes_needed(const ChannelLimits& limits);
  SmallSender(const ChannelLimits& limits, MemoryCarver& memory);

  void reset() { window_.reset(); }
  SendWindow& window() { return window_; }
  const SendWindow& window() const { return window_; }
  // Precondition: window().free() > 0, body within the limit.
  void push(std::span<const std::byte> body, PayloadRange payload, bool urgent);
  // The message of this sequence, into the frame; its payload range.
  PayloadRange fill(std::uint32_t sequence, Frame& frame) const;

 private:
  struct Message {
    PayloadRange payload;
    std::uint32_t body_length = 0;
  };
  std::uint32_t body_limit_;
  SendWindow window_;
  std::span<Message> messages_;
  std::span<std::byte> bodies_;
};

class SmallReceiver {
 public:
  enum class Verdict : std::uint8_t { kTaken, kAhead, kDuplicate, kDropped, kMalformed };
  static std::size_t bytes_needed(const ChannelLimits& limits);
  SmallReceiver(const ChannelLimits& limits, MemoryCarver& memory);

  void reset();
  const ReceiveWindow& window() const { return window_; }
  bool drained() const { return delivered_ == window_.expected(); }
  // Precondition: drained(). The frame's spans must live until it is drained again.
  Verdict on_frame(const Frame& frame);
  // The next message in order, if it has arrived.
  bool poll(Delivery& out);

 private:
  void keep(const Frame& frame);
  std::span<std::byte> body(std::uint32_t sequence) const;

  std::uint32_t body_limit_;
  ReceiveWindow window_;
  std::span<std::uint32_t> lengths_;
  std::span<std::byte> bodies_;
  std::uint32_t delivered_ = 0;         // all below went up
  std::uint32_t current_sequence_ = 0;  // of the frame last given, whose body is not kept
  std::span<const std::byte> current_body_;
  std::span<const std::byte> current_payload_;
};

}  // namespace fibocast
