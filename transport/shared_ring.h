// Whole frames from one process to another through memory that both map: one writer, one reader, no system call.
//
// Whoever dies, at any instruction, leaves only whole frames behind: a frame exists once `written` has moved beyond it,
// and its place is free again once `read` has. Positions count bytes and never go back. What the other side left in
// the memory is checked before it is believed; a ring that makes no sense is emptied.
//
// A record is its length (8 bytes), then head and payload, in one piece: where it does not fit before the end there is
// a skip, and it goes to the front. A bit of the length says that there is a reference in place of the payload. A ring
// that is empty begins at the front again, so that small frames stay in the cache.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

namespace fibocast {

// In the shared memory, zero at first.
struct RingControl {
  alignas(64) std::atomic<std::uint64_t> written;
  std::atomic<std::uint64_t> writer;  // who may write: 0 nobody yet, else the incarnation of a node
  alignas(64) std::atomic<std::uint64_t> read;
  alignas(64) std::atomic<std::uint32_t> writer_waits;  // for room; the reader tells it
  std::atomic<std::uint32_t> writer_rank;               // 1 + the writer's rank; 0: this ring is free
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free && std::atomic<std::uint32_t>::is_always_lock_free);

namespace shared_ring {

inline constexpr std::uint64_t kSkip = ~0ull;
inline constexpr std::uint64_t kRefers = 1ull << 62;
inline constexpr std::size_t kLengthBytes = 8;
inline constexpr std::size_t kHotBytes = 4096;  // an empty ring does not go on beyond them

inline constexpr std::size_t record_bytes(std::size_t frame) { return kLengthBytes + (frame + 7) / 8 * 8; }
// Of a ring of so many bytes: any such frame fits once it is empty.
inline constexpr std::size_t largest_frame(std::size_t ring) { return ring / 4; }

// `bytes`: of the ring, a power of two; the same for both sides.
class Writer {
 public:
  Writer(RingControl& control, std::span<std::byte> bytes) : control_(&control), bytes_(bytes) {}

  // False: no room now. Precondition: head and payload together are at most largest_frame(). `refers`: the payload is
  // not it, but says where it is.
  bool push(std::span<const std::byte> head, std::span<const std::byte> payload, bool refers = false) {
    const std::size_t size = record_bytes(head.size() + payload.size());
    const std::uint64_t written = control_->written.load(std::memory_order_relaxed);
    const std::uint64_t used = written - control_->read.load(std::memory_order_acquire);
    const std::size_t at = written & (bytes_.size() - 1);
    const std::size_t skipped = bytes_to_skip(used, at, size);
    if (at % kLengthBytes != 0 || used > bytes_.size() || used + skipped + size > bytes_.size()) return false;
    if (skipped > 0) put_length(at, kSkip);
    const std::size_t to = skipped > 0 ? 0 : at;
    put_length(to, (head.size() + payload.size()) | (refers ? kRefers : 0));
    std::memcpy(bytes_.data() + to + kLengthBytes, head.data(), head.size());
    if (!payload.empty()) std::memcpy(bytes_.data() + to + kLengthBytes + head.size(), payload.data(), payload.size());
    control_->written.store(written + skipped + size, std::memory_order_release);
    return true;
  }
  // Room for the largest frame, wherever it goes.
  bool has_room() const {
    const std::uint64_t used = control_->written.load(std::memory_order_relaxed) - control_->read.load();
    return used <= bytes_.size() - 2 * record_bytes(largest_frame(bytes_.size()));
  }
  std::uint64_t read() const { return control_->read.load(std::memory_order_relaxed); }
  bool is_empty() const { return control_->written.load(std::memory_order_relaxed) == read(); }
  RingControl& control() { return *control_; }

 private:
  std::size_t bytes_to_skip(std::uint64_t used, std::size_t at, std::size_t size) const {
    const std::size_t to_end = bytes_.size() - at;
    const bool back_to_front = used == 0 && at >= size && at + size > kHotBytes;
    return back_to_front || to_end < size ? to_end : 0;
  }
  void put_length(std::size_t at, std::uint64_t length) { std::memcpy(bytes_.data() + at, &length, sizeof length); }

  RingControl* control_;
  std::span<std::byte> bytes_;
};

class Reader {
 public:
  Reader(RingControl& control, std::span<const std::byte> bytes) : control_(&control), bytes_(bytes) {}

  // The next frame, valid until pop(). Nothing: none is there. `damaged` is raised when the ring had to be emptied.
  std::optional<std::span<const std::byte>> front(std::uint64_t& damaged) {
    for (;;) {
      const std::uint64_t written = control_->written.load(std::memory_order_acquire);
      const std::uint64_t read = control_->read.load(std::memory_order_relaxed);
      if (written == read) return std::nullopt;
      const std::uint64_t used = written - read;
      const std::size_t at = read & (bytes_.size() - 1), to_end = bytes_.size() - at;
      std::uint64_t length = 0;
      if (used <= bytes_.size() && at % kLengthBytes == 0) std::memcpy(&length, bytes_.data() + at, sizeof length);
      if (length == kSkip && to_end < used) {
        control_->read.store(read + to_end);
        continue;
      }
      refers_ = length != kSkip && (length & kRefers) != 0;
      length &= ~kRefers;
      if (length > 0 && length <= largest_frame(bytes_.size()) && record_bytes(length) <= used &&
          record_bytes(length) <= to_end) {
        next_ = read + record_bytes(length);
        return bytes_.subspan(at + kLengthBytes, length);
      }
      ++damaged;
      control_->read.store(written);
    }
  }
  // Gives back the place of what front() returned. True: the writer waits for room, and there is some again.
  bool pop() {
    control_->read.store(next_);  // before the look at writer_waits; the writer does it the other way round
    if (control_->writer_waits.load() == 0) return false;
    const std::uint64_t used = control_->written.load(std::memory_order_relaxed) - next_;
    return used <= bytes_.size() / 2 - 2 * kLengthBytes && control_->writer_waits.exchange(0) != 0;
  }
  // What front() returned ends with a reference.
  bool refers() const { return refers_; }
  bool is_empty() const { return control_->written.load(std::memory_order_acquire) == control_->read.load(); }
  const RingControl& control() const { return *control_; }

 private:
  RingControl* control_;
  std::span<const std::byte> bytes_;
  std::uint64_t next_ = 0;
  bool refers_ = false;
};

}  // namespace shared_ring
}  // namespace fibocast
