// Which frames of one lane have arrived: the duplicate window and the acknowledgement to be told. Core.
#pragma once

#include <cstdint>

#include "transport/frame.h"

namespace fibocast {

class ReceiveWindow {
 public:
  enum class Place : std::uint8_t {
    kNext,       // the one expected
    kAhead,      // new, after a gap
    kDuplicate,  // arrived before
    kBeyond,     // outside of the window: the peer cannot know yet that there is room
  };
  // At most 256 frames.
  explicit ReceiveWindow(std::uint32_t window) : window_(window) {}

  void reset() { *this = ReceiveWindow(window_); }
  Place place(std::uint32_t sequence) const;
  // Precondition: place() is kNext or kAhead. expected() moves over all that has arrived in order.
  void mark(std::uint32_t sequence);
  std::uint32_t expected() const { return expected_; }  // all below have arrived
  const BulkBits& bits() const { return bits_; }        // bit i: expected() + 1 + i has arrived

 private:
  bool shift();

  std::uint32_t window_;
  std::uint32_t expected_ = 0;
  BulkBits bits_{};
};

}  // namespace fibocast
