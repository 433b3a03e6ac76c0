// Numbers as they stand on the wire: little-endian, unaligned. Core.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fibocast::little_endian {

template <class T>
void put(std::byte* at, T value) {
  for (std::size_t i = 0; i < sizeof(T); ++i) at[i] = static_cast<std::byte>(value >> (8 * i) & 0xff);
}

template <class T>
T get(const std::byte* at) {
  T value = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i) value = static_cast<T>(value | static_cast<T>(at[i]) << (8 * i));
  return value;
}

}  // namespace fibocast::little_endian
