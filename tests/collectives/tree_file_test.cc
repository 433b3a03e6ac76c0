#include "collectives/tree_file.h"

#include <gtest/gtest.h>

#include <vector>

#include "collectives/tree_fibo.h"
#include "tests/collectives/children.h"

namespace fibocast {
namespace {

using Ranks = std::vector<Rank>;

Tree read(std::string_view text) {
  std::string error;
  auto tree = parse_tree(text, error);
  EXPECT_TRUE(tree) << error;
  return tree ? *tree : Tree::from_parents({kNoRank}, SendOrder::kAscending);
}

std::string refusal(std::string_view text) {
  std::string error;
  EXPECT_FALSE(parse_tree(text, error)) << text;
  return error;
}

TEST(TreeFile, AParentPerRank) {
  const Tree tree = read("# a comment\n- 0 0\n1\t# rank 3\r\n");
  EXPECT_EQ(tree.root(), 0u);
  EXPECT_EQ(test::children(tree, 0), (Ranks{1, 2}));
  EXPECT_EQ(test::children(tree, 1), (Ranks{3}));
}

TEST(TreeFile, AnOrderOfSending) {
  EXPECT_EQ(test::children(read("- 0 0 0 order 0 2 3 1"), 0), (Ranks{2, 3, 1}));
  EXPECT_EQ(test::children(read("2 2 -\norder 1 0 2\n"), 2), (Ranks{1, 0}));
}

TEST(TreeFile, OneRank) { EXPECT_EQ(read("-").size(), 1u); }

TEST(TreeFile, WhatIsWrittenIsReadAgain) {
  const Tree tree = tree_fibo(64, 1, 3).rotated(7);
  const Tree again = read(to_text(tree));
  for (Rank v = 0; v < 64; ++v) EXPECT_EQ(test::children(again, v), test::children(tree, v));
}

TEST(TreeFile, Refusals) {
  EXPECT_EQ(refusal("- 0\n0 4"), "line 2: \"4\" is neither - nor a rank, 0 to 3");
  EXPECT_EQ(refusal("- 0 x"), "line 1: \"x\" is neither - nor a rank, 0 to 2");
  EXPECT_EQ(refusal("- -1"), "line 1: \"-1\" is neither - nor a rank, 0 to 1");
  EXPECT_EQ(refusal("-\n\n-"), "line 3: \"-\" makes a second root");
  EXPECT_EQ(refusal("0 0"), "a tree has a root: write - for its parent");
  EXPECT_EQ(refusal("- 2 1"), "some ranks are not below the root: their parents go round in a circle");
  EXPECT_EQ(refusal("- 1"), "some ranks are not below the root: their parents go round in a circle");
  EXPECT_EQ(refusal("- 0\norder 0 1 1"), "line 2: \"1\" is in the order twice");
  EXPECT_EQ(refusal("- 0\norder 0 2"), "line 2: \"2\" is not a rank, 0 to 1");
  EXPECT_EQ(refusal("- 0 order 1"), "the order names 1 of 2 ranks");
  for (const char* nothing : {"", "  \n", "# only a comment", "order 0"})
    EXPECT_TRUE(refusal(nothing).starts_with("a tree has 1 to ")) << nothing;
}

}  // namespace
}  // namespace fibocast
