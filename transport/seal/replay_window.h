// Which frame counters of a session were received: each is taken once. Counters may overtake each other by up to
// kWidth; what is older than that counts as received. Source: RFC 6479.
#pragma once

#include <array>
#include <cstdint>

namespace fibocast {

class ReplayWindow {
 public:
  static constexpr std::uint64_t kWidth = 2048;

  bool may_take(std::uint64_t counter) const {
    if (counter >= next_) return true;
    return next_ - counter <= kWidth && (words_[word_of(counter)] & bit_of(counter)) == 0;
  }
  // Only after the frame proved to be authentic. Precondition: may_take(counter).
  void take(std::uint64_t counter) {
    if (counter >= next_) {
      // Words between the newest so far and this one are forgotten; at most all.
      std::uint64_t fresh = counter / kBits - (next_ == 0 ? 0 : (next_ - 1) / kBits);
      if (next_ == 0 || fresh > words_.size()) fresh = words_.size();
      for (std::uint64_t i = 0; i < fresh; ++i) words_[word_of(counter - i * kBits)] = 0;
      next_ = counter + 1;
    }
    words_[word_of(counter)] |= bit_of(counter);
  }

 private:
  static constexpr std::uint64_t kBits = 64;
  static std::size_t word_of(std::uint64_t counter) { return counter / kBits % kWords; }
  static std::uint64_t bit_of(std::uint64_t counter) { return std::uint64_t{1} << counter % kBits; }
  static constexpr std::size_t kWords = kWidth / kBits + 1;  // one more: the newest word is only partly filled

  std::array<std::uint64_t, kWords> words_{};
  std::uint64_t next_ = 0;  // above all that were taken
};

}  // namespace fibocast
