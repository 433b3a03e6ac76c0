#include <gtest/gtest.h>

#include "collectives/tree_binomial.h"
#include "collectives/tree_kary.h"
#include "tests/collectives/models/figure_rows.h"

namespace fibocast {
namespace {

using test::figure;
using test::Row;
using test::row;

TEST(Figures003, A7TheGrowthThatIsPrintedWithAnError) {
  EXPECT_EQ(row(figure("003:section3.2"), {"12"}), Row{"26"});
  EXPECT_EQ(row(figure("003:section3.2"), {"20"}), Row{"345"});
}

TEST(Figures003, A22TreesOfSixtyFour) {
  const FigureTable table = figure("003:section4.3");
  Row times;
  for (const Row& row : table.rows) times.push_back(row[2]);
  EXPECT_EQ(times, (Row{"15", "24", "25", "30", "20", "22", "66"}));
}

TEST(Figures003, A23ThreeTreesByRatio) {
  EXPECT_EQ(row(figure("003:4"), {"4", "64"}), (Row{"220", "288", "144"}));
  EXPECT_EQ(row(figure("003:4"), {"100", "64"}), (Row{"720", "480", "720"}));
  EXPECT_EQ(row(figure("003:4"), {"30", "1"}), (Row{"0", "0", "0"}));
}

// (s + r) log2(p + 1) < (log2(p + 1) - 1) (2 s + r) if and only if r / s < log2(p + 1) - 2.
TEST(Figures003, A23BinomialAgainstCompleteBinary) {
  for (Rank levels = 1; levels <= 10; ++levels) {
    const Rank p = (1u << levels) - 1;
    for (std::uint64_t r = 0; r <= 200; r += 5)
      EXPECT_EQ(completion(tree_binomial(p + 1), 20, r) < completion(tree_kary(p, 2), 20, r), r + 40 < 20 * levels);
  }
}

TEST(Figures003, A24GrowthBases) {
  EXPECT_EQ(row(figure("003:7"), {"0"}), Row{"2"});
  EXPECT_EQ(row(figure("003:7"), {"1"}), Row{"1.618034"});
  EXPECT_EQ(row(figure("003:7"), {"8"}), Row{"1.21315"});
  const Row crossing = row(figure("003:6"), {"1.465571"});
  EXPECT_EQ(crossing[0], crossing[1]);
}

TEST(Figures003, A25NineteenProcesses) {
  EXPECT_EQ(row(figure("003:10"), {"19"}), (Row{"574", "460", "372", "345", "311"}));
  EXPECT_EQ(row(figure("003:10"), {"2"}), (Row{"115", "115", "115", "115", "115"}));
}

TEST(Figures003, A26A27Manna) {
  const FigureTable table = figure("003:section5");
  EXPECT_EQ(row(table, {"s"}), Row{"27"});
  EXPECT_EQ(row(table, {"r"}), Row{"88"});
  EXPECT_EQ(row(table, {"19 processes, Fibo(1,4)"}), Row{"331"});
  EXPECT_EQ(row(table, {"19 processes, eight-ary"}), Row{"419"});
}

TEST(Figures003, A28WhereSequentialWins) {
  const FigureTable table = figure("003:section5.binomial");
  for (int p = 2; p <= 20; ++p)
    EXPECT_EQ(row(table, {std::to_string(p)})[2], p <= 3 ? "equal" : p <= 10 ? "sequential" : "binomial") << p;
}

}  // namespace
}  // namespace fibocast
