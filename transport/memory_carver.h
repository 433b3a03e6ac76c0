// Cuts the memory that a channel was handed into arrays, so that the core needs no heap. Core.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <new>
#include <span>

#include "transport/check.h"

namespace fibocast {

inline constexpr std::size_t kCarveAlignment = alignof(std::max_align_t);

// Bytes that take<T>(count) uses.
template <class T>
constexpr std::size_t carved_bytes(std::size_t count) {
  return (count * sizeof(T) + kCarveAlignment - 1) / kCarveAlignment * kCarveAlignment;
}

// Windows are indexed by sequence modulo their size; a power of two keeps that right when the sequence wraps.
constexpr std::uint32_t ring_slots(std::uint32_t window) { return std::bit_ceil(window); }

class MemoryCarver {
 public:
  explicit MemoryCarver(std::span<std::byte> memory) : rest_(memory) {
    check_channel(reinterpret_cast<std::uintptr_t>(memory.data()) % kCarveAlignment == 0);
  }

  // `count` value-initialised objects; T must be trivially destructible.
  template <class T>
  std::span<T> take(std::size_t count) {
    const std::span<T> taken = take_untouched<T>(count);
    for (T& object : taken) ::new (static_cast<void*>(&object)) T();
    return taken;
  }

  // The same, but the memory is not written: pages that are never used are then never mapped. The caller writes
  // each object before reading it.
  template <class T>
  std::span<T> take_untouched(std::size_t count) {
    const std::size_t bytes = carved_bytes<T>(count);
    check_channel(bytes <= rest_.size());
    T* first = reinterpret_cast<T*>(rest_.data());
    rest_ = rest_.subspan(bytes);
    return {first, count};
  }

 private:
  std::span<std::byte> rest_;
};

// Takes nothing and counts: the same layout code then tells how much memory it needs.
class MemoryCounter {
 public:
  template <class T>
  std::span<T> take(std::size_t count) {
    bytes_ += carved_bytes<T>(count);
    return {};
  }
  template <class T>
  std::span<T> take_untouched(std::size_t count) {
    return take<T>(count);
  }
  std::size_t bytes() const { return bytes_; }

 private:
  std::size_t bytes_ = 0;
};

}  // namespace fibocast
