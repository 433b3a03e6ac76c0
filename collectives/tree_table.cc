#include "collectives/tree_table.h"

#include <algorithm>

#include "collectives/check.h"

namespace fibocast {

Rank TreeTable::parent(Rank rank) const {
  const std::uint16_t place = entries_[rank].place;
  if (place == 0) return kNoRank;
  // Among entries without children that share the number, the last is the one whose children begin there.
  const auto after = std::ranges::upper_bound(entries_, place, {}, &TreeTableEntry::first_child);
  return (after - 1)->rank;
}

Rank TreeTable::children(Rank rank) const {
  const Rank entry = entries_[rank].place;
  return begin_of(entry + 1) - begin_of(entry);
}

Rank TreeTable::child(Rank rank, Rank i) const {
  check(i < children(rank));
  return entries_[begin_of(entries_[rank].place) + i].rank;
}

bool TreeTable::operator==(const TreeTable& other) const {
  if (entries_.data() == other.entries_.data() && entries_.size() == other.entries_.size()) return true;
  return std::ranges::equal(entries_, other.entries_);
}

bool complete_table(std::span<TreeTableEntry> entries) {
  for (std::size_t i = 0; i < entries.size(); ++i)
    if (entries[i].rank < entries.size()) entries[entries[i].rank].place = static_cast<std::uint16_t>(i);
  return is_valid(TreeTable(entries));
}

// Children come after their parent, so there is no circle; the ranges of children follow each other without a gap from
// entry 1 to the last, so each rank but the root has one parent; each rank has a place of its own, so none is missing.
bool is_valid(const TreeTable& table) {
  const auto entries = table.entries();
  const std::size_t p = entries.size();
  if (p == 0 || p > kMostTableRanks || entries[0].rank != 0 || entries[0].first_child != 1) return false;
  for (std::size_t i = 0; i < p; ++i) {
    const TreeTableEntry& e = entries[i];
    if (e.first_child <= i || e.first_child > p || (i > 0 && e.first_child < entries[i - 1].first_child)) return false;
    if (e.place >= p || entries[e.place].rank != i) return false;
  }
  return true;
}

}  // namespace fibocast
