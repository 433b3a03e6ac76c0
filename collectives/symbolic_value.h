// What a piece of data is worth in a proof: whose contributions are in it, in which order, and by which expression. For
// tools and tests, not the core.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "collectives/types.h"

namespace fibocast {

class SymbolicValue {
 public:
  SymbolicValue() = default;  // nothing
  // What `rank` brings, as block `block` of something.
  SymbolicValue(Rank rank, Rank block);

  bool empty() const { return runs_.empty(); }
  Rank block() const { return block_; }
  // Left, then right. Precondition: neither is empty, both are of the same block.
  static SymbolicValue combined(const SymbolicValue& left, const SymbolicValue& right);

  // Exactly the contribution of one rank.
  bool is_from(Rank rank) const { return runs_.size() == 1 && runs_[0] == std::pair(rank, rank + 1); }
  // Each of 0 .. ranks - 1 exactly once.
  bool has_each_once(Rank ranks) const;
  // ... and in this order.
  bool is_in_order(Rank ranks) const { return runs_.size() == 1 && runs_[0] == std::pair(Rank{0}, ranks); }
  // The contributions as [first, last + 1), in the order of combining.
  const std::vector<std::pair<Rank, Rank>>& runs() const { return runs_; }
  // Equal for equal expressions over the same contributions: the same bits come out.
  std::uint64_t expression() const { return expression_; }
  bool operator==(const SymbolicValue&) const = default;

 private:
  Rank block_ = 0;
  std::uint64_t expression_ = 0;
  std::vector<std::pair<Rank, Rank>> runs_;
};

}  // namespace fibocast
