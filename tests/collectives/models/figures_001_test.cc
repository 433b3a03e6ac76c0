#include <gtest/gtest.h>

#include "tests/collectives/models/figure_rows.h"

namespace fibocast {
namespace {

using test::figure;
using test::Row;
using test::row;

TEST(Figures001, C2C3Tables) {
  EXPECT_EQ(row(figure("001:table1"), {"slow"}), (Row{"90", "0.18", "140", "0.08"}));
  EXPECT_EQ(row(figure("001:table1"), {"fast"}), (Row{"60", "0.05", "110", "0.03"}));
  EXPECT_EQ(row(figure("001:table2"), {"fast", "slow"}), (Row{"200", "216"}));
  EXPECT_EQ(row(figure("001:table2"), {"slow", "slow"}), (Row{"230", "246"}));
}

TEST(Figures001, C12Configurations) {
  EXPECT_EQ(row(figure("001:3"), {"literal", "0"}), (Row{"372", "462", "462", "402"}));
  EXPECT_EQ(row(figure("001:3"), {"folded", "1000"}), (Row{"660", "980", "1060", "740"}));
  EXPECT_EQ(row(figure("001:4"), {"literal", "1000"}), (Row{"566", "646", "1046", "646"}));
  EXPECT_EQ(row(figure("001:5"), {"folded", "0"}), (Row{"390", "390", "480", "390"}));
}

TEST(Figures001, C14C15C16Trees) {
  EXPECT_EQ(row(figure("001:6"), {"hierarchical", "7"}), (Row{"slow", "3", "490"}));
  EXPECT_EQ(row(figure("001:6"), {"slow-first", "7"}), (Row{"slow", "0", "380"}));
  const Row eight = row(figure("001:7"), {"literal", "8", "1024"});
  EXPECT_EQ(eight[2], "1003.28");
  EXPECT_EQ(eight[4], "810.88");
  EXPECT_EQ(row(figure("001:7"), {"folded", "16", "0"})[2], "730");
}

TEST(Figures001, C17Gather) {
  EXPECT_EQ(row(figure("001:8"), {"folded", "8", "1024", "2"})[0], "1282.48");
  EXPECT_EQ(row(figure("001:8"), {"folded", "8", "8192", "8"})[0], "5412.88");
}

}  // namespace
}  // namespace fibocast
