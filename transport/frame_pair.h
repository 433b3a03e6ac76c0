// A small frame that waits, while others are sent in the same turn, for a large one to the same node of this host: what
// announces a payload, and the first fragment of that. The two leave in one datagram (fan_out_datagram.h), which costs
// 3 us less than two where nobody else gets them.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>

#include "transport/fan_out_datagram.h"
#include "transport/frame.h"
#include "transport/words.h"

namespace fibocast {

// One thread, that of the transport.
class FramePair {
 public:
  // Frames, sealed or not, with what may ride along.
  static constexpr std::size_t kMostSmall = kMaxHeadBytes + 1024 + 128, kMostHead = kMaxHeadBytes + 128;
  struct Pieces {
    std::span<const std::byte> head, payload;  // of the datagram
  };

  bool is_empty() const { return bytes_ == 0; }
  bool is_for(NodeId node) const { return !is_empty() && to_ == node; }
  NodeId to() const { return to_; }
  std::span<const std::byte> small() const { return std::span(room_).subspan(kSmallAt, bytes_); }
  // Copies it. False: it is too large. Precondition: is_empty().
  bool hold(NodeId to, std::span<const std::byte> head, std::span<const std::byte> payload);
  // With the large one, which is in two pieces or in one; valid until forget(). Nothing: its head is too large.
  std::optional<Pieces> with(NodeId self, std::span<const std::byte> head, std::span<const std::byte> payload);
  void forget() { bytes_ = 0; }

 private:
  static constexpr std::size_t kSmallAt = fan_out::kHeadBytes + fan_out::kEntryBytes;
  std::array<std::byte, kSmallAt + kMostSmall + fan_out::kEntryBytes + kMostHead> room_;
  std::size_t bytes_ = 0;
  NodeId to_ = 0;
};

}  // namespace fibocast
