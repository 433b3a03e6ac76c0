// A whole tree in flat arrays, for tools and tests: who sends to whom, in which order, and what that costs by the
// papers' event model (A1, A30). A node never needs one: see tree_view.h.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "collectives/types.h"

namespace fibocast {

// How a numbering implies the order in which a parent sends to its children.
enum class SendOrder : std::uint8_t { kAscending, kDescending };

// Immutable once made; safe to read from several threads.
class Tree {
 public:
  // `parent[v]` for each rank v, kNoRank for the root alone. Every entry must name a rank; whether it is a tree
  // is is_valid()'s to say. Precondition: exactly one root.
  static Tree from_parents(std::vector<Rank> parent, SendOrder order);
  // The same for any order: a parent sends to its children as they appear in `order`. Precondition: `order` holds each
  // rank but the root exactly once; the root may be in it.
  static Tree from_parents(std::vector<Rank> parent, std::span<const Rank> order);

  Rank size() const { return static_cast<Rank>(parent_.size()); }
  Rank root() const { return root_; }
  Rank parent(Rank v) const { return parent_[v]; }
  std::span<const Rank> parents() const { return parent_; }
  // In send order.
  std::span<const Rank> children(Rank v) const {
    return std::span(child_).subspan(first_child_[v], first_child_[v + 1] - first_child_[v]);
  }

  // Every rank can be reached from the root, by one way.
  bool is_valid() const { return from_root_down().size() == parent_.size(); }
  // All ranks that the root reaches, parents before their children.
  std::vector<Rank> from_root_down() const;
  // The same tree with rank v renamed (v + by) mod p: rotating a tree of root 0 by i gives root i.
  Tree rotated(Rank by) const;

 private:
  std::vector<Rank> parent_;
  std::vector<Rank> first_child_;  // p + 1 entries: where each rank's children begin in child_
  std::vector<Rank> child_;
  Rank root_ = 0;
};

// Activation times of a distribution (A1): the i-th child of v, i = 0, 1, .., at time(v) + (i + 1) s + r.
std::vector<std::uint64_t> activation_times(const Tree& tree, std::uint64_t s, std::uint64_t r);
// The largest of them (A3): the distribution latency.
std::uint64_t completion(const Tree& tree, std::uint64_t s, std::uint64_t r);

// When the root has the contribution of all ranks, all of them ready at 0 (A30, A31): a sender is busy s, the wire
// takes l, a parent is busy o for each arrival, first come first served, ties by source rank.
std::uint64_t reduction_completion(const Tree& tree, std::uint64_t s, std::uint64_t o, std::uint64_t l = 0);

}  // namespace fibocast
