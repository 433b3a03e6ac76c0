#include "collectives/tree_kary.h"

#include <gtest/gtest.h>

#include "tests/collectives/golden.h"

namespace fibocast {
namespace {

TEST(TreeKary, A20HeapOrder) {
  const Tree tree = tree_kary(9, 3);
  EXPECT_EQ(tree.children(0)[2], 3u);
  EXPECT_EQ(tree.children(1).front(), 4u);
  EXPECT_EQ(tree.children(2).size(), 2u);
  EXPECT_TRUE(tree.children(3).empty());
}

TEST(TreeKary, A20GoldenFormulaOfCompleteTrees) {
  for (const auto& entry : test::golden("fibo.json", "formulas"))
    EXPECT_EQ(completion(tree_kary(entry["p"], entry["n"]), entry["s"], entry["r"]), entry["cost"]);
}

}  // namespace
}  // namespace fibocast
