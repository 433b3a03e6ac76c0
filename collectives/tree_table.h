// A tree that is no formula (heterogeneous, hierarchical, drawn by hand), as small as a node can keep it: 6 bytes a
// rank. Core: no heap, no exceptions.
#pragma once

#include <cstdint>
#include <span>

#include "collectives/types.h"

namespace fibocast {

// One entry per rank, in breadth-first order: the root, its children in send order, the children of the first of them,
// and so on. Each tree has one such order, so tables of equal trees are equal.
struct TreeTableEntry {
  std::uint16_t rank = 0;         // virtual: the root is 0
  std::uint16_t first_child = 0;  // its children are the entries from this one up to the next entry's first_child
  std::uint16_t place = 0;        // of entry i: the number of the entry that holds rank i
  bool operator==(const TreeTableEntry&) const = default;
};

inline constexpr Rank kMostTableRanks = 0xffff;

// A view: whoever owns the entries keeps them while it is used, and does not change them. Thread-safe then.
class TreeTable {
 public:
  TreeTable() = default;  // no tree
  explicit TreeTable(std::span<const TreeTableEntry> entries) : entries_(entries) {}

  bool empty() const { return entries_.empty(); }
  Rank ranks() const { return static_cast<Rank>(entries_.size()); }
  std::span<const TreeTableEntry> entries() const { return entries_; }
  // Preconditions of the following: is_valid(*this), rank < ranks().
  Rank parent(Rank rank) const;  // kNoRank at the root; O(log p)
  Rank children(Rank rank) const;
  Rank child(Rank rank, Rank i) const;  // the i-th in send order, i < children(rank)
  // The same tree. Equal views are equal without a look at the entries.
  bool operator==(const TreeTable& other) const;

 private:
  Rank begin_of(Rank entry) const { return entry < entries_.size() ? entries_[entry].first_child : ranks(); }
  std::span<const TreeTableEntry> entries_;
};

// Writes the places, from the ranks and first children. False if these are not one tree of root 0, in O(p) and with no
// memory.
bool complete_table(std::span<TreeTableEntry> entries);
// The entries, places included, are one tree of root 0. An empty table is none.
bool is_valid(const TreeTable& table);

}  // namespace fibocast
