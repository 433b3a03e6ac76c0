#include "collectives/tree_mesh.h"

#include <gtest/gtest.h>

#include "tests/collectives/golden.h"

namespace fibocast {
namespace {

TEST(TreeMesh, D1D2GoldenParentsAndPhases) {
  for (const auto& entry : test::golden("mesh.json", "links")) {
    const unsigned n = entry["n"];
    for (Rank b = 0; b < Rank{1} << n; ++b) {
      const int parent = entry["parent"][b];
      EXPECT_EQ(divide_parent(n, b), parent < 0 ? kNoRank : static_cast<Rank>(parent));
      EXPECT_EQ(divide_phase(n, b), entry["phase"][b]);
    }
  }
}

TEST(TreeMesh, D1SubtreesLargestFirst) {
  const Tree tree = tree_mesh(4);
  EXPECT_EQ(tree.root(), 15u);
  EXPECT_EQ(std::vector<Rank>(tree.children(15).begin(), tree.children(15).end()), (std::vector<Rank>{7, 11, 13, 14}));
  EXPECT_EQ(std::vector<Rank>(tree.children(7).begin(), tree.children(7).end()), (std::vector<Rank>{3, 5, 6}));
  EXPECT_EQ(divide_child(15, 3), 7u);
  EXPECT_TRUE(tree.children(8).empty());
  for (unsigned n = 0; n <= 12; ++n) EXPECT_TRUE(tree_mesh(n).is_valid());
}

// A node is active in the phase after its parent's or later: r = 0 and s = 1 is one phase per send.
TEST(TreeMesh, D2PhasesAreTheTimesOfTheTree) {
  for (unsigned n = 0; n <= 10; ++n) {
    const Tree tree = tree_mesh(n);
    const auto time = activation_times(tree, 1, 0);
    std::vector<std::uint64_t> edges(n + 1);
    for (Rank b = 0; b < tree.size(); ++b) {
      EXPECT_EQ(time[b], divide_phase(n, b));
      ++edges[divide_phase(n, b)];
    }
    for (unsigned i = 1; i <= n; ++i) EXPECT_EQ(edges[i], std::uint64_t{1} << (i - 1));
  }
}

}  // namespace
}  // namespace fibocast
