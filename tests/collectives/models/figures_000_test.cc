#include <gtest/gtest.h>

#include <algorithm>

#include "tests/collectives/golden.h"
#include "tests/collectives/models/figure_rows.h"

namespace fibocast {
namespace {

using Rows = std::vector<std::vector<std::string>>;
using test::figure;

TEST(Figures000, EveryRowHasEveryColumn) {
  for (const FigureEntry& entry : figures_000()) {
    const FigureTable table = entry.make();
    EXPECT_FALSE(table.rows.empty()) << entry.id;
    for (const auto& row : table.rows) EXPECT_EQ(row.size(), table.columns.size()) << entry.id;
  }
}

TEST(Figures000, B4TheBinomialTreeTakesSixTheLambdaTreeFive) {
  const auto last = [](const FigureTable& table) {
    int most = 0;
    for (const auto& row : table.rows) most = std::max(most, std::stoi(row[2]));
    return most;
  };
  EXPECT_EQ(last(figure("000:1")), 6);
  EXPECT_EQ(last(figure("000:2")), 5);
}

TEST(Figures000, B8LegalPartitions) {
  EXPECT_EQ(figure("000:6").rows[12], (std::vector<std::string>{"14", "6", "13", "11/28", "1"}));
  EXPECT_EQ(figure("000:6").rows.size(), 249u);
  EXPECT_EQ(figure("000:7").rows.size(), 249u);
}

TEST(Figures000, B12TheTopsAreTheGoldenOnes) {
  const FigureTable table = figure("000:8");
  for (const auto& entry : test::golden("postal.json", "tops")) {
    if (entry["lam"] != "39/20") continue;
    ASSERT_LE(table.rows.size(), entry["points"].size());
    for (std::size_t i = 0; i < table.rows.size(); ++i) {
      EXPECT_EQ(table.rows[i][1], std::to_string(entry["points"][i][1].get<int>()));
      EXPECT_EQ(table.rows[i][2], Rational(entry["points"][i][0], entry["points"][i][1]).to_string());
    }
  }
}

TEST(Figures000, B11SizesOfTheTable) {
  const Rows rows = figure("000:9").rows;
  EXPECT_EQ(rows[0], (std::vector<std::string>{"10", "1"}));
  EXPECT_EQ(rows[9], (std::vector<std::string>{"100", "9"}));
  EXPECT_EQ(rows[99], (std::vector<std::string>{"1000", "32"}));
}

TEST(Figures000, B15TheCurve) {
  const Rows rows = figure("000:12").rows;
  EXPECT_NE(std::ranges::find(rows, std::vector<std::string>{"1.8", "71/128", "45/76", "9.2"}), rows.end());
  EXPECT_NE(std::ranges::find(rows, std::vector<std::string>{"1.8", "1/2", "65/128", "10.8"}), rows.end());
}

TEST(Figures000, B25Combine) {
  EXPECT_EQ(figure("000:15").rows, (Rows{{"1", "0", "T", "1", "1"},
                                         {"2", "1", "S", "0", "1"},
                                         {"3", "0", "T", "2", "2"},
                                         {"4", "0", "T", "2", "4"},
                                         {"5", "0", "T", "4", "6"}}));
  EXPECT_EQ(figure("000:16").rows[3], (std::vector<std::string>{"4", "1", "S", "1", "3"}));
}

TEST(Figures000, B29B30Tables) {
  EXPECT_EQ(figure("000:table1").rows[1], (std::vector<std::string>{"2", "1.618034"}));
  EXPECT_EQ(figure("000:table2").rows[0], (std::vector<std::string>{"1", "1.44042"}));
  EXPECT_EQ(figure("000:18").rows[15], (std::vector<std::string>{"2.5", "11.5", "13", "12.5"}));
}

}  // namespace
}  // namespace fibocast
