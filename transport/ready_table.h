// Which of many channels may have a frame to send, and when the next of the others will: after every event a node looks
// here, at a bit each, instead of asking all of them. Core.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "transport/channel_types.h"

namespace fibocast {

// A channel raises its own when something has happened to it: it may have a frame.
class ReadyFlag {
 public:
  ReadyFlag(std::uint64_t& word, std::uint8_t bit) : word_(word), bit_(bit) {}  // bit: 0 .. 63
  void raise() { word_ |= std::uint64_t{1} << bit_; }

 private:
  std::uint64_t& word_;
  std::uint8_t bit_;
};

class ReadyTable {
 public:
  static constexpr std::size_t words_for(std::size_t entries) { return 2 * ((entries + 63) / 64); }
  ReadyTable() = default;
  // There are words_for(until.size()) words, all 0: all rest for ever. `until` need not be written.
  ReadyTable(std::span<std::uint64_t> words, std::span<Nanoseconds> until)
      : ready_(words.data()), timed_(words.data() + words.size() / 2), until_(until.data()) {}

  // An entry is in use from the first call on; what is behind the last one in use is not looked at.
  ReadyFlag flag(std::uint32_t index) {
    words_ = std::max(words_, index / 64 + 1);
    return {ready_[index / 64], static_cast<std::uint8_t>(index % 64)};
  }
  // It is in use, and has no frame before `until`, unless its flag is raised.
  void rest(std::uint32_t index, Nanoseconds until);
  // Those that rested until now are ready.
  void wake(Nanoseconds now) {
    if (earliest() <= now) wake_due(now);
  }
  // Until when all rest that are not ready.
  Nanoseconds earliest() {
    if (earliest_entry_ != kNone && is_ready(earliest_entry_)) find_earliest();
    return earliest_;
  }
  // The first that is ready, from `index` on; kNone: none is.
  std::uint32_t next_ready(std::uint32_t index) const {
    std::uint32_t word = index / 64;
    if (word >= words_) return kNone;
    std::uint64_t rest = ready_[word] & ~(bit(index) - 1);
    while (rest == 0 && ++word < words_) rest = ready_[word];
    return rest == 0 ? kNone : word * 64 + static_cast<std::uint32_t>(std::countr_zero(rest));
  }
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

 private:
  static constexpr std::uint64_t bit(std::uint32_t index) { return std::uint64_t{1} << index % 64; }
  bool is_ready(std::uint32_t index) const { return (ready_[index / 64] & bit(index)) != 0; }
  template <class Visit>
  void for_each_timed(Visit visit);  // of those that rest
  void find_earliest();
  void wake_due(Nanoseconds now);

  std::uint32_t words_ = 0;  // in use, of each of both sets:
  std::uint32_t earliest_entry_ = kNone;
  std::uint64_t* ready_ = nullptr;
  std::uint64_t* timed_ = nullptr;  // they rest until a time, where they are not ready
  Nanoseconds* until_ = nullptr;
  Nanoseconds earliest_ = kNoDeadline;  // of earliest_entry_, as long as that rests
};

}  // namespace fibocast
