#include "collectives/tree_binomial.h"

#include <gtest/gtest.h>

#include <bit>
#include <vector>

namespace fibocast {
namespace {

constexpr BinomialVariant kAll[] = {BinomialVariant::kFibo, BinomialVariant::kMask, BinomialVariant::kHalving,
                                    BinomialVariant::kDoubling};

TEST(TreeBinomial, A21PowersOfTwoAllCostTheSame) {
  for (Rank log = 0; log <= 10; ++log)
    for (const auto variant : kAll)
      for (std::uint64_t r : {0, 1, 88})
        EXPECT_EQ(completion(tree_binomial(1u << log, variant), 27, r), log * (27 + r));
}

TEST(TreeBinomial, A21NineteenRanks) {
  EXPECT_EQ(completion(tree_binomial(19), 27, 88), 460u);
  EXPECT_EQ(completion(tree_binomial(19, BinomialVariant::kHalving), 27, 88), 460u);
  EXPECT_EQ(completion(tree_binomial(19, BinomialVariant::kDoubling), 27, 88), 460u);
  EXPECT_EQ(completion(tree_binomial(19, BinomialVariant::kMask), 27, 88), 487u);
}

TEST(TreeBinomial, A21Children) {
  const Tree mask = tree_binomial(12, BinomialVariant::kMask);
  EXPECT_EQ((std::vector<Rank>{mask.children(0).begin(), mask.children(0).end()}), (std::vector<Rank>{8, 4, 2, 1}));
  const Tree doubling = tree_binomial(12, BinomialVariant::kDoubling);
  EXPECT_EQ((std::vector<Rank>{doubling.children(1).begin(), doubling.children(1).end()}),
            (std::vector<Rank>{3, 5, 9}));
  const Tree halving = tree_binomial(5, BinomialVariant::kHalving);
  EXPECT_EQ((std::vector<Rank>{halving.children(0).begin(), halving.children(0).end()}), (std::vector<Rank>{3, 2, 1}));
}

TEST(TreeBinomial, B4CeilingOfLogAtLambdaOne) {
  for (Rank p = 2; p <= 300; ++p)
    for (const auto variant : kAll)
      EXPECT_EQ(completion(tree_binomial(p, variant), 1, 0), static_cast<std::uint64_t>(std::bit_width(p - 1)));
}

TEST(TreeBinomial, B4PostalCostOfEight) { EXPECT_EQ(completion(tree_binomial(8), 1, 1), 6u); }

}  // namespace
}  // namespace fibocast
