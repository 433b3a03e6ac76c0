// Published vectors as they are printed.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "transport/seal/secret.h"

namespace fibocast {

using Bytes = std::vector<std::byte>;

inline Bytes from_hex(std::string_view digits) {
  Bytes bytes(digits.size() / 2);
  EXPECT_EQ(
      sodium_hex2bin(raw(std::span(bytes)), bytes.size(), digits.data(), digits.size(), nullptr, nullptr, nullptr), 0);
  return bytes;
}

inline SecretKey key_from_hex(std::string_view digits) {
  SecretKey key;
  std::ranges::copy(from_hex(digits), key.bytes.begin());
  return key;
}

}  // namespace fibocast
