// A few words that travel with a verdict and stay on record with it, such as a caller's label: bounded, no heap. Core.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

namespace fibocast {

// At most kMost bytes; of a longer text the first ones.
struct ShortText {
  static constexpr std::size_t kMost = 30;
  std::array<char, kMost + 1> bytes{};
  std::uint8_t length = 0;

  std::string_view view() const { return {bytes.data(), length}; }
  void set(std::string_view text) {
    length = static_cast<std::uint8_t>(std::min(text.size(), kMost));
    std::copy_n(text.begin(), length, bytes.begin());
  }
};

}  // namespace fibocast
