#include "collectives/postal_growth.h"

#include <gtest/gtest.h>

#include "collectives/cost_model.h"
#include "collectives/growth.h"
#include "tests/collectives/golden.h"

namespace fibocast {
namespace {

std::vector<std::uint64_t> sizes(const std::vector<GrowthStep>& steps) {
  std::vector<std::uint64_t> all;
  for (const GrowthStep& step : steps) all.push_back(step.size);
  return all;
}

TEST(PostalGrowth, B6TableOfSixteenRanksAtLambdaTwo) {
  EXPECT_EQ(sizes(growth_steps(16, 1, 1)), (std::vector<std::uint64_t>{1, 2, 3, 5, 8, 13, 21}));
}

TEST(PostalGrowth, B2EveryJumpOfTheGoldenFunctionAndNoOther) {
  for (const auto& entry : test::golden("postal.json", "N")) {
    const LatencyRatio l = latencies_of_lambda(test::rational(entry["lam"])).value();
    const auto n = entry["N"].get<std::vector<std::uint64_t>>();
    const std::vector<GrowthStep> steps = growth_steps(n.back(), l.s, l.r);
    std::size_t next = 0;
    for (std::size_t k = 0; k < n.size(); ++k) {
      if (k > 0 && n[k] == n[k - 1]) continue;
      ASSERT_LT(next, steps.size());
      EXPECT_EQ(steps[next].tick, k);
      EXPECT_EQ(steps[next].size, n[k]);
      ++next;
    }
    EXPECT_EQ(next, steps.size());
  }
}

TEST(PostalGrowth, PartsAreWhatWasReachedBefore) {
  for (const Rational& lambda : {Rational(1), Rational(5, 2), Rational(1293, 1000), Rational(33, 4)}) {
    const LatencyRatio l = latencies_of_lambda(lambda).value();
    const std::vector<GrowthStep> steps = growth_steps(kMostPostalRanks, l.s, l.r);
    EXPECT_GE(steps.back().size, kMostPostalRanks);
    for (std::size_t i = 1; i < steps.size(); ++i) {
      const auto tick = static_cast<std::int64_t>(steps[i].tick);
      ASSERT_EQ(steps[i].size, growth(tick, l.s, l.r));
      ASSERT_EQ(steps[steps[i].kept].size, growth(tick - static_cast<std::int64_t>(l.s), l.s, l.r));
      ASSERT_EQ(steps[steps[i].given].size, growth(tick - static_cast<std::int64_t>(l.s + l.r), l.s, l.r));
      ASSERT_EQ(tick, distribution_latency(steps[i].size, l.s, l.r));
    }
  }
}

TEST(PostalGrowth, ABoundedListStopsBeforeItsEnd) {
  EXPECT_EQ(growth_steps(1, 1, 1).size(), 1u);
  EXPECT_EQ(growth_steps(1000, 1, 1'000'000, 10).size(), 10u);
  EXPECT_LT(growth_steps(1000, 1, 1'000'000, 10).back().size, 1000u);
}

}  // namespace
}  // namespace fibocast
