// Bytes that nobody may see after their use: wiped when they go out of scope, and never printed.
#pragma once

#include <sodium.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace fibocast {

inline constexpr std::size_t kKeyBytes = 32;  // of a cluster key, of each key that is derived from it or agreed on

template <std::size_t kSize>
struct SecretBytes {
  std::array<std::byte, kSize> bytes{};

  SecretBytes() = default;
  SecretBytes(const SecretBytes&) = default;
  SecretBytes& operator=(const SecretBytes&) = default;
  ~SecretBytes() { sodium_memzero(bytes.data(), kSize); }
  std::uint8_t* raw() { return reinterpret_cast<std::uint8_t*>(bytes.data()); }
  const std::uint8_t* raw() const { return reinterpret_cast<const std::uint8_t*>(bytes.data()); }
  std::span<std::byte, kSize> span() { return bytes; }
  std::span<const std::byte, kSize> span() const { return bytes; }
};

using SecretKey = SecretBytes<kKeyBytes>;

// libsodium's view of our bytes.
template <std::size_t kExtent>
std::uint8_t* raw(std::span<std::byte, kExtent> bytes) {
  return reinterpret_cast<std::uint8_t*>(bytes.data());
}
template <std::size_t kExtent>
const std::uint8_t* raw(std::span<const std::byte, kExtent> bytes) {
  return reinterpret_cast<const std::uint8_t*>(bytes.data());
}

}  // namespace fibocast
