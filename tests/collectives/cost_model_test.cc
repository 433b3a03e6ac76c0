#include "collectives/cost_model.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/collectives/golden.h"

namespace fibocast {
namespace {

TEST(CostModel, A9GoldenBaseAndAmplitude) {
  for (const auto& entry : test::golden("fibo.json", "base")) {
    EXPECT_NEAR(growth_base(entry["s"], entry["r"]), entry["base"].get<double>(), 1e-10);
    const auto amplitude = growth_amplitude(entry["s"], entry["r"]);
    ASSERT_EQ(amplitude.has_value(), !entry["amplitude"].is_null());
    if (amplitude) {
      EXPECT_NEAR(*amplitude, entry["amplitude"].get<double>(), 1e-9);
    }
  }
}

TEST(CostModel, A9ClaimsAboutTheBase) {
  EXPECT_GT(growth_base(1, 8), 1.2);
  EXPECT_GT(growth_base(1, 8.826), 1.2);
  EXPECT_LT(growth_base(1, 8.828), 1.2);
  EXPECT_LT(growth_base(1, 3), 1.4);
  EXPECT_GT(growth_base(1, 2.722), 1.4);
  EXPECT_LT(growth_base(1, 2.724), 1.4);
  EXPECT_NEAR(growth_base(1, 2), 1.4656, 1e-4);  // A24: x^3 and x^2 + 1 cross
}

TEST(CostModel, A9QuotientTendsToTheAmplitude) {
  for (const auto& [s, r] : {std::pair<std::uint64_t, std::uint64_t>{1, 1}, {1, 3}, {2, 3}, {3, 1}}) {
    const double f = static_cast<double>(growth(100, s, r));
    const double power = std::pow(growth_base(static_cast<double>(s), static_cast<double>(r)), 100);
    if (f < 1.8e19) {
      EXPECT_NEAR(f / power, growth_amplitude(s, r).value(), 1e-2);
    }
  }
}

TEST(CostModel, F1GammaIsTheBase) {
  const auto gamma = test::golden("postal.json", "gamma");
  for (std::size_t i = 0; i < gamma.size(); ++i)
    EXPECT_NEAR(growth_base(1, static_cast<double>(i)), gamma[i].get<double>(), 1e-9);
}

TEST(CostModel, A26Extraction) {
  for (const auto& entry : test::golden("fibo.json", "extract")) {
    const auto extracted = extract_latencies(entry["first"], entry["second"]);
    ASSERT_TRUE(extracted);
    EXPECT_EQ(extracted->s, entry["s"]);
    EXPECT_EQ(extracted->r, entry["r"]);
  }
  EXPECT_FALSE(extract_latencies(100, 100));
  EXPECT_FALSE(extract_latencies(100, 201));
}

TEST(CostModel, B1LambdaInTicks) {
  const auto check_lambda = [](const Rational& lambda, std::uint64_t s, std::uint64_t r) {
    const auto l = latencies_of_lambda(lambda);
    ASSERT_TRUE(l);
    EXPECT_EQ(l->s, s);
    EXPECT_EQ(l->r, r);
    EXPECT_EQ(lambda_of(s, r), lambda);
  };
  check_lambda({9, 5}, 5, 4);
  check_lambda({39, 20}, 20, 19);
  check_lambda({1293, 1000}, 1000, 293);
  check_lambda(1, 1, 0);
  check_lambda({33, 4}, 4, 29);
  EXPECT_FALSE(latencies_of_lambda({99, 100}));
}

TEST(CostModel, ExactCostsBecomeTicks) {
  const TickedModel ticked = in_ticks({.send = {9, 5}, .latency = {1, 2}, .occupancy = 3, .send_per_byte = {2, 25}});
  EXPECT_EQ(ticked.tick, Rational(1, 50));
  EXPECT_EQ(ticked.model.send, 90u);
  EXPECT_EQ(ticked.model.latency, 25u);
  EXPECT_EQ(ticked.model.occupancy, 150u);
  EXPECT_EQ(ticked.model.send_per_byte, 4u);
  EXPECT_EQ(ticked.model.receive(), 175u);
}

TEST(CostModel, FiboPlanMirrorsSendAndReceive) {
  const Plan plan = fibo_plan({.send = 27, .latency = 8, .occupancy = 80});
  EXPECT_EQ(plan.distribution, (TreeSpec{.s = 27, .r = 88}));
  EXPECT_EQ(plan.reduction, (TreeSpec{.s = 80, .r = 35}));
  EXPECT_EQ(fibo_plan({.send = 27, .latency = 88, .occupancy = 0}).reduction.kind, TreeKind::kSequential);
}

}  // namespace
}  // namespace fibocast
