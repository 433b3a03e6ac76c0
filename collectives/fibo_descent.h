// One process of a Fibo-tree, found without building the tree: by descent from the root along the pool
// layout (Cordsen et al. 1997, corrected Fig. 8 (A11), layout A13). Core: no heap, no exceptions.
#pragma once

#include <cstdint>

#include "collectives/growth.h"
#include "collectives/types.h"

namespace fibocast {

// The tree over `ranks` processes for latencies s, r, standing at one of them. Each subtree owns a contiguous
// block of ranks with its root first; the children of a process lie in its block last child first, so that
// sending from the largest subtree down is going backwards through the block (A14).
//
// A process is known by its budget t and the number m of processes missing: its subtree is what is active
// at time t, f(t), less m of those that become active exactly at t (A12). With f(t) = f(t - s) + f(t - s - r) the
// first i children together have f(t) - f(t - i s) processes, so each block border is a closed form.
class FiboDescent {
 public:
  // Goes down to `me`: O(depth x log(fan-out)) evaluations of f. Preconditions: are_latencies_valid(s, r), me < ranks.
  FiboDescent(std::uint64_t s, std::uint64_t r, Rank ranks, Rank me);

  Rank parent() const { return parent_; }  // kNoRank for rank 0
  Rank children() const { return children_; }
  Rank child(Rank i) const;  // the i-th in send order, i < children()
  Rank subtree_size() const { return static_cast<Rank>(1 + border(0).block); }

 private:
  FiboDescent(const LatencyRatio& ratio, Rank ranks, Rank me);

  // What lies between the process itself and the end of child i.
  struct Border {
    std::uint64_t block = 0;    // processes in the subtrees of child i and those after it: the front of the block
    std::uint64_t missing = 0;  // of the missing processes, those that these subtrees lack
  };
  Border border(Rank i) const;
  void stand_at(std::int64_t budget, std::uint64_t missing);
  void descend(std::uint64_t offset);
  void enter_child(Rank i, std::uint64_t missing);

  std::int64_t s_;
  std::int64_t delay_;  // s + r
  Growth growth_;
  std::int64_t budget_ = 0;
  std::uint64_t missing_ = 0;
  std::uint64_t latest_ = 0;  // processes that become active exactly at the budget; 0 if none is missing
  Rank children_ = 0;
  Rank me_ = 0;
  Rank parent_ = kNoRank;
};

}  // namespace fibocast
