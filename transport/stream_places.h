// The streams of one direction of a bulk lane: a table of fixed places. Mostly few of them are open, and these in the
// first places: only there is anything looked for. Core.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>

#include "transport/check.h"

namespace fibocast {

// `Stream` has a number, 0 in a place that is free.
template <class Stream>
class StreamPlaces {
 public:
  explicit StreamPlaces(std::span<Stream> places)
      : places_(places.data()), size_(static_cast<std::uint16_t>(places.size())) {
    check_channel(places.size() <= std::numeric_limits<std::uint16_t>::max());
  }

  std::uint32_t free() const { return std::uint32_t{size_} - open_; }
  bool none_is_open() const { return open_ == 0; }
  // Those that are open, and places between them.
  std::span<Stream> used() const { return {places_, used_}; }
  // Null: none of this number, which is not 0, is open.
  Stream* find(std::uint32_t number) const {
    const auto it = std::ranges::find(used(), number, &Stream::number);
    return it == used().end() ? nullptr : &*it;
  }
  // Precondition: free() > 0, and the stream's number is not 0.
  Stream& open(const Stream& stream) {
    check_channel(free() > 0 && stream.number != 0);
    Stream* place = find(0);
    if (place == nullptr) place = &places_[used_++];
    ++open_;
    return *place = stream;
  }
  void end(Stream& stream) {
    stream = Stream{};
    --open_;
    while (used_ > 0 && places_[used_ - 1].number == 0) --used_;
  }
  void clear() {
    std::ranges::fill(used(), Stream{});
    used_ = open_ = 0;
  }
  std::uint32_t place_of(const Stream& stream) const { return static_cast<std::uint32_t>(&stream - places_); }
  Stream& at(std::uint32_t place) const { return places_[place]; }

 private:
  // Small: each channel of a small node has two of these.
  Stream* places_;
  std::uint16_t size_;
  std::uint16_t used_ = 0;  // up to the last that is open
  std::uint16_t open_ = 0;
};

}  // namespace fibocast
