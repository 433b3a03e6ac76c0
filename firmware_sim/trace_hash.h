// One number for a whole run: two runs of the same seed must agree on it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace fibocast {

// FNV-1a over numbers and bytes.
class TraceHash {
 public:
  void add(std::uint64_t number) {
    for (int i = 0; i < 8; ++i) mix(static_cast<std::uint8_t>(number >> (8 * i)));
  }
  // The length and the beginning: enough to notice a difference, cheap enough for megabytes.
  void add(std::span<const std::byte> bytes) {
    add(bytes.size());
    for (std::byte b : bytes.first(std::min<std::size_t>(bytes.size(), 160))) mix(static_cast<std::uint8_t>(b));
  }
  std::uint64_t value() const { return value_; }

 private:
  void mix(std::uint8_t byte) { value_ = (value_ ^ byte) * 0x100000001b3; }
  std::uint64_t value_ = 0xcbf29ce484222325;
};

}  // namespace fibocast
