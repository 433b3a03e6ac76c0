#include "collectives/models/figures.h"

#include <gtest/gtest.h>

#include <set>

namespace fibocast {
namespace {

TEST(Figures, EachHasItsOwnNameATitleAndFullRows) {
  std::set<std::string_view> ids;
  for (const FigureEntry& figure : all_figures()) {
    EXPECT_TRUE(ids.insert(figure.id).second) << figure.id;
    EXPECT_EQ(figure.id.find(':'), 3u) << figure.id;
    EXPECT_FALSE(figure.title.empty()) << figure.id;
    const FigureTable table = figure.make();
    EXPECT_FALSE(table.rows.empty()) << figure.id;
    for (const auto& row : table.rows) EXPECT_EQ(row.size(), table.columns.size()) << figure.id;
  }
}

TEST(Figures, AreFoundByName) {
  EXPECT_EQ(find_figure("003:10").value().id, "003:10");
  EXPECT_FALSE(find_figure("003:11"));
  EXPECT_FALSE(find_figure(""));
}

}  // namespace
}  // namespace fibocast
