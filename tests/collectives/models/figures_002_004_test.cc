// The figures of the papers on meshes and fat trees: every one can be made and says what the paper draws.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/collectives/models/figure_rows.h"

namespace fibocast {
namespace {

using test::figure;
using test::Row;

bool has_row(const FigureTable& table, const Row& row) {
  return std::find(table.rows.begin(), table.rows.end(), row) != table.rows.end();
}

TEST(Figures002And004, RowsAreAsWideAsTheHeading) {
  for (const auto figures : {figures_002(), figures_004()})
    for (const FigureEntry& f : figures) {
      const FigureTable table = f.make();
      EXPECT_FALSE(table.rows.empty()) << f.id;
      for (const Row& row : table.rows) EXPECT_EQ(row.size(), table.columns.size()) << f.id;
    }
}

TEST(Figures002, D17) {
  EXPECT_TRUE(has_row(figure("002:1"), {"7", "15", "8", "1"}));
  EXPECT_EQ(figure("002:2").rows.size(), 15u);
  EXPECT_TRUE(has_row(figure("002:2"), {"RLL", "4"}));
  EXPECT_EQ(figure("002:3").rows.size(), 15u);
  EXPECT_TRUE(has_row(figure("002:4"), {"4", "15", "2", "2"}));
  EXPECT_TRUE(has_row(figure("002:5"), {"6", "32", "11", "21"}));
  EXPECT_TRUE(has_row(figure("002:6"), {"5", "31", "4", "2"}));
}

TEST(Figures004, E17) {
  EXPECT_TRUE(has_row(figure("004:1"), {"13", "2", "1", "14", "4", "7"}));
  EXPECT_TRUE(has_row(figure("004:2"), {"8", "3", "4", "7", "1", "9"}));
  const FigureTable flooding = figure("004:3");
  EXPECT_EQ(flooding.rows.back()[0], "5");
  EXPECT_EQ(flooding.rows.size(), 4u * 6);  // every packet on each of the 6 branches
  EXPECT_TRUE(has_row(figure("004:4"), {"8", "T_L", "0", "5", "9"}));
  EXPECT_TRUE(has_row(figure("004:table1"), {"8", "constant", "6", "9", "9", "16"}));
}

}  // namespace
}  // namespace fibocast
