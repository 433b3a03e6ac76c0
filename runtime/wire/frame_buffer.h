// What has been received on the local socket, at either end, and is not yet handled: whole frames come out, in place.
// Bounded by the largest frame that is allowed; memory beyond `kept` is given back when the large frame has gone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace fibocast {

class FrameBuffer {
 public:
  FrameBuffer(std::uint64_t payload_limit, std::size_t kept);

  // Where to receive to: at least one byte. Precondition: next() said kMore. Frames given out before are invalid.
  std::span<std::byte> prepare();
  void commit(std::size_t bytes);

  enum class Next : std::uint8_t { kMore, kFrame, kGarbage };
  // `frame`: the oldest frame without its length; stays valid and stays first until consume().
  Next next(std::span<const std::byte>& frame) const;
  void consume();
  bool empty() const { return begin_ == end_; }

 private:
  static constexpr std::size_t kUsual = 16 << 10;
  std::size_t wanted() const;
  void move_to(std::size_t capacity);

  std::uint64_t payload_limit_;
  std::size_t kept_;
  std::unique_ptr<std::byte[]> memory_;
  std::size_t capacity_ = kUsual;
  std::size_t begin_ = 0, end_ = 0;
};

}  // namespace fibocast
