#include "collectives/tree_lambda.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "collectives/cost_model.h"
#include "collectives/growth.h"
#include "collectives/tree_binomial.h"
#include "collectives/tree_fibo.h"
#include "tests/collectives/golden.h"

namespace fibocast {
namespace {

TEST(TreeLambda, B5GoldenQueueConstruction) {
  for (const auto& entry : test::golden("postal.json", "greedy")) {
    const LatencyRatio l = latencies_of_lambda(test::rational(entry["lam"])).value();
    const Tree tree = tree_lambda_queue(entry["n"], l.s, l.r);
    for (Rank v = 0; v < tree.size(); ++v) ASSERT_EQ(tree.parent(v), static_cast<Rank>(entry["parent"][v].get<int>()));
    const std::vector<std::uint64_t> ready = activation_times(tree, l.s, l.r);
    EXPECT_EQ(ready, entry["ready"].get<std::vector<std::uint64_t>>());
    for (Rank v = 1; v < tree.size(); ++v) EXPECT_EQ(ready[v] - l.s - l.r, entry["send"][v]);
  }
}

TEST(TreeLambda, B5EveryPrefixIsOptimal) {
  for (const Rational& lambda : {Rational(1), Rational(2), Rational(3), Rational(9, 5), Rational(39, 20),
                                 Rational(1293, 1000), Rational(5, 2), Rational(7, 3), Rational(33, 4)}) {
    const LatencyRatio l = latencies_of_lambda(lambda).value();
    const std::vector<std::uint64_t> ready = activation_times(tree_lambda_queue(2000, l.s, l.r), l.s, l.r);
    ASSERT_TRUE(std::ranges::is_sorted(ready));
    for (Rank n = 1; n <= 2000; ++n)
      ASSERT_EQ(ready[n - 1], static_cast<std::uint64_t>(distribution_latency(n, l.s, l.r)));
  }
}

TEST(TreeLambda, B4EightRanksAtLambdaTwo) { EXPECT_EQ(completion(tree_lambda_queue(8, 1, 1), 1, 1), 5u); }

TEST(TreeLambda, DescentIsTheFiboTree) {
  for (Rank p : {1u, 2u, 19u, 500u}) {
    EXPECT_TRUE(std::ranges::equal(tree_lambda_descent(p, 5, 4).parents(), tree_fibo(p, 5, 4).parents()));
    EXPECT_EQ(completion(tree_lambda_descent(p, 5, 4), 5, 4), completion(tree_lambda_queue(p, 5, 4), 5, 4));
  }
}

const std::vector<Rational> kLambdas = {
    1, 2, 3, Rational(9, 5), Rational(39, 20), Rational(1293, 1000), Rational(5, 2), Rational(7, 3), Rational(33, 4)};

TEST(TreeLambda, B6BottomUpIsOptimal) {
  for (const Rational& lambda : kLambdas) {
    const LatencyRatio l = latencies_of_lambda(lambda).value();
    for (Rank n = 1; n <= 400; ++n) {
      const Tree tree = tree_lambda_bottomup(n, l.s, l.r);
      ASSERT_TRUE(tree.is_valid());
      ASSERT_EQ(completion(tree, l.s, l.r), static_cast<std::uint64_t>(distribution_latency(n, l.s, l.r))) << n;
    }
  }
}

TEST(TreeLambda, B6FullSizesAreTheFiboTree) {
  for (Rank n : {13u, 21u, 34u})
    EXPECT_TRUE(std::ranges::equal(tree_lambda_bottomup(n, 1, 1).parents(), tree_fibo(n, 1, 1).parents()));
}

TEST(TreeLambda, B7B11ThePartitionByTheTableIsOptimal) {
  std::string error;
  for (const Rational& lambda : kLambdas) {
    const LatencyRatio l = latencies_of_lambda(lambda).value();
    const AlphaTable table = AlphaTable::make(400, l.s, l.r, error).value();
    for (Rank n = 1; n <= 400; ++n) {
      const Tree tree = tree_lambda_alpha(n, table);
      ASSERT_TRUE(tree.is_valid());
      ASSERT_EQ(completion(tree, l.s, l.r), static_cast<std::uint64_t>(distribution_latency(n, l.s, l.r))) << n;
    }
  }
}

TEST(TreeLambda, B7GoldenConstantAlpha) {
  for (const auto& entry : test::golden("postal.json", "alpha_time")) {
    const LatencyRatio l = latencies_of_lambda(test::rational(entry["lam"])).value();
    EXPECT_EQ(completion(tree_lambda_alpha(entry["n"], test::rational(entry["alpha"])), l.s, l.r), entry["ticks"]);
  }
}

TEST(TreeLambda, F3OneHalfIsTheHalvingTree) {
  for (Rank n = 1; n <= 300; ++n)
    ASSERT_TRUE(std::ranges::equal(tree_lambda_alpha(n, Rational(1, 2)).parents(),
                                   tree_binomial(n, BinomialVariant::kHalving).parents()));
}

TEST(TreeLambda, B4TheBinomialTreeAtLambdaTwo) {
  EXPECT_EQ(completion(tree_lambda_alpha(8, Rational(1, 2)), 1, 1), 6u);
  EXPECT_EQ(completion(tree_lambda_alpha(8, Rational(1, 2)), 1, 0), 3u);
  EXPECT_EQ(completion(tree_lambda_bottomup(8, 1, 1), 1, 1), 5u);
  for (std::uint64_t d = 0; d <= 10; ++d)
    EXPECT_EQ(completion(tree_lambda_alpha(1u << d, Rational(1, 2)), 5, 4), 9 * d);
}

TEST(TreeLambda, ExtremeAlphasAreChainsAndStars) {
  const Tree chain = tree_lambda_alpha(100'000, Rational(1, UINT64_MAX));
  EXPECT_EQ(chain.parent(99'999), 99'998u);
  EXPECT_EQ(tree_lambda_alpha(100'000, Rational(999'999, 1'000'000)).children(0).size(), 99'999u);
}

TEST(TreeLambda, QueueIsValidUpTo2000Ranks) {
  for (Rank p = 1; p <= 2000; ++p) ASSERT_TRUE(tree_lambda_queue(p, 5, 4).is_valid());
}

}  // namespace
}  // namespace fibocast
