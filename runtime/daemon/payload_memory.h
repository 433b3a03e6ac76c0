// The bytes behind the node's payload buffers. The node decides which buffers exist; here is their memory, taken
// when a buffer is first used and given back at Event::kBufferFree. Larger ones are the transport's, if it has some.
// All others are pooled up to 1 MiB: no allocation in steady state. Not thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "transport/transport.h"

namespace fibocast {

class PayloadMemory {
 public:
  // `buffers`: how many a node may know at a time (Limits::buffers). `transport` outlives what is used here.
  PayloadMemory(std::uint32_t buffers, Transport& transport);

  // The buffer's bytes; taken now if it has none yet. `bytes` is what Node::buffer_bytes() says and stays the same
  // until release(). Valid until release().
  std::span<std::byte> at(BufferId buffer, std::uint64_t bytes);
  // A part of them, for who needs no other. Precondition: it is within `bytes`.
  std::span<std::byte> part(BufferId buffer, std::uint64_t bytes, std::uint64_t offset, std::uint64_t length);
  // The buffer's bytes are those of `source`, which stays as it is until finish_copy() or release(): they are read
  // there, or, if the transport has memory for them, copied as far as somebody asks for them, so that the first
  // fragment leaves before the last one is copied. Preconditions: the buffer has no memory yet, and nobody writes to
  // it.
  void copy_later(BufferId buffer, std::span<const std::byte> source);
  // `source` is its owner's again: what is still missing is copied now, if the buffer is still the same.
  void finish_copy(BufferId buffer, std::span<const std::byte> source);
  // The buffer's bytes are these, until take_back(). Precondition: it has no memory yet.
  void lend(BufferId buffer, std::span<std::byte> place);
  // If the buffer still lies there it is without memory again: what is written to it later goes to new memory.
  void take_back(BufferId buffer, std::span<std::byte> place);
  // The buffer is gone. Nothing happens if it never had memory.
  void release(BufferId buffer);
  // Buffers that have memory now.
  std::uint32_t in_use() const { return in_use_; }

 private:
  using Block = std::unique_ptr<std::byte[]>;
  struct Slot {
    std::byte* begin = nullptr;
    std::uint64_t bytes = 0;
    Block own;  // empty: it is the transport's, or lent
    bool lent = false;
    const std::byte* source = nullptr;  // of what is not copied yet, from byte `copied` on, or lent; none: all is there
    std::uint64_t copied = 0;
  };
  static constexpr std::uint64_t kTransports = 8 << 10;  // from so many bytes on
  static constexpr std::uint64_t kSmallest = 256;
  static constexpr std::size_t kClasses = 13;               // 256 B, 512 B, ... 1 MiB
  static constexpr std::uint64_t kPooledBytes = 256 << 10;  // so many are kept per class, at least one block

  Block take(std::uint64_t bytes);
  std::byte* take_transports(std::uint64_t bytes);  // null: it has none, or none for so few
  Slot& slot_of(BufferId buffer, std::uint64_t bytes);
  static void copy_up_to(Slot& slot, std::uint64_t end);
  static std::size_t class_of(std::uint64_t bytes);  // kClasses: not pooled
  static std::uint64_t class_bytes(std::size_t index) { return kSmallest << index; }

  Transport& transport_;
  std::vector<Slot> slots_;
  std::array<std::vector<Block>, kClasses> pool_;
  std::uint32_t in_use_ = 0;
};

}  // namespace fibocast
