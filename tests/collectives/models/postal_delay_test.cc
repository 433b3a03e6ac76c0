#include "collectives/models/postal_delay.h"

#include <gtest/gtest.h>

#include "collectives/postal_combine.h"
#include "tests/collectives/golden.h"

namespace fibocast {
namespace {

CombineTimes times(std::uint64_t ranks, const Rational& lambda) {
  return combine_times(ranks, latencies_of_lambda(lambda).value());
}

TEST(PostalDelay, B26B27GoldenTimes) {
  for (const auto& entry : test::golden("postal.json", "noninteger")) {
    const CombineTimes t = times(entry["n"], test::rational(entry["lam"]));
    EXPECT_EQ(t.optimum, test::rational(entry["T_opt"]));
    EXPECT_EQ(t.delay_receive, test::rational(entry["T_recv"]));
    EXPECT_EQ(t.delay_send, test::rational(entry["T_send"]));
  }
}

TEST(PostalDelay, B30Examples) {
  const auto expect = [](std::uint64_t n, const Rational& lambda, const Rational& t, const Rational& receive,
                         const Rational& send) {
    EXPECT_EQ(times(n, lambda).optimum, t);
    EXPECT_EQ(times(n, lambda).delay_receive, receive);
    EXPECT_EQ(times(n, lambda).delay_send, send);
  };
  expect(64, Rational(5, 2), Rational(23, 2), 13, Rational(25, 2));
  expect(1000, Rational(5, 2), Rational(35, 2), 20, 20);
  expect(64, Rational(144, 100), Rational(788, 100), 10, Rational(864, 100));
  expect(64, Rational(27, 10), Rational(118, 10), 13, Rational(135, 10));
  expect(64, Rational(3, 2), 8, 10, 9);
}

TEST(PostalDelay, B28IntegersNeedNoDelay) {
  for (std::uint64_t lambda = 1; lambda <= 10; ++lambda)
    for (const std::uint64_t n : {1u, 2u, 64u, 1'000'000'000u}) {
      const CombineTimes t = times(n, lambda);
      EXPECT_EQ(t.delay_receive, t.optimum);
      EXPECT_EQ(t.delay_send, t.optimum);
    }
}

TEST(PostalDelay, B28TheOptimumIsALowerBound) {
  for (std::uint64_t tenths = 10; tenths <= 99; ++tenths)
    for (std::uint64_t n = 1; n <= 300; ++n) {
      const CombineTimes t = times(n, Rational(tenths, 10));
      ASSERT_LE(t.optimum, t.delay_receive);
      ASSERT_LE(t.optimum, t.delay_send);
    }
}

TEST(PostalDelay, TheScheduleTakesTheTimeOfTheFormula) {
  for (std::uint64_t s = 1; s <= 8; ++s)
    for (std::uint64_t r = 0; r <= 20; ++r) {
      const CombineClock receive = combine_clock(s, r, CombineDelay::kReceive).value();
      const CombineClock send = combine_clock(s, r, CombineDelay::kSend).value();
      const CombineTimes t = times(100, Rational(s + r, s));
      EXPECT_EQ(PostalCombine::make(100, receive.lambda)->time(), t.delay_receive.numerator());
      EXPECT_EQ(Rational(send.numerator, send.denominator * s) * PostalCombine::make(100, send.lambda)->time(),
                t.delay_send);
    }
}

TEST(PostalDelay, B29GoldenGamma) {
  const auto gamma = test::golden("postal.json", "gamma");
  for (std::size_t i = 0; i < gamma.size(); ++i) EXPECT_NEAR(postal_gamma(static_cast<double>(i + 1)), gamma[i], 1e-10);
}

TEST(PostalDelay, F1GammaIsTheGrowthBase) {
  for (int m = 1; m <= 10; ++m) EXPECT_DOUBLE_EQ(postal_gamma(m), growth_base(1, m - 1));
}

TEST(PostalDelay, B30GoldenBreakEven) {
  for (const auto& entry : test::golden("postal.json", "breakeven"))
    EXPECT_NEAR(combine_break_even(entry[0]), entry[1], 1e-10);
}

}  // namespace
}  // namespace fibocast
