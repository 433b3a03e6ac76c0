#include "collectives/models/postal_partition.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/collectives/golden.h"
#include "tests/collectives/models/latencies.h"

namespace fibocast {
namespace {

using test::latencies;

std::uint64_t first_entry(const Rational& lambda, std::uint64_t ranks) {
  const LatencyRatio l = latencies(lambda);
  std::string error;
  return AlphaTable::make(ranks, l.s, l.r, error)->entries().front().most_ranks;
}

TEST(PostalPartition, HLambdaIsAtLeastOne) {
  std::string error;
  EXPECT_TRUE(postal_latencies(1, error));
  EXPECT_TRUE(postal_latencies(Rational(33, 4), error));
  EXPECT_FALSE(postal_latencies(Rational(99, 100), error));
  EXPECT_EQ(error, "lambda must be at least 1");
  EXPECT_FALSE(postal_latencies(UINT64_MAX, error));
  EXPECT_EQ(error, "lambda is too large or has too many digits");
}

TEST(PostalPartition, B12GoldenTops) {
  for (const auto& entry : test::golden("postal.json", "tops")) {
    const LatencyRatio l = latencies(test::rational(entry["lam"]));
    const std::uint64_t last = entry["points"].back()[1];
    const std::vector<PartitionTriangle> triangles = partition_triangles(last, l);
    ASSERT_EQ(triangles.size(), entry["points"].size());
    for (std::size_t i = 0; i < triangles.size(); ++i) {
      const auto& point = entry["points"][i];
      EXPECT_EQ(triangles[i].top, (PartitionPoint{Rational(point[0], point[1]), point[1]}));
    }
  }
}

TEST(PostalPartition, B12CornersAreTheExtremesOfTheLegalRange) {
  for (const Rational& lambda : {Rational(1), Rational(2), Rational(9, 5), Rational(39, 20), Rational(33, 4)}) {
    const LatencyRatio l = latencies(lambda);
    std::uint64_t above = 1;
    for (const PartitionTriangle& t : partition_triangles(2000, l)) {
      EXPECT_EQ(t.left_bottom.ranks, above + 1);
      const PartitionRange widest = legal_partitions(above + 1, l.s, l.r);
      EXPECT_EQ(t.left_bottom.alpha, Rational(widest.least, above + 1));
      EXPECT_EQ(t.right_bottom.alpha, Rational(widest.most, above + 1));
      EXPECT_EQ(t.ticks, static_cast<std::uint64_t>(distribution_latency(t.top.ranks, l.s, l.r)));
      if (t.top.ranks == above + 1) {
        EXPECT_EQ(t.left_bottom, t.top);
        EXPECT_EQ(t.right_bottom, t.top);
      }
      above = t.top.ranks;
    }
  }
}

TEST(PostalPartition, B13GoldenLimits) {
  for (const auto& entry : test::golden("postal.json", "beta")) {
    const PartitionLimits limits = partition_limits(latencies(test::rational(entry["lam"])));
    EXPECT_NEAR(limits.beta, entry["beta"], 1e-11);
    EXPECT_NEAR(limits.top, entry["top"], 1e-11);
    EXPECT_NEAR(limits.left_bottom, entry["left_bottom"], 1e-11);
    EXPECT_NEAR(limits.right_bottom, entry["right_bottom"], 1e-11);
  }
}

// Slowly at lambda = 9/5: the other roots are nearly as large.
TEST(PostalPartition, B13CornersTendToTheLimits) {
  for (const Rational& lambda : {Rational(2), Rational(9, 5), Rational(5, 2)}) {
    const LatencyRatio l = latencies(lambda);
    const PartitionLimits limits = partition_limits(l);
    const PartitionTriangle last = partition_triangles(1'000'000'000, l).back();
    EXPECT_NEAR(last.top.alpha.approximately(), limits.top, 0.005);
    EXPECT_NEAR(last.left_bottom.alpha.approximately(), limits.left_bottom, 0.005);
    EXPECT_NEAR(last.right_bottom.alpha.approximately(), limits.right_bottom, 0.005);
  }
}

TEST(PostalPartition, B14SixValuesOfLambdaHaveASingleAlpha) {
  const std::vector<std::pair<Rational, double>> all = {{1, 0.5},          {Rational(3, 2), 0.5698402910},
                                                        {2, 0.6180339887}, {3, 0.6823278038},
                                                        {4, 0.7244919590}, {5, 0.7548776662}};
  for (const auto& [lambda, alpha] : all) {
    ASSERT_TRUE(single_alpha(lambda));
    EXPECT_NEAR(*single_alpha(lambda), alpha, 1e-10);
    const LatencyRatio l = latencies(lambda);
    EXPECT_EQ(single_alpha_reach(20'000, l), 20'000u);
    for (std::uint64_t n = 2; n <= 20'000; ++n) {
      const PartitionRange range = legal_partitions(n, l.s, l.r);
      const auto rounded = static_cast<std::uint64_t>(std::floor(alpha * static_cast<double>(n) + 0.5));
      const std::uint64_t kept = std::clamp<std::uint64_t>(rounded, 1, n - 1);
      ASSERT_TRUE(range.least <= kept && kept <= range.most) << n;
    }
  }
}

TEST(PostalPartition, B14TheErrorAtTheTopsStaysBelowOneHalf) {
  const std::vector<std::pair<Rational, double>> all = {{Rational(3, 2), 0.290}, {2, 0.236}, {3, 0.365}, {4, 0.449}};
  for (const auto& [lambda, most] : all) {
    double error = 0;
    for (const PartitionTriangle& t : partition_triangles(20'000, latencies(lambda))) {
      const auto n = static_cast<double>(t.top.ranks);
      error = std::max(error, std::abs(t.top.alpha.approximately() * n - *single_alpha(lambda) * n));
    }
    EXPECT_NEAR(error, most, 0.0005) << lambda.to_string();
  }
}

// With how many ranks one alpha goes: `first_entry` by the tops below it (B11), `reach` by every single size.
TEST(PostalPartition, B14AllOthersFail) {
  struct Failure {
    Rational lambda;
    std::uint64_t first_entry;
    std::uint64_t reach;
  };
  const std::vector<Failure> failures = {{6, 12, 15},
                                         {7, 10, 12},
                                         {8, 11, 13},
                                         {Rational(9, 5), 20, 20},
                                         {Rational(39, 20), 20, 20},
                                         {Rational(1293, 1000), 15, 15},
                                         {Rational(21, 20), 15, 15},
                                         {Rational(5, 2), 348, 428}};
  for (const Failure& f : failures) {
    EXPECT_FALSE(single_alpha(f.lambda));
    EXPECT_EQ(first_entry(f.lambda, 20'000), f.first_entry) << f.lambda.to_string();
    EXPECT_EQ(single_alpha_reach(20'000, latencies(f.lambda)), f.reach) << f.lambda.to_string();
  }
}

}  // namespace
}  // namespace fibocast
