#include "collectives/models/postal_congestion.h"

#include <gtest/gtest.h>

#include "collectives/alpha_partition.h"
#include "tests/collectives/golden.h"

namespace fibocast {
namespace {

std::uint64_t conflicts(const MeshPlacement& placement, const LatencyRatio& lambda, const Rational& alpha,
                        std::uint64_t hold) {
  std::string error;
  const auto kept = [&alpha](std::uint64_t n) { return kept_share(alpha, n); };
  return count_conflicts(placement, lambda, hold, kept, error).value();
}

TEST(PostalCongestion, B19GoldenPairs) {
  for (const auto& entry : test::golden("postal.json", "congestion")) {
    const LatencyRatio l = latencies_of_lambda(test::rational(entry["lam"])).value();
    const MeshPlacement placement{entry["rows"], entry["cols"], entry["pids"].get<std::vector<std::uint32_t>>()};
    EXPECT_EQ(conflicts(placement, l, test::rational(entry["alpha"]), l.s), entry["pairs"]);
  }
}

TEST(PostalCongestion, B19RowMajorFromAnySourceIsFree) {
  const std::vector<std::pair<std::uint32_t, std::uint32_t>> meshes = {{8, 8}, {4, 16}, {16, 4}};
  for (const auto& [rows, columns] : meshes)
    for (std::uint32_t source = 0; source < rows * columns; ++source)
      for (const Rational& alpha : {Rational(1, 2), Rational(29, 50), Rational(309, 500), Rational(3, 4)})
        EXPECT_EQ(conflicts(row_major_placement(rows, columns, source), {5, 4}, alpha, 5), 0u) << source;
}

TEST(PostalCongestion, B19HoldingTheRouteForLambdaConflicts) {
  EXPECT_EQ(conflicts(row_major_placement(8, 8, 0), {5, 4}, Rational(1, 2), 9), 27u);
}

TEST(PostalCongestion, RefusesWrongPlacements) {
  std::string error;
  const auto half = [](std::uint64_t n) { return n - n / 2; };
  const auto refused = [&](std::vector<std::uint32_t> pids) {
    return !count_conflicts({2, 2, std::move(pids)}, {1, 0}, 1, half, error);
  };
  EXPECT_TRUE(refused({}));
  EXPECT_TRUE(refused({0, 4}));
  EXPECT_EQ(error, "a processor is not on the mesh");
  EXPECT_TRUE(refused({1, 1}));
  EXPECT_EQ(error, "a processor is twice in the list");
  EXPECT_TRUE(refused(std::vector<std::uint32_t>(5000, 0)));
  EXPECT_FALSE(refused({3}));
}

}  // namespace
}  // namespace fibocast
