// A tree as one of its ranks sees it: parent, children in send order, subtree. Nothing is built, so a tree of
// 10^9 ranks costs a node microseconds and no memory. Ranks are virtual: the root is 0.
// Core: no heap, no exceptions.
#pragma once

#include <cstdint>

#include "collectives/fibo_descent.h"
#include "collectives/plan.h"
#include "collectives/types.h"

namespace fibocast {

// False for a kind this program does not know, kKary with arity 0, and latencies outside of growth.h's bounds.
bool is_valid(const TreeSpec& spec);

// The best tree for gathering what `spec` is best at distributing: time reversal exchanges the roles of s and r
// (A30). For r = 0 the parent is never busy: all send to the root at once (kSequential). Other kinds: `spec`.
TreeSpec mirror(const TreeSpec& spec);

// True if every subtree is a run of consecutive ranks that starts with its root.
// Of given trees nobody has looked.
bool has_contiguous_subtrees(TreeKind kind);

// A value; methods are const and free of side effects. Preconditions: is_valid(spec), me < ranks; for kGiven `given` is
// valid and has `ranks` ranks, and is read as long as the view is used.
class TreeView {
 public:
  TreeView(const TreeSpec& spec, Rank ranks, Rank me, const TreeTable& given = {});

  Rank parent() const;       // kNoRank at the root
  Rank children() const;     // how many
  Rank child(Rank i) const;  // the i-th in send order, i < children()
  // In the order in which a node takes what its children send up: the one in which it arrives if the tree is sent
  // through upwards as it is downwards, last first. Heaps and stars come in the order of the ranks. i < children().
  Rank source(Rank i) const;
  // Ranks in the subtree below and with `me`. Precondition: has_contiguous_subtrees(kind).
  Rank subtree_size() const;

 private:
  Rank heap_children() const;

  TreeKind kind_;
  std::uint32_t arity_;
  Rank ranks_;
  Rank me_;
  FiboDescent fibo_;
  TreeTable given_;
};

}  // namespace fibocast
