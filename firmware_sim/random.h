// The dice of the simulator: the same numbers from the same seed on every machine and compiler, which
// the distributions of the standard library do not promise.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace fibocast {

// SplitMix64 (Steele, Lea, Flood 2014). A value: copy it to fork a run.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  // As next(), n times.
  void skip(std::uint64_t n) { state_ += n * 0x9e3779b97f4a7c15; }
  // 0 .. n-1; precondition n > 0. The bias of the remainder is of no concern here.
  std::uint64_t below(std::uint64_t n) { return next() % n; }
  // low .. high, both included.
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(below(static_cast<std::uint64_t>(high - low) + 1));
  }
  bool chance(double probability) { return static_cast<double>(next() >> 11) < probability * 9007199254740992.0; }

 private:
  std::uint64_t state_;
};

template <typename T, std::size_t N>
T pick(Random& random, const std::array<T, N>& choices) {
  return choices[random.below(N)];
}

}  // namespace fibocast
