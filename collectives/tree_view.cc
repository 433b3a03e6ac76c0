#include "collectives/tree_view.h"

#include <algorithm>

#include "collectives/check.h"
#include "collectives/growth.h"

namespace fibocast {
namespace {

bool is_fibo_numbered(TreeKind kind) {
  return kind == TreeKind::kFibo || kind == TreeKind::kLambda || kind == TreeKind::kBinomial;
}

// The shapes that are no Fibo-tree get a trivial descent: one process.
FiboDescent descend(const TreeSpec& spec, Rank ranks, Rank me) {
  check(is_valid(spec) && me < ranks);
  if (!is_fibo_numbered(spec.kind)) return {1, 0, 1, 0};
  if (spec.kind == TreeKind::kBinomial) return {1, 0, ranks, me};  // receiving costs nothing
  return {spec.s, spec.r, ranks, me};
}

}  // namespace

bool is_valid(const TreeSpec& spec) {
  switch (spec.kind) {
    case TreeKind::kSequential:
    case TreeKind::kBinomial:
    case TreeKind::kGiven: return true;
    case TreeKind::kKary: return spec.arity >= 1;
    case TreeKind::kFibo:
    case TreeKind::kLambda: return are_latencies_valid(spec.s, spec.r);
  }
  return false;
}

TreeSpec mirror(const TreeSpec& spec) {
  if (spec.kind != TreeKind::kFibo && spec.kind != TreeKind::kLambda) return spec;
  if (spec.r == 0) return {.kind = TreeKind::kSequential};
  return {.kind = spec.kind, .s = spec.r, .r = spec.s};
}

bool has_contiguous_subtrees(TreeKind kind) { return kind != TreeKind::kKary && kind != TreeKind::kGiven; }

TreeView::TreeView(const TreeSpec& spec, Rank ranks, Rank me, const TreeTable& given)
    : kind_(spec.kind), arity_(spec.arity), ranks_(ranks), me_(me), fibo_(descend(spec, ranks, me)), given_(given) {
  check(kind_ != TreeKind::kGiven || given_.ranks() == ranks);
}

Rank TreeView::parent() const {
  if (me_ == 0) return kNoRank;
  if (kind_ == TreeKind::kSequential) return 0;
  if (kind_ == TreeKind::kKary) return (me_ - 1) / arity_;
  if (kind_ == TreeKind::kGiven) return given_.parent(me_);
  return fibo_.parent();
}

Rank TreeView::children() const {
  if (kind_ == TreeKind::kSequential) return me_ == 0 ? ranks_ - 1 : 0;
  if (kind_ == TreeKind::kKary) return heap_children();
  if (kind_ == TreeKind::kGiven) return given_.children(me_);
  return fibo_.children();
}

// Heap order: the children of v are n v + 1 .. n v + n (A20).
Rank TreeView::heap_children() const {
  const std::uint64_t first = std::uint64_t{me_} * arity_ + 1;
  return first >= ranks_ ? 0 : static_cast<Rank>(std::min<std::uint64_t>(arity_, ranks_ - first));
}

Rank TreeView::child(Rank i) const {
  check(i < children());
  if (kind_ == TreeKind::kSequential) return i + 1;
  if (kind_ == TreeKind::kKary) return static_cast<Rank>(std::uint64_t{me_} * arity_ + 1 + i);
  if (kind_ == TreeKind::kGiven) return given_.child(me_, i);
  return fibo_.child(i);
}

Rank TreeView::source(Rank i) const {
  const Rank count = children();
  // Fibo-numbered: the largest subtree, of the highest ranks, is sent to first (A13).
  const bool reversed = count > 1 && (kind_ == TreeKind::kGiven || child(0) > child(1));
  return child(reversed ? count - 1 - i : i);
}

Rank TreeView::subtree_size() const {
  check(has_contiguous_subtrees(kind_));
  if (kind_ == TreeKind::kSequential) return me_ == 0 ? ranks_ : 1;
  return fibo_.subtree_size();
}

}  // namespace fibocast
