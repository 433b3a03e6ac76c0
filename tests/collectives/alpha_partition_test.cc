#include "collectives/alpha_partition.h"

#include <gtest/gtest.h>

#include "collectives/cost_model.h"
#include "collectives/growth.h"
#include "tests/collectives/golden.h"

namespace fibocast {
namespace {

LatencyRatio latencies(const nlohmann::json& lambda) { return latencies_of_lambda(test::rational(lambda)).value(); }

AlphaTable table(std::uint64_t ranks, const LatencyRatio& l) {
  std::string error;
  return AlphaTable::make(ranks, l.s, l.r, error).value();
}

TEST(AlphaPartition, B8GoldenLegalPartitions) {
  for (const auto& entry : test::golden("postal.json", "legal")) {
    const LatencyRatio l = latencies(entry["lam"]);
    for (std::size_t i = 0; i < entry["nmin"].size(); ++i) {
      const std::uint64_t n = entry["n_from"].get<std::uint64_t>() + i;
      EXPECT_EQ(legal_partitions(n, l.s, l.r), (PartitionRange{entry["nmin"][i], entry["nmax"][i]})) << n;
    }
  }
}

TEST(AlphaPartition, B8Examples) {
  EXPECT_EQ(legal_partitions(13, 1, 1), (PartitionRange{8, 8}));
  EXPECT_EQ(legal_partitions(14, 1, 1), (PartitionRange{6, 13}));
  EXPECT_EQ(legal_partitions(20, 1, 1), (PartitionRange{12, 13}));
  EXPECT_EQ(legal_partitions(14, 5, 4), (PartitionRange{7, 9}));
  EXPECT_EQ(legal_partitions(64, 5, 4), (PartitionRange{36, 38}));
  EXPECT_EQ(legal_partitions(2, 1, 0), (PartitionRange{1, 1}));
}

// Which first cuts reach the optimum, by trying them all.
TEST(AlphaPartition, B8ExactlyTheOptimalCutsUpTo200) {
  for (const Rational& lambda : {Rational(1), Rational(2), Rational(3), Rational(9, 5), Rational(39, 20),
                                 Rational(1293, 1000), Rational(5, 2), Rational(33, 4)}) {
    const LatencyRatio l = latencies_of_lambda(lambda).value();
    const auto t = [&l](std::uint64_t n) { return distribution_latency(n, l.s, l.r); };
    for (std::uint64_t n = 2; n <= 200; ++n) {
      const PartitionRange range = legal_partitions(n, l.s, l.r);
      const std::uint64_t cuts = growth(t(n), l.s, l.r) - n + 1;
      ASSERT_EQ(range.most - range.least + 1, cuts);
      for (std::uint64_t kept = 1; kept < n; ++kept) {
        const std::int64_t cost =
            std::max(static_cast<std::int64_t>(l.s) + t(kept), static_cast<std::int64_t>(l.s + l.r) + t(n - kept));
        ASSERT_EQ(cost == t(n), range.least <= kept && kept <= range.most) << n << ' ' << kept;
      }
    }
  }
}

TEST(AlphaPartition, B7RoundsHalfUpAndClips) {
  EXPECT_EQ(kept_share(Rational(1, 2), 5), 3u);       // 2.5
  EXPECT_EQ(kept_share(Rational(65, 128), 64), 33u);  // 32.5, an exact breakpoint
  EXPECT_EQ(kept_share(Rational(64999, 128000), 64), 32u);
  EXPECT_EQ(kept_share(Rational(99, 100), 2), 1u);
  EXPECT_EQ(kept_share(Rational(1, 100), 2), 1u);
  EXPECT_EQ(kept_share(Rational(UINT64_MAX - 2, UINT64_MAX - 1), kMostPostalRanks), kMostPostalRanks - 1);
}

TEST(AlphaPartition, B9IntervalIsWhatRoundsIntoTheRange) {
  for (std::uint64_t n = 2; n <= 100; ++n) {
    const PartitionRange range = legal_partitions(n, 5, 4);
    const AlphaInterval alphas = legal_alphas(n, range);
    for (std::uint64_t i = 1; i < 1000; ++i) {
      const std::uint64_t kept = kept_share(Rational(i, 1000), n);
      EXPECT_EQ(alphas.contains(Rational(i, 1000)), range.least <= kept && kept <= range.most) << n << ' ' << i;
    }
  }
  EXPECT_EQ(legal_alphas(2, {1, 1}), AlphaInterval{});
  EXPECT_EQ(legal_alphas(13, {8, 8}), (AlphaInterval{Rational(15, 26), Rational(17, 26)}));
}

TEST(AlphaPartition, B10TrianglesTopsAloneConstrain) {
  for (const Rational& lambda : {Rational(2), Rational(9, 5), Rational(5, 2), Rational(1293, 1000)}) {
    const LatencyRatio l = latencies_of_lambda(lambda).value();
    for (std::uint64_t n = 2; n <= 300; ++n) {
      const std::uint64_t top = growth(distribution_latency(n, l.s, l.r), l.s, l.r);
      const AlphaInterval here = legal_alphas(n, legal_partitions(n, l.s, l.r));
      const AlphaInterval there = legal_alphas(top, legal_partitions(top, l.s, l.r));
      EXPECT_EQ(intersection(here, there), there) << n;
    }
  }
}

TEST(AlphaTable, B11GoldenTables) {
  for (const auto& entry : test::golden("postal.json", "lookup")) {
    const AlphaTable made = table(entry["nmax"], latencies(entry["lam"]));
    ASSERT_EQ(made.entries().size(), entry["entries"].size());
    for (std::size_t i = 0; i < made.entries().size(); ++i) {
      EXPECT_EQ(made.entries()[i].most_ranks, entry["entries"][i][0]);
      EXPECT_EQ(made.entries()[i].alphas.from, test::rational(entry["entries"][i][1]));
      EXPECT_EQ(made.entries()[i].alphas.below, test::rational(entry["entries"][i][2]));
    }
  }
}

TEST(AlphaTable, B11GoldenSizes) {
  for (const auto& entry : test::golden("postal.json", "lookup_size"))
    EXPECT_EQ(table(entry["nmax"], latencies(entry["lam"])).entries().size(), entry["size"]) << entry;
  EXPECT_EQ(table(10'000, {1000, 293}).entries().size(), 64u);
  EXPECT_EQ(table(1'000'000, {1000, 293}).entries().size(), 165u);
}

TEST(AlphaTable, AlphaIsLegalAtEverySize) {
  for (const Rational& lambda : {Rational(1), Rational(9, 5), Rational(1293, 1000), Rational(33, 4)}) {
    const LatencyRatio l = latencies_of_lambda(lambda).value();
    const AlphaTable made = table(2000, l);
    for (std::uint64_t n = 2; n <= 2000; ++n)
      ASSERT_TRUE(legal_alphas(n, legal_partitions(n, l.s, l.r)).contains(made.alpha(n))) << n;
  }
}

TEST(AlphaTable, HAThousandMillionRanks) {
  for (const Rational& lambda : {Rational(1), Rational(2), Rational(1293, 1000), Rational(33, 4), Rational(500)}) {
    const LatencyRatio l = latencies_of_lambda(lambda).value();
    const AlphaTable made = table(1'000'000'000, l);
    EXPECT_EQ(made.entries().back().most_ranks, 1'000'000'000u);
    for (const std::uint64_t n : {2u, 12'345u, 999'999'999u, 1'000'000'000u})
      EXPECT_TRUE(legal_alphas(n, legal_partitions(n, l.s, l.r)).contains(made.alpha(n))) << n;
  }
  EXPECT_EQ(table(kMostPostalRanks, {1, 1}).entries().size(), 1u);
  EXPECT_TRUE(table(1, {1, 1}).entries().empty());
  EXPECT_EQ(table(2, {1, 1}).alpha(2), Rational(1, 2));
}

TEST(AlphaTable, RefusesWhatItCannotDo) {
  std::string error;
  EXPECT_FALSE(AlphaTable::make(0, 1, 1, error));
  EXPECT_NE(error.find("1 to 2000000000"), std::string::npos);
  EXPECT_FALSE(AlphaTable::make(kMostPostalRanks + 1, 1, 1, error));
  EXPECT_FALSE(AlphaTable::make(10, 0, 1, error));
  EXPECT_FALSE(AlphaTable::make(kMostPostalRanks, 1, kMaxLatency, error));
  EXPECT_NE(error.find("sizes"), std::string::npos);
}

TEST(AlphaTable, HAlphaIsBetweenZeroAndOne) {
  std::string error;
  EXPECT_TRUE(is_alpha_valid(Rational(1, 100), error));
  EXPECT_FALSE(is_alpha_valid(0, error));
  EXPECT_FALSE(is_alpha_valid(1, error));
  EXPECT_FALSE(is_alpha_valid(Rational(3, 2), error));
  EXPECT_NE(error.find("alpha"), std::string::npos);
}

}  // namespace
}  // namespace fibocast
