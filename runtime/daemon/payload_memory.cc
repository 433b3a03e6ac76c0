#include "runtime/daemon/payload_memory.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "collectives/check.h"

namespace fibocast {

PayloadMemory::PayloadMemory(std::uint32_t buffers, Transport& transport) : transport_(transport), slots_(buffers) {
  for (std::size_t i = 0; i < kClasses; ++i)
    pool_[i].reserve(std::max<std::uint64_t>(1, kPooledBytes / class_bytes(i)));
}

std::size_t PayloadMemory::class_of(std::uint64_t bytes) {
  if (bytes > class_bytes(kClasses - 1)) return kClasses;
  if (bytes <= kSmallest) return 0;
  return std::bit_width((bytes - 1) / kSmallest);
}

PayloadMemory::Block PayloadMemory::take(std::uint64_t bytes) {
  const std::size_t index = class_of(bytes);
  if (index == kClasses || pool_[index].empty())
    return Block(new std::byte[index < kClasses ? class_bytes(index) : bytes]);  // not cleared: not touched
  Block block = std::move(pool_[index].back());
  pool_[index].pop_back();
  return block;
}

std::byte* PayloadMemory::take_transports(std::uint64_t bytes) {
  return bytes >= kTransports ? transport_.take_payload_memory(bytes).data() : nullptr;
}

PayloadMemory::Slot& PayloadMemory::slot_of(BufferId buffer, std::uint64_t bytes) {
  check(buffer < slots_.size());
  Slot& slot = slots_[buffer];
  if (slot.begin == nullptr) {
    slot.begin = take_transports(bytes);
    if (slot.begin == nullptr) slot.begin = (slot.own = take(bytes)).get();
    slot.bytes = bytes;
    ++in_use_;
  }
  check(slot.bytes == bytes);
  return slot;
}

std::span<std::byte> PayloadMemory::at(BufferId buffer, std::uint64_t bytes) { return part(buffer, bytes, 0, bytes); }

std::span<std::byte> PayloadMemory::part(BufferId buffer, std::uint64_t bytes, std::uint64_t offset,
                                         std::uint64_t length) {
  Slot& slot = slot_of(buffer, bytes);
  if (!slot.lent) copy_up_to(slot, offset + length);
  return std::span(slot.begin, slot.bytes).subspan(offset, length);
}

void PayloadMemory::copy_up_to(Slot& slot, std::uint64_t end) {
  if (slot.source == nullptr || end <= slot.copied) return;
  std::memcpy(slot.begin + slot.copied, slot.source + slot.copied, end - slot.copied);
  slot.copied = end;
  if (end == slot.bytes) slot.source = nullptr;
}

void PayloadMemory::copy_later(BufferId buffer, std::span<const std::byte> source) {
  lend(buffer, {const_cast<std::byte*>(source.data()), source.size()});
  Slot& slot = slots_[buffer];
  if (std::byte* place = take_transports(source.size())) slot.begin = place, slot.lent = false;
  slot.source = source.data();
}

void PayloadMemory::finish_copy(BufferId buffer, std::span<const std::byte> source) {
  if (buffer == kNoBuffer || slots_[buffer].source != source.data()) return;
  Slot& slot = slots_[buffer];
  if (std::exchange(slot.lent, false)) slot.begin = (slot.own = take(slot.bytes)).get();
  copy_up_to(slot, slot.bytes);
}

void PayloadMemory::lend(BufferId buffer, std::span<std::byte> place) {
  check(buffer < slots_.size() && slots_[buffer].begin == nullptr);
  slots_[buffer] = {.begin = place.data(), .bytes = place.size(), .own = {}, .lent = true, .source = nullptr};
  ++in_use_;
}

void PayloadMemory::take_back(BufferId buffer, std::span<std::byte> place) {
  if (buffer != kNoBuffer && slots_[buffer].lent && slots_[buffer].begin == place.data()) release(buffer);
}

void PayloadMemory::release(BufferId buffer) {
  check(buffer < slots_.size());
  Slot& slot = slots_[buffer];
  if (slot.begin == nullptr) return;
  if (!slot.own && !slot.lent) transport_.give_back_payload_memory(slot.begin);
  const std::size_t index = class_of(slot.bytes);
  if (slot.own && index < kClasses && pool_[index].size() < pool_[index].capacity())
    pool_[index].push_back(std::move(slot.own));
  slot = {};
  --in_use_;
}

}  // namespace fibocast
