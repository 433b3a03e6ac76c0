#include "collectives/models/postal_curve.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

#include "collectives/growth.h"
#include "collectives/models/postal_partition.h"
#include "collectives/tree_lambda.h"
#include "tests/collectives/golden.h"
#include "tests/collectives/models/latencies.h"

namespace fibocast {
namespace {

using test::latencies;

TEST(PostalCurve, B7GoldenCompletionWithConstantAlpha) {
  for (const auto& entry : test::golden("postal.json", "alpha_time"))
    EXPECT_EQ(alpha_completion(entry["n"], latencies(test::rational(entry["lam"])), test::rational(entry["alpha"])),
              entry["ticks"]);
}

TEST(PostalCurve, B7TheRecurrenceIsTheCostOfTheTree) {
  for (const Rational& alpha : {Rational(1, 3), Rational(1, 2), Rational(29, 50), Rational(9, 10)})
    for (Rank n = 1; n <= 200; ++n)
      ASSERT_EQ(alpha_completion(n, {5, 4}, alpha), completion(tree_lambda_alpha(n, alpha), 5, 4));
}

TEST(PostalCurve, B11TheTableTakesTheOptimum) {
  std::string error;
  for (const Rational& lambda : {Rational(1), Rational(9, 5), Rational(1293, 1000), Rational(33, 4)}) {
    const LatencyRatio l = latencies(lambda);
    const AlphaTable table = AlphaTable::make(1'000'000'000, l.s, l.r, error).value();
    for (const std::uint64_t n : {1u, 2u, 200u, 12'345u, 1'000'000'000u})
      EXPECT_EQ(alpha_completion(n, l, table), static_cast<std::uint64_t>(distribution_latency(n, l.s, l.r))) << n;
  }
}

// C(n) over all n' is T(n) (B3).
TEST(PostalCurve, B3TheBestCutTakesTheOptimum) {
  for (const Rational& lambda : {Rational(1), Rational(2), Rational(9, 5), Rational(7, 3)}) {
    const LatencyRatio l = latencies(lambda);
    for (std::uint64_t n = 1; n <= 200; ++n)
      EXPECT_EQ(partition_completion(n, l, [&](std::uint64_t m) { return legal_partitions(m, l.s, l.r).least; }),
                static_cast<std::uint64_t>(distribution_latency(n, l.s, l.r)));
  }
}

TEST(PostalCurve, B15GoldenCurves) {
  for (const auto& entry : test::golden("postal.json", "alpha_curve")) {
    const auto& segments = entry["segments"];
    const AlphaInterval all{test::rational(segments.front()[0]), test::rational(segments.back()[1])};
    const auto curve = alpha_curve(entry["n"], latencies(test::rational(entry["lam"])), all);
    ASSERT_EQ(curve.size(), segments.size());
    for (std::size_t i = 0; i < curve.size(); ++i)
      EXPECT_EQ(curve[i], (AlphaSegment{{test::rational(segments[i][0]), test::rational(segments[i][1])},
                                        segments[i][2].get<std::uint64_t>()}));
  }
}

TEST(PostalCurve, B15SegmentsAreHalfOpen) {
  for (const AlphaSegment& s : alpha_curve(64, {5, 4}, {Rational(1, 2), Rational(9, 10)})) {
    EXPECT_EQ(alpha_completion(64, {5, 4}, s.alphas.from), s.ticks);
    EXPECT_EQ(alpha_completion(64, {5, 4}, s.alphas.below - Rational(1, 1'000'000)), s.ticks);
    EXPECT_NE(alpha_completion(64, {5, 4}, s.alphas.below), s.ticks);
  }
}

// The alphas with the least time.
AlphaSegment best(const Rational& lambda) {
  const auto curve = alpha_curve(64, latencies(lambda), {Rational(1, 2), 1});
  return *std::ranges::min_element(curve, {}, &AlphaSegment::ticks);
}

TEST(PostalCurve, B15TheSameBestAlphaFrom17To195) {
  for (std::uint64_t hundredths = 170; hundredths <= 195; ++hundredths)
    EXPECT_EQ(best(Rational(hundredths, 100)).alphas, (AlphaInterval{Rational(71, 128), Rational(45, 76)}));
  EXPECT_EQ(best(Rational(9, 5)).ticks, 46u);
  EXPECT_NEAR(1 - 46.0 / 54, 0.148, 0.0005);
}

TEST(PostalCurve, B15OneHalfIsBestForLargeMessages) {
  const AlphaSegment segment = best(Rational(21, 20));
  EXPECT_EQ(segment.alphas.from, Rational(1, 2));
  EXPECT_EQ(Rational(segment.ticks, 20), Rational(63, 10));
}

TEST(PostalCurve, HSmallestSizes) {
  EXPECT_EQ(alpha_completion(1, {5, 4}, Rational(1, 2)), 0u);
  EXPECT_EQ(alpha_completion(2, {5, 4}, Rational(99, 100)), 9u);
  EXPECT_EQ(alpha_curve(1, {1, 0}, {Rational(1, 2), 1}).size(), 1u);
  EXPECT_THROW(alpha_completion(1000, {kMaxLatency, kMaxLatency}, Rational(1, 1000)), std::overflow_error);
}

}  // namespace
}  // namespace fibocast
