#include "runtime/daemon/payload_memory.h"

#include <algorithm>
#include <bit>

#include "collectives/check.h"

namespace fibocast {

PayloadMemory::PayloadMemory(std::uint32_t buffers) : slots_(buffers) {
  for (std::size_t i = 0; i < kClasses; ++i)
    pool_[i].reserve(std::max<std::uint64_t>(1, kPooledBytes / class_bytes(i)));
}

std::size_t PayloadMemory::class_of(std::uint64_t bytes) {
  if (bytes > class_bytes(kClasses - 1)) return kClasses;
  if (bytes <= kSmallest) return 0;
  return std::bit_width((bytes - 1) / kSmallest);
}

std::span<std::byte> PayloadMemory::at(BufferId buffer, std::uint64_t bytes) {
  check(buffer < slots_.size());
  Slot& slot = slots_[buffer];
  if (!slot.block) {
    const std::size_t index = class_of(bytes);
    if (index < kClasses && !pool_[index].empty()) {
      slot.block = std::move(pool_[index].back());
      pool_[index].pop_back();
    } else {
      slot.block.reset(new std::byte[index < kClasses ? class_bytes(index) : bytes]);  // not cleared: not touched
    }
    slot.bytes = bytes;
    ++in_use_;
  }
  check(slot.bytes == bytes);
  return {slot.block.get(), slot.bytes};
}

void PayloadMemory::release(BufferId buffer) {
  check(buffer < slots_.size());
  Slot& slot = slots_[buffer];
  if (!slot.block) return;
  const std::size_t index = class_of(slot.bytes);
  if (index < kClasses && pool_[index].size() < pool_[index].capacity()) pool_[index].push_back(std::move(slot.block));
  slot.block.reset();
  slot.bytes = 0;
  --in_use_;
}

}  // namespace fibocast
