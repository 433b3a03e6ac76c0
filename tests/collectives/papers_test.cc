// Examples and claims of Cordsen et al. 1997 that compare several trees, by their number in our notes.
#include <gtest/gtest.h>

#include <algorithm>

#include "collectives/cost_model.h"
#include "collectives/growth.h"
#include "collectives/tree.h"
#include "collectives/tree_binomial.h"
#include "collectives/tree_fibo.h"
#include "collectives/tree_kary.h"
#include "collectives/tree_lambda.h"
#include "collectives/tree_sequential.h"
#include "tests/collectives/golden.h"

namespace fibocast {
namespace {

TEST(Papers, A18TheTreeOfTheRoundedRatio) {
  int worse = 0;
  Rank first = 0;
  double most = 1;
  for (Rank p = 1; p <= 200; ++p) {
    const std::uint64_t rounded = completion(tree_fibo(p, 1, 3), 27, 88);
    const auto best = static_cast<std::uint64_t>(distribution_latency(p, 27, 88));
    if (rounded == best) continue;
    if (worse++ == 0) first = p;
    most = std::max(most, static_cast<double>(rounded) / static_cast<double>(best));
  }
  EXPECT_EQ(first, 33u);
  EXPECT_EQ(worse, 50);
  EXPECT_LT(most, 1.01921);
  EXPECT_EQ(completion(tree_fibo(33, 1, 3), 27, 88), 372u);
  EXPECT_EQ(distribution_latency(33, 27, 88), 365);
}

TEST(Papers, A22SixtyFourProcesses) {
  EXPECT_EQ(completion(tree_fibo(64, 1, 3), 1, 3), 15u);
  EXPECT_EQ(completion(tree_binomial(64), 1, 3), 24u);
  EXPECT_EQ(completion(tree_kary(64, 2), 1, 3), 25u);
  EXPECT_EQ(completion(tree_kary(127, 2), 1, 3), 30u);
  EXPECT_EQ(completion(tree_kary(64, 8), 1, 3), 20u);
  EXPECT_EQ(completion(tree_kary(73, 8), 1, 3), 22u);
  EXPECT_EQ(completion(tree_sequential(64), 1, 3), 66u);
}

TEST(Papers, A23Figure4) {
  EXPECT_EQ(completion(tree_binomial(64), 20, 4), 144u);
  EXPECT_EQ(completion(tree_kary(64, 2), 20, 4), 220u);
  EXPECT_EQ(completion(tree_kary(64, 8), 20, 4), 288u);
  EXPECT_EQ(completion(tree_kary(64, 8), 20, 100), 480u);
  EXPECT_EQ(completion(tree_kary(64, 2), 20, 100), 720u);
  EXPECT_EQ(completion(tree_binomial(64), 20, 100), 720u);
}

TEST(Papers, A25A27NineteenProcessesOfManna) {
  EXPECT_EQ(completion(tree_sequential(19), 27, 88), 574u);
  EXPECT_EQ(completion(tree_fibo(19, 1, 0), 27, 88), 460u);
  EXPECT_EQ(completion(tree_fibo(19, 1, 1), 27, 88), 372u);
  EXPECT_EQ(completion(tree_fibo(19, 1, 2), 27, 88), 345u);
  EXPECT_EQ(completion(tree_fibo(19, 1, 3), 27, 88), 311u);
  EXPECT_EQ(completion(tree_fibo(19, 1, 4), 27, 88), 331u);
  EXPECT_EQ(completion(tree_kary(19, 2), 27, 88), 514u);
  EXPECT_EQ(completion(tree_kary(19, 8), 27, 88), 419u);
  EXPECT_NEAR(1 - 311.0 / 574, 0.458, 0.0005);
  EXPECT_NEAR(1 - 311.0 / 460, 0.324, 0.0005);
}

TEST(Papers, A28SequentialBeatsBinomialBelowEleven) {
  for (Rank p = 2; p <= 200; ++p) {
    const std::uint64_t sequential = completion(tree_sequential(p), 27, 88);
    const std::uint64_t binomial = completion(tree_binomial(p), 27, 88);
    EXPECT_EQ(sequential < binomial, p >= 4 && p <= 10) << p;
    EXPECT_EQ(sequential == binomial, p <= 3) << p;
  }
}

TEST(Papers, F1FiboAndPostalTimesAreTheSame) {
  for (const auto& entry : test::golden("postal.json", "T")) {
    const LatencyRatio l = latencies_of_lambda(test::rational(entry["lam"])).value();
    for (std::size_t i = 0; i < entry["n"].size(); ++i) {
      const Rank n = entry["n"][i];
      if (n > 5000) continue;
      EXPECT_EQ(completion(tree_fibo(n, l.s, l.r), l.s, l.r), entry["T_ticks"][i]);
      EXPECT_EQ(completion(tree_lambda_queue(n, l.s, l.r), l.s, l.r), entry["T_ticks"][i]);
      EXPECT_EQ(distribution_latency(n, 7 * l.s, 7 * l.r), 7 * entry["T_ticks"][i].get<std::int64_t>());
    }
  }
}

}  // namespace
}  // namespace fibocast
