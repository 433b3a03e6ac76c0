// Numbers as they stand in sealed datagrams: little-endian, unaligned.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fibocast::seal {

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

}  // namespace fibocast::seal
