#include "collectives/tree_table.h"

#include <gtest/gtest.h>

#include <vector>

namespace fibocast {
namespace {

using Entries = std::vector<TreeTableEntry>;

// 0 sends to 3, then to 1; 3 to 2 and 4.
Entries small() { return {{0, 1, 0}, {3, 3, 2}, {1, 5, 3}, {2, 5, 1}, {4, 5, 4}}; }

TEST(TreeTable, KnowsParentsAndChildrenInSendOrder) {
  const Entries entries = small();
  const TreeTable table(entries);
  ASSERT_TRUE(is_valid(table));
  EXPECT_EQ(table.ranks(), 5u);
  EXPECT_EQ(table.parent(0), kNoRank);
  EXPECT_EQ(table.parent(3), 0u);
  EXPECT_EQ(table.parent(1), 0u);
  EXPECT_EQ(table.parent(2), 3u);
  EXPECT_EQ(table.parent(4), 3u);
  ASSERT_EQ(table.children(0), 2u);
  EXPECT_EQ(table.child(0, 0), 3u);
  EXPECT_EQ(table.child(0, 1), 1u);
  ASSERT_EQ(table.children(3), 2u);
  EXPECT_EQ(table.child(3, 0), 2u);
  EXPECT_EQ(table.child(3, 1), 4u);
  for (const Rank leaf : {1u, 2u, 4u}) EXPECT_EQ(table.children(leaf), 0u);
}

TEST(TreeTable, OneRankAlone) {
  const Entries entries = {{0, 1, 0}};
  const TreeTable table(entries);
  ASSERT_TRUE(is_valid(table));
  EXPECT_EQ(table.parent(0), kNoRank);
  EXPECT_EQ(table.children(0), 0u);
}

TEST(TreeTable, PlacesFollowFromTheRest) {
  Entries entries = small();
  for (TreeTableEntry& e : entries) e.place = 77;
  ASSERT_TRUE(complete_table(entries));
  EXPECT_EQ(entries, small());
}

TEST(TreeTable, IsComparedByContent) {
  const Entries a = small(), b = small();
  EXPECT_EQ(TreeTable(a), TreeTable(b));
  EXPECT_EQ(TreeTable(), TreeTable());
  EXPECT_FALSE(TreeTable(a) == TreeTable());
  Entries other = small();
  std::swap(other[1].rank, other[2].rank);
  ASSERT_TRUE(complete_table(other));
  EXPECT_FALSE(TreeTable(a) == TreeTable(other));
}

// Each change makes something else than one tree of root 0.
TEST(TreeTable, RefusesWhatIsNoTree) {
  struct Case {
    const char* what;
    std::size_t entry;
    TreeTableEntry wrong;
  };
  const Case cases[] = {
      {"another root", 0, {1, 1, 0}},
      {"a root among its own children", 0, {0, 0, 0}},
      {"entries that nobody has as children", 0, {0, 2, 0}},
      {"a rank below itself", 1, {3, 1, 2}},
      {"first children that go back", 2, {1, 2, 3}},
      {"children beyond the end", 4, {4, 6, 4}},
      {"the last rank as its own child", 4, {4, 4, 4}},
      {"a rank twice, another one missing", 4, {2, 5, 4}},
      {"a rank that does not exist", 4, {5, 5, 4}},
      {"a place that does not exist", 1, {3, 3, 5}},
      {"the place of another rank", 1, {3, 3, 3}},
  };
  for (const Case& c : cases) {
    Entries entries = small();
    entries[c.entry] = c.wrong;
    EXPECT_FALSE(is_valid(TreeTable(entries))) << c.what;
  }
  EXPECT_FALSE(is_valid(TreeTable()));
}

TEST(TreeTable, CompletingSeesTheSameMistakes) {
  Entries twice = small(), beyond = small(), none;
  twice[4].rank = 2, beyond[4].rank = 9;
  EXPECT_FALSE(complete_table(twice));
  EXPECT_FALSE(complete_table(beyond));
  EXPECT_FALSE(complete_table(none));
}

// Every single number changed to every other one: what is accepted is a tree in which all ranks are reached.
TEST(TreeTable, WhateverIsAcceptedReachesAllRanks) {
  for (std::size_t entry = 0; entry < 5; ++entry)
    for (std::uint16_t rank = 0; rank < 7; ++rank)
      for (std::uint16_t first = 0; first < 7; ++first) {
        Entries entries = small();
        entries[entry].rank = rank, entries[entry].first_child = first;
        if (!complete_table(entries)) continue;
        const TreeTable table(entries);
        std::vector<bool> seen(5, false);
        std::vector<Rank> todo = {0};
        for (; !todo.empty();) {
          const Rank v = todo.back();
          todo.pop_back();
          ASSERT_FALSE(seen[v]);
          seen[v] = true;
          for (Rank i = 0; i < table.children(v); ++i) {
            todo.push_back(table.child(v, i));
            ASSERT_EQ(table.parent(table.child(v, i)), v);
          }
        }
        ASSERT_EQ(seen, std::vector<bool>(5, true));
      }
}

}  // namespace
}  // namespace fibocast
