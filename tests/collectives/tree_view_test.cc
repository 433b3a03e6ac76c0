#include "collectives/tree_view.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "collectives/growth.h"
#include "collectives/tree_binomial.h"
#include "collectives/tree_fibo.h"
#include "collectives/tree_kary.h"
#include "collectives/tree_sequential.h"

namespace fibocast {
namespace {

Tree full_tree(const TreeSpec& spec, Rank p) {
  switch (spec.kind) {
    case TreeKind::kSequential: return tree_sequential(p);
    case TreeKind::kKary: return tree_kary(p, spec.arity);
    case TreeKind::kBinomial: return tree_binomial(p);
    default: return tree_fibo(p, spec.s, spec.r);
  }
}

std::vector<TreeSpec> specs() {
  std::vector<TreeSpec> all = {{.kind = TreeKind::kSequential}, {.kind = TreeKind::kBinomial}};
  for (const std::uint32_t arity : {1, 2, 3, 8}) all.push_back({.kind = TreeKind::kKary, .arity = arity});
  for (const auto& [s, r] : std::vector<std::pair<std::uint64_t, std::uint64_t>>{
           {1, 0}, {1, 1}, {1, 3}, {3, 1}, {2, 6}, {5, 4}, {27, 88}, {88, 27}, {1, 50}, {50, 1}, {27000, 88001}})
    all.push_back({.kind = TreeKind::kFibo, .s = s, .r = r});
  all.push_back({.kind = TreeKind::kLambda, .s = 20, .r = 19});
  return all;
}

void expect_same(const TreeSpec& spec, Rank p) {
  const Tree tree = full_tree(spec, p);
  std::vector<Rank> size(p, 1);
  for (Rank v = p - 1; v > 0; --v) size[tree.parent(v)] += size[v];
  for (Rank v = 0; v < p; ++v) {
    const TreeView view(spec, p, v);
    ASSERT_EQ(view.parent(), tree.parent(v));
    ASSERT_EQ(view.children(), tree.children(v).size());
    for (Rank i = 0; i < view.children(); ++i) ASSERT_EQ(view.child(i), tree.children(v)[i]);
    if (has_contiguous_subtrees(spec.kind)) {
      ASSERT_EQ(view.subtree_size(), size[v]);
    }
  }
}

TEST(TreeView, EqualsTheWholeTreeForEveryRank) {
  for (const TreeSpec& spec : specs()) {
    for (Rank p = 1; p <= 70; ++p) expect_same(spec, p);
    for (const Rank p : {100u, 127u, 128u, 129u, 345u, 1000u, 2000u}) expect_same(spec, p);
  }
}

// Going down from the root of a tree nobody could build ends at the rank, through children that name their parent.
TEST(TreeView, HAThousandMillionRanks) {
  constexpr Rank kRanks = 1'000'000'000;
  for (const TreeSpec& spec : specs()) {
    for (const Rank me : {1u, 2u, 999u, 123'456'789u, 500'000'000u, 999'999'999u}) {
      if (spec.kind == TreeKind::kKary && spec.arity == 1) continue;  // a chain: its depth is the number of ranks
      Rank steps = 0;
      for (Rank v = me; v != 0; ++steps) {
        const Rank parent = TreeView(spec, kRanks, v).parent();
        ASSERT_LT(parent, v);
        if (spec.kind != TreeKind::kSequential) {
          const TreeView above(spec, kRanks, parent);
          bool is_child = false;
          for (Rank i = 0; i < above.children() && !is_child; ++i) is_child = above.child(i) == v;
          ASSERT_TRUE(is_child);
        }
        v = parent;
      }
      ASSERT_LE(steps, 30u);
    }
  }
}

TEST(TreeView, HTheLargestGroup) {
  for (const TreeSpec& spec : specs()) {
    const TreeView last(spec, kNoRank, kNoRank - 1);
    EXPECT_LT(last.parent(), kNoRank - 1);
    EXPECT_EQ(TreeView(spec, kNoRank, 0).parent(), kNoRank);
  }
}

TEST(TreeView, MirrorExchangesSendAndReceive) {
  EXPECT_EQ(mirror({.s = 27, .r = 88}), (TreeSpec{.s = 88, .r = 27}));
  EXPECT_EQ(mirror({.s = 27, .r = 0}).kind, TreeKind::kSequential);
  EXPECT_EQ(mirror({.kind = TreeKind::kKary, .arity = 3}), (TreeSpec{.kind = TreeKind::kKary, .arity = 3}));
}

TEST(TreeView, RefusesWhatIsNoTree) {
  EXPECT_FALSE(is_valid({.s = 0, .r = 1}));
  EXPECT_FALSE(is_valid({.s = kMaxLatency + 1, .r = 1}));
  EXPECT_FALSE(is_valid({.kind = TreeKind::kKary, .arity = 0}));
  EXPECT_FALSE(is_valid({.kind = static_cast<TreeKind>(77)}));
  EXPECT_TRUE(is_valid({.s = 1, .r = 0}));
}

}  // namespace
}  // namespace fibocast
