// Takes an input apart. What is missing at its end is zeros.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>

#include "tests/fuzz/targets.h"

namespace fibocast::fuzz {

class Input {
 public:
  explicit Input(Bytes bytes) : left_(bytes) {}

  bool empty() const { return left_.empty(); }
  std::uint64_t number(std::size_t bytes) {
    std::uint64_t value = 0;
    const Bytes taken = take(bytes);
    std::memcpy(&value, taken.data(), taken.size());
    return value;
  }
  // Below `limit`, from one byte. Precondition: limit > 0.
  std::uint8_t below(std::uint8_t limit) { return static_cast<std::uint8_t>(number(1) % limit); }
  Bytes take(std::size_t bytes) {
    const Bytes taken = left_.first(std::min(bytes, left_.size()));
    left_ = left_.subspan(taken.size());
    return taken;
  }
  // A byte says how many follow.
  Bytes piece() { return take(number(1)); }

 private:
  Bytes left_;
};

// What a target promises of the product. Ends the program.
inline void require(bool holds) {
  if (!holds) __builtin_trap();
}

}  // namespace fibocast::fuzz
