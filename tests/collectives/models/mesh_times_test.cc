#include "collectives/models/mesh_times.h"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

#include "tests/collectives/golden.h"

namespace fibocast {
namespace {

using enum MeshMapping;

const double kRootHalf = 1 / std::sqrt(2.0);

Rational total(MeshMapping mapping, unsigned n, const Rational& alpha) {
  return mesh_totals(mapping, n, alpha).store_and_forward;
}

MeshMapping mapping_of(const nlohmann::json& entry) { return entry["map"] == "R" ? kReflecting : kGrowing; }

void expect_decimals(const nlohmann::json& entry) {
  const auto totals = mesh_totals(mapping_of(entry), entry["n"], kRootHalf);
  EXPECT_NEAR(totals.store_and_forward, entry["sf"], 1e-6);
  EXPECT_NEAR(totals.wormhole, entry["wh"], 1e-6);
  EXPECT_NEAR(totals.perfect, entry["perfect"], 1e-6);
  EXPECT_NEAR(totals.slowdown_store_and_forward(), entry["slowdown_sf"], 1e-6);
  EXPECT_NEAR(totals.slowdown_wormhole(), entry["slowdown_wh"], 1e-6);
}

TEST(MeshTimes, D11GoldenTotals) {
  for (const auto& entry : test::golden("mesh.json", "totals")) {
    if (entry["alpha"] == "1/sqrt2") {
      expect_decimals(entry);
      continue;
    }
    const auto totals = mesh_totals(mapping_of(entry), entry["n"], test::rational(entry["alpha"]));
    EXPECT_EQ(totals.store_and_forward, test::rational(entry["sf"]));
    EXPECT_EQ(totals.wormhole, test::rational(entry["wh"]));
    EXPECT_EQ(totals.perfect, test::rational(entry["perfect"]));
    EXPECT_NEAR(totals.slowdown_store_and_forward().approximately(), entry["slowdown_sf"], 1e-6);
    EXPECT_NEAR(totals.slowdown_wormhole().approximately(), entry["slowdown_wh"], 1e-6);
  }
}

TEST(MeshTimes, D11GoldenSmallVolume) {
  for (const auto& entry : test::golden("mesh.json", "small")) {
    const auto totals = mesh_totals<Rational>(mapping_of(entry), entry["n"], 1);
    EXPECT_NEAR(totals.slowdown_store_and_forward().approximately(), entry["slowdown_sf"], 1e-6);
    EXPECT_NEAR(totals.slowdown_wormhole().approximately(), entry["slowdown_wh"], 1e-6);
  }
}

TEST(MeshTimes, D11PerfectIsAGeometricSum) {
  for (unsigned n = 0; n <= 15; ++n) {
    EXPECT_EQ(mesh_totals<Rational>(kGrowing, n, 1).perfect, Rational(n));
    const Rational half_to_n(1, std::uint64_t{1} << n);
    EXPECT_EQ(mesh_totals(kGrowing, n, Rational(1, 2)).perfect, Rational(1) - half_to_n);
  }
}

TEST(MeshTimes, D10OnePhase) {
  EXPECT_EQ(store_and_forward_time(5, 2, Rational(1, 4), 3), Rational(33, 2));
  EXPECT_EQ(wormhole_time(5, 2, Rational(1, 4), 3, Rational(1, 10)), Rational(61, 10));
}

// Exact where the numbers fit in 64 bit, which they do for small k.
TEST(MeshTimes, D12D13ClosedFormsAreTheSums) {
  for (const Rational alpha :
       {Rational(1), Rational(1, 2), Rational(1, 4), Rational(3, 4), Rational(2, 3), Rational(9, 10)})
    for (unsigned k = 0; k <= (alpha.denominator() <= 4 ? 5 : 2); ++k) {
      EXPECT_EQ(reflecting_total(k, alpha), total(kReflecting, 2 * k, alpha)) << alpha.to_string() << ' ' << k;
      EXPECT_EQ(growing_total(k, alpha), total(kGrowing, 2 * k, alpha)) << alpha.to_string() << ' ' << k;
    }
}

TEST(MeshTimes, D12D13ClosedFormsAreTheSumsInDoubles) {
  for (const double alpha : {1.0, 0.999, 0.95, kRootHalf, 0.7, 0.5, 0.1, 0.001})
    for (unsigned k = 1; k <= 30; ++k) {
      const double reflecting = mesh_totals(kReflecting, 2 * k, alpha).store_and_forward;
      const double growing = mesh_totals(kGrowing, 2 * k, alpha).store_and_forward;
      EXPECT_NEAR(reflecting_total(k, alpha) / reflecting, 1, 1e-9) << alpha << ' ' << k;
      EXPECT_NEAR(growing_total(k, alpha) / growing, 1, 1e-9) << alpha << ' ' << k;
    }
}

TEST(MeshTimes, D12AlphaOne) {
  const std::vector<std::uint64_t> expected = {2, 4, 10, 20, 42, 84, 170};
  for (unsigned k = 1; k <= 7; ++k) {
    EXPECT_EQ(total(kReflecting, 2 * k, 1), Rational(expected[k - 1]));
    EXPECT_EQ(Rational(4, 3) * Rational(std::uint64_t{1} << k) - Rational(k % 2 == 1 ? 2 : 4, 3), expected[k - 1]);
  }
  EXPECT_NEAR(reflecting_total(40, 0.5) / std::ldexp(2.0 / 7, 40), 1, 1e-9);
}

TEST(MeshTimes, D8TheIndexOfLemma3IsReversed) {
  EXPECT_EQ(total(kReflecting, 6, Rational(1, 2)), Rational(159, 64));
  Rational printed = 0;
  for (unsigned i = 1; i <= 6; ++i) printed = printed + jacobsthal<Rational>((i + 1) / 2) / Rational(1u << i);
  EXPECT_EQ(printed, Rational(69, 64));
}

TEST(MeshTimes, D12ReflectingWormholeIsNeverSlowedDown) {
  for (unsigned n = 0; n <= 20; ++n)
    EXPECT_EQ(mesh_totals(kReflecting, n, Rational(1, 2)).slowdown_wormhole(), Rational(1));
}

TEST(MeshTimes, D13SpecialAlphas) {
  const std::vector<std::uint64_t> at_one = {2, 4, 10, 24, 54, 116, 242};
  for (unsigned k = 1; k <= 7; ++k) EXPECT_EQ(total(kGrowing, 2 * k, 1), Rational(at_one[k - 1]));
  for (unsigned k = 1; k <= 12; ++k)
    EXPECT_EQ(total(kGrowing, 2 * k, Rational(1, 2)) + Rational(3, std::uint64_t{1} << (k + 1)),
              Rational(5, 4) + Rational(1, std::uint64_t{1} << (2 * k)));
  const std::vector<double> at_root_half = {1.2071, 1.8107, 2.7160, 3.7722, 4.9039};
  for (unsigned k = 1; k <= 5; ++k) EXPECT_NEAR(growing_total(k, kRootHalf), at_root_half[k - 1], 5e-5);
}

TEST(MeshTimes, D14OddOrders) {
  EXPECT_EQ(total(kReflecting, 5, 1), Rational(7));
  EXPECT_EQ(total(kGrowing, 5, 1), Rational(7));
  EXPECT_EQ(total(kGrowing, 1, Rational(1, 3)), Rational(1, 3));
}

TEST(MeshTimes, D15iAlphaOne) {
  for (unsigned k = 1; k <= 3; ++k) EXPECT_EQ(total(kReflecting, 2 * k, 1), total(kGrowing, 2 * k, 1));
  for (unsigned k = 4; k <= 30; ++k) EXPECT_LT(total(kReflecting, 2 * k, 1), total(kGrowing, 2 * k, 1));
  EXPECT_NEAR(reflecting_total(50, 1.0) / growing_total(50, 1.0), 2.0 / 3, 1e-9);
  const double slowdown = mesh_totals(kReflecting, 60, 1.0).slowdown_store_and_forward();
  EXPECT_NEAR(slowdown / (4 * std::ldexp(1, 30) / (3 * 60)), 1, 1e-6);
}

TEST(MeshTimes, D15iiGoldenCrossover) {
  for (const auto& entry : test::golden("mesh.json", "crossover")) {
    const MeshCrossover found = mesh_crossover(test::rational(entry["alpha"]).approximately(), 100);
    EXPECT_EQ(found.first_win, entry["k_first"]);
    EXPECT_EQ(found.last_loss, entry["k_last_loss"]);
  }
}

TEST(MeshTimes, D15iiWhereGrowingLoses) {
  EXPECT_EQ(mesh_crossover(0.99, 400).last_loss, 23u);
  EXPECT_EQ(mesh_crossover(0.999, 400).last_loss, 205u);
  EXPECT_EQ(mesh_crossover(0.9422, 400).last_loss, 0u);
  EXPECT_GT(mesh_crossover(0.945, 400).last_loss, 0u);
  for (const double alpha : {0.01, 0.3, 0.5, 0.9, 0.95, 0.99, 0.999})
    EXPECT_EQ(mesh_crossover(alpha, 10).first_win, 3u);
  for (unsigned k = 4; k <= 23; ++k) EXPECT_GT(growing_total(k, 0.99), reflecting_total(k, 0.99)) << k;
  EXPECT_EQ(mesh_crossover(1.0, 100).first_win, 0u);
}

TEST(MeshTimes, D15iiiAlphaHalf) {
  const std::vector<double> growing = {1.095, 1.165, 1.205, 1.227, 1.238};
  const std::vector<double> reflecting = {2.52, 4.39, 9.35, 18.1, 36.8};
  for (unsigned k = 3; k <= 7; ++k) {
    const auto g = mesh_totals(kGrowing, 2 * k, Rational(1, 2));
    EXPECT_NEAR(g.slowdown_store_and_forward().approximately(), growing[k - 3], 6e-4);
    const auto r = mesh_totals(kReflecting, 2 * k, Rational(1, 2));
    EXPECT_NEAR(r.slowdown_store_and_forward().approximately() / reflecting[k - 3], 1, 3e-3);
  }
  EXPECT_NEAR(mesh_totals(kGrowing, 100, 0.5).slowdown_store_and_forward(), 1.25, 1e-9);
}

TEST(MeshTimes, D16WormholeSlowdownOfGrowing) {
  const std::vector<double> at_one = {1, 1, 1.333, 2, 3.2, 5.333};
  const std::vector<double> at_half = {1, 1, 1.0476, 1.0824, 1.1026, 1.1136};
  for (unsigned k = 1; k <= 6; ++k) {
    EXPECT_NEAR(mesh_totals(kGrowing, 2 * k, 1.0).slowdown_wormhole(), at_one[k - 1], 5e-4);
    EXPECT_NEAR(mesh_totals(kGrowing, 2 * k, 0.5).slowdown_wormhole(), at_half[k - 1], 5e-5);
  }
}

TEST(MeshTimes, WhatDoesNotFitIsRefused) {
  EXPECT_THROW(mesh_totals(kGrowing, 20, Rational(999, 1000)), std::overflow_error);
  EXPECT_THROW(jacobsthal<Rational>(64), std::overflow_error);
}

}  // namespace
}  // namespace fibocast
