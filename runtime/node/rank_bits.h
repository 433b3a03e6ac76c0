// A set of ranks as bits in memory of the node's tables: the members of a group's epoch. Core: no heap.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "collectives/types.h"

namespace fibocast {

// A view: copies share the bits. Ranks are below 64 times the words of its memory; others are in no set.
class RankBits {
 public:
  static constexpr std::size_t words_for(std::uint32_t ranks) { return (ranks + 63) / 64; }

  RankBits() = default;
  explicit RankBits(std::span<std::uint64_t> words) : words_(words) {}

  void clear() { std::ranges::fill(words_, 0); }
  void assign(const RankBits& other) { std::ranges::copy(other.words_, words_.begin()); }
  // The ranks 0 to count - 1.
  void fill(std::uint32_t count) {
    clear();
    for (Rank r = 0; r < count; ++r) add(r);
  }
  void add(Rank r) {
    if (r / 64 < words_.size()) words_[r / 64] |= bit(r);
  }
  bool has(Rank r) const { return r / 64 < words_.size() && (words_[r / 64] & bit(r)) != 0; }
  std::uint32_t count() const {
    std::uint32_t n = 0;
    for (const std::uint64_t w : words_) n += static_cast<std::uint32_t>(std::popcount(w));
    return n;
  }
  // How many are smaller; kNoRank if it is not in the set.
  Rank position_of(Rank r) const {
    if (!has(r)) return kNoRank;
    std::uint32_t before = 0;
    for (std::size_t i = 0; i < r / 64; ++i) before += static_cast<std::uint32_t>(std::popcount(words_[i]));
    return before + static_cast<std::uint32_t>(std::popcount(words_[r / 64] & (bit(r) - 1)));
  }
  // The rank with so many smaller ones; kNoRank if there are fewer.
  Rank at(Rank position) const {
    for (std::size_t i = 0; i < words_.size(); ++i) {
      const auto here = static_cast<std::uint32_t>(std::popcount(words_[i]));
      if (position < here) return static_cast<Rank>(64 * i) + nth_bit(words_[i], position);
      position -= here;
    }
    return kNoRank;
  }
  // The set whose words lie behind this one's, after `sets` - 1 others of the same size.
  RankBits behind(std::size_t sets) const {
    return RankBits(std::span(words_.data() + sets * words_.size(), words_.size()));
  }
  bool operator==(const RankBits& other) const { return std::ranges::equal(words_, other.words_); }

 private:
  static std::uint64_t bit(Rank r) { return std::uint64_t{1} << (r % 64); }
  static Rank nth_bit(std::uint64_t word, std::uint32_t n) {
    while (n-- > 0) word &= word - 1;
    return static_cast<Rank>(std::countr_zero(word));
  }
  std::span<std::uint64_t> words_;
};

}  // namespace fibocast
