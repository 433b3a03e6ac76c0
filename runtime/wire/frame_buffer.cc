#include "runtime/wire/frame_buffer.h"

#include <algorithm>
#include <cstring>

#include "runtime/wire/client_codec.h"

namespace fibocast {

FrameBuffer::FrameBuffer(std::uint64_t payload_limit, std::size_t kept)
    : payload_limit_(payload_limit), kept_(kept), memory_(new std::byte[kUsual]) {}

// Bytes from begin_ on that the frame under way needs at least.
std::size_t FrameBuffer::wanted() const {
  if (end_ - begin_ < kFrameLengthBytes) return kFrameLengthBytes;
  return kFrameLengthBytes + read_frame_length({memory_.get() + begin_, kFrameLengthBytes});
}

void FrameBuffer::move_to(std::size_t capacity) {
  std::unique_ptr<std::byte[]> old;
  if (capacity != capacity_) {
    old = std::move(memory_);
    memory_.reset(new std::byte[capacity]);  // not cleared: a large frame's pages are taken as it arrives
    capacity_ = capacity;
  }
  if (end_ > begin_) std::memmove(memory_.get(), (old ? old.get() : memory_.get()) + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = 0;
}

std::span<std::byte> FrameBuffer::prepare() {
  const std::size_t needed = wanted();
  if (begin_ + needed > capacity_ || end_ == capacity_) {
    const bool keep = needed <= capacity_ && (capacity_ <= kept_ || end_ > begin_);
    move_to(keep ? capacity_ : std::max(needed, kUsual));
  } else if (begin_ == end_) {
    move_to(capacity_ > kept_ ? kUsual : capacity_);
  }
  return {memory_.get() + end_, capacity_ - end_};
}

void FrameBuffer::commit(std::size_t bytes) { end_ += bytes; }

FrameBuffer::Next FrameBuffer::next(std::span<const std::byte>& frame) const {
  if (end_ - begin_ < kFrameLengthBytes) return Next::kMore;
  const std::uint32_t length = read_frame_length({memory_.get() + begin_, kFrameLengthBytes});
  if (!frame_length_allowed(length, payload_limit_)) return Next::kGarbage;
  if (end_ - begin_ - kFrameLengthBytes < length) return Next::kMore;
  frame = {memory_.get() + begin_ + kFrameLengthBytes, length};
  return Next::kFrame;
}

void FrameBuffer::consume() { begin_ += wanted(); }

}  // namespace fibocast
