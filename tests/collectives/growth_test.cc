#include "collectives/growth.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "collectives/cost_model.h"
#include "tests/collectives/golden.h"

namespace fibocast {
namespace {

TEST(Growth, GoldenF) {
  for (const auto& entry : test::golden("fibo.json", "f"))
    for (std::size_t t = 0; t < entry["f"].size(); ++t)
      EXPECT_EQ(growth(static_cast<std::int64_t>(t), entry["s"], entry["r"]), entry["f"][t])
          << entry["s"] << entry["r"];
}

TEST(Growth, GoldenDistributionLatency) {
  const auto golden = test::golden("fibo.json");
  for (const char* key : {"T", "T_big"})
    for (const auto& entry : golden[key])
      for (std::size_t i = 0; i < entry["p"].size(); ++i)
        EXPECT_EQ(distribution_latency(entry["p"][i], entry["s"], entry["r"]), entry["T"][i]) << entry["p"][i];
}

TEST(Growth, A4RationalLatencies) {
  for (const auto& entry : test::golden("fibo.json", "T_rational")) {
    const std::array costs = {test::rational(entry["s"]), test::rational(entry["r"])};
    const CommonTicks common = to_common_ticks(costs);
    for (std::size_t i = 0; i < entry["p"].size(); ++i) {
      const auto ticks = distribution_latency(entry["p"][i], common.ticks[0], common.ticks[1]);
      EXPECT_EQ(common.unit * static_cast<std::uint64_t>(ticks), test::rational(entry["T"][i]));
    }
  }
}

TEST(Growth, A4CommonDivisorScalesTime) {
  for (std::uint64_t p : {1, 2, 3, 19, 64, 1000}) {
    EXPECT_EQ(distribution_latency(p, 7, 21), 7 * distribution_latency(p, 1, 3));
    EXPECT_EQ(distribution_latency(p, 5, 0), 5 * distribution_latency(p, 1, 0));
  }
}

TEST(Growth, A5BothRecurrences) {
  for (std::int64_t s = 1; s <= 6; ++s)
    for (std::int64_t r = 0; r <= 8; ++r)
      for (std::int64_t t = 0; t <= 60; ++t) {
        const auto f = [&](std::int64_t at) { return growth(at, s, r); };
        EXPECT_EQ(f(t), t < s + r ? 1 : f(t - s) + f(t - s - r));
        std::uint64_t series = 1;
        for (std::int64_t i = 1; t - i * s - r >= 0; ++i) series += f(t - i * s - r);
        EXPECT_EQ(f(t), series);
      }
  EXPECT_EQ(growth(-1, 1, 3), 0u);
}

TEST(Growth, TheLatestAreThoseThatWereNotThereATickBefore) {
  for (const auto& [s, r] : std::vector<std::pair<std::uint64_t, std::uint64_t>>{
           {1, 0}, {1, 3}, {3, 1}, {2, 6}, {5, 4}, {27, 88}, {88, 27}, {1, 200}, {31, 97}}) {
    const Growth growth(s, r);
    for (std::int64_t t = -2; t <= static_cast<std::int64_t>(20 * (s + r)); ++t) {
      if (growth.active(t) == UINT64_MAX) break;
      const Growth::Reached reached = growth.reached(t);
      ASSERT_EQ(reached.active, growth.active(t)) << s << ' ' << r << ' ' << t;
      ASSERT_EQ(reached.latest, growth.active(t) - growth.active(t - 1)) << s << ' ' << r << ' ' << t;
    }
  }
}

TEST(Growth, A6NoSplitIsFaster) {
  for (std::int64_t s = 1; s <= 6; ++s)
    for (std::int64_t r = 0; r <= 8; ++r) {
      std::vector<std::int64_t> best = {0, 0};
      for (std::size_t p = 2; p <= 200; ++p) {
        std::int64_t least = INT64_MAX;
        for (std::size_t q = 1; q < p; ++q) least = std::min(least, std::max(s + r + best[q], s + best[p - q]));
        best.push_back(least);
        ASSERT_EQ(distribution_latency(p, s, r), least) << s << ' ' << r << ' ' << p;
      }
    }
}

TEST(Growth, A7Examples) {
  const std::vector<std::uint64_t> f13 = {1,  1,  1,  1,  2,  3,  4,   5,   7,   10, 14,
                                          19, 26, 36, 50, 69, 95, 131, 181, 250, 345};
  for (std::size_t t = 0; t < f13.size(); ++t) EXPECT_EQ(growth(static_cast<std::int64_t>(t), 1, 3), f13[t]);
  EXPECT_EQ(distribution_latency(64, 1, 3), 15);
  EXPECT_EQ(distribution_latency(19, 1, 3), 11);
  EXPECT_EQ(distribution_latency(19, 27, 88), 311);
}

TEST(Growth, A8SaturatesAtTheCap) {
  EXPECT_EQ(growth(63, 1, 0), std::uint64_t{1} << 63);
  EXPECT_EQ(growth(64, 1, 0), UINT64_MAX);
  EXPECT_EQ(growth(1'000'000'000'000, 1, 3), UINT64_MAX);
  EXPECT_EQ(growth(20, 1, 3, 100), 100u);
  EXPECT_EQ(growth(20, 1, 3, 345), 345u);
  EXPECT_EQ(growth(20, 1, 3, 346), 345u);
}

TEST(Growth, A10BoundsOfBarNoyAndKipnis) {
  for (std::int64_t t = 0; t <= 80; ++t) {
    const auto f = static_cast<double>(growth(t, 1, 1));
    EXPECT_LE(std::pow(3, t / 4), f * (1 + 1e-12));
    EXPECT_LE(f, std::pow(3, t / 2) * (1 + 1e-12));
    EXPECT_EQ(std::pow(1.31607, static_cast<double>(t)) <= f, t != 1);
  }
}

TEST(Growth, B2B3PostalGolden) {
  const auto golden = test::golden("postal.json");
  for (const auto& entry : golden["N"]) {
    const LatencyRatio l = latencies_of_lambda(test::rational(entry["lam"])).value();
    for (std::size_t k = 0; k < entry["N"].size(); ++k)
      EXPECT_EQ(growth(static_cast<std::int64_t>(k), l.s, l.r), entry["N"][k]);
  }
  for (const auto& entry : golden["T"]) {
    const LatencyRatio l = latencies_of_lambda(test::rational(entry["lam"])).value();
    for (std::size_t i = 0; i < entry["n"].size(); ++i)
      EXPECT_EQ(distribution_latency(entry["n"][i], l.s, l.r), entry["T_ticks"][i]);
  }
}

TEST(Growth, B3Examples) {
  const LatencyRatio l = latencies_of_lambda({9, 5}).value();
  EXPECT_EQ(distribution_latency(64, l.s, l.r), 46);
  const std::vector<std::uint64_t> n = {1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 3,
                                        3, 3, 3, 4, 5, 5, 5, 5, 7, 8, 8, 8, 9, 12};
  for (std::size_t k = 0; k < n.size(); ++k) EXPECT_EQ(growth(static_cast<std::int64_t>(k), l.s, l.r), n[k]);
}

// T(p) is the first time at which f reaches p, whatever the size of the numbers.
TEST(Growth, HBoundaryCases) {
  const std::uint64_t large = std::uint64_t{1} << 40;
  for (const auto& [s, r] : std::vector<std::pair<std::uint64_t, std::uint64_t>>{{1, 0},
                                                                                 {27, 88},
                                                                                 {88, 27},
                                                                                 {27000, 88001},
                                                                                 {large, 0},
                                                                                 {large, 1},
                                                                                 {large - 1, large},
                                                                                 {1, large},
                                                                                 {kMaxLatency, kMaxLatency}})
    for (const std::uint64_t p :
         {std::uint64_t{2}, std::uint64_t{3}, std::uint64_t{1'000'000'000}, std::uint64_t{1'000'000'000'000}}) {
      const std::int64_t t = distribution_latency(p, s, r);
      EXPECT_GE(growth(t, s, r, p), p);
      EXPECT_LT(growth(t - 1, s, r, p), p);
    }
  EXPECT_EQ(distribution_latency(1, 27, 88), 0);
  EXPECT_EQ(distribution_latency(2, 27, 88), 115);
  EXPECT_FALSE(are_latencies_valid(0, 1));
  EXPECT_FALSE(are_latencies_valid(1, kMaxLatency + 1));
}

}  // namespace
}  // namespace fibocast
