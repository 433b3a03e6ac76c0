// A table that only grows, up to a bound: finding and adding take the same few steps however full it is, and nothing is
// allocated after it was made. Its memory is reserved at the start and touched when rows are used.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace fibocast {

// `Key` has operator== and hash(), well spread in all bits; `Row` is made from a key. At most half of the places are
// ever taken, so that a search ends.
template <class Key, class Row, std::size_t kMost>
class BoundedTable {
 public:
  BoundedTable() { rows_.reserve(kMost); }
  // Null: it is full, and this key is not in it.
  Row* find_or_add(const Key& key) {
    std::size_t place = key.hash() % kPlaces;
    for (; places_[place] != 0; place = (place + 1) % kPlaces)
      if (rows_[places_[place] - 1].key == key) return &rows_[places_[place] - 1].row;
    if (rows_.size() == kMost) return nullptr;
    rows_.push_back({key, Row{}});
    places_[place] = static_cast<std::uint16_t>(rows_.size());
    return &rows_.back().row;
  }
  struct Entry {
    Key key;
    Row row;
  };
  // In the order in which they came.
  const std::vector<Entry>& entries() const { return rows_; }
  std::vector<Entry>& entries() { return rows_; }

 private:
  static_assert(kMost < 65'535);
  static constexpr std::size_t kPlaces = 2 * kMost + 1;
  std::vector<Entry> rows_;
  std::array<std::uint16_t, kPlaces> places_{};  // row + 1; 0: free
};

}  // namespace fibocast
