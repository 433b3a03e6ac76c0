// Numbers as they stand on the wire: little-endian, unaligned. Core.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace fibocast::little_endian {

inline constexpr bool kIsNative = std::endian::native == std::endian::little;

template <class T>
void put(std::byte* at, T value) {
  if constexpr (kIsNative)
    std::memcpy(at, &value, sizeof value);
  else
    for (std::size_t i = 0; i < sizeof(T); ++i) at[i] = static_cast<std::byte>(value >> (8 * i) & 0xff);
}

template <class T>
T get(const std::byte* at) {
  T value = 0;
  if constexpr (kIsNative)
    std::memcpy(&value, at, sizeof value);
  else
    for (std::size_t i = 0; i < sizeof(T); ++i) value = static_cast<T>(value | static_cast<T>(at[i]) << (8 * i));
  return value;
}

}  // namespace fibocast::little_endian
