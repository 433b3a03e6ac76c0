#include "collectives/exchange_steps.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>
#include <vector>

#include "tests/collectives/golden.h"

namespace fibocast {
namespace {

using Row = std::tuple<std::uint32_t, Rank, Rank>;  // step, source, destination

std::vector<Row> all_rows(ExchangeKind kind, Rank n) {
  std::vector<Row> rows;
  for (Rank me = 0; me < n; ++me)
    for (std::uint32_t i = 0; i < exchange_step_count(kind, n); ++i) {
      const ExchangeStep s = exchange_step(kind, n, me, i);
      rows.emplace_back(s.step, me, s.peer);
    }
  std::sort(rows.begin(), rows.end());
  return rows;
}

std::vector<std::uint64_t> capacities(ExchangeKind kind, Rank n) {
  std::vector<std::uint64_t> c;
  for (Rank m = 1; m < n; m *= 2) c.push_back(kind == ExchangeKind::kConstant ? 1 : m);
  return c;
}

TEST(ExchangeSteps, E12Golden) {
  int found = 0;
  for (const auto& entry : test::golden("fattree.json", "te_schedule"))
    for (const ExchangeKind kind : {ExchangeKind::kConstant, ExchangeKind::kExponential}) {
      const Rank n = entry["n"];
      if (entry["pipelined"] == false || entry["c"] != nlohmann::json(capacities(kind, n))) continue;
      EXPECT_EQ(nlohmann::json(all_rows(kind, n)), entry["dispatch"]);
      ++found;
    }
  EXPECT_EQ(found, 4);
}

TEST(ExchangeSteps, E13Completion) {
  const std::vector<std::uint32_t> constant = {2, 8, 26, 92, 350, 1376};
  const std::vector<std::uint32_t> exponential = {2, 6, 12, 22, 40, 74};
  for (Rank n = 2, i = 0; n <= 64; n *= 2, ++i) {
    EXPECT_EQ(exchange_steps(ExchangeKind::kConstant, n), constant[i]);
    EXPECT_EQ(exchange_steps(ExchangeKind::kExponential, n), exponential[i]);
    const bool shorter = n == 8 || n == 16 || n == 32;
    EXPECT_EQ(exchange_steps(ExchangeKind::kExponentialXor, n), exponential[i] - (shorter ? 1 : 0));
  }
  EXPECT_EQ(exchange_steps(ExchangeKind::kConstant, 65536), (65536ull * 65536 - 1) / 3 + 31);
}

TEST(ExchangeSteps, AscendingAndEveryPeerOnce) {
  for (const auto kind : {ExchangeKind::kConstant, ExchangeKind::kExponential, ExchangeKind::kExponentialXor})
    for (Rank n = 1; n <= 256; n *= 2)
      for (Rank me = 0; me < n; me += n < 16 ? 1 : 5) {
        std::vector<bool> met(n);
        std::uint32_t before = 0;
        for (std::uint32_t i = 0; i < exchange_step_count(kind, n); ++i) {
          const ExchangeStep s = exchange_step(kind, n, me, i);
          EXPECT_GT(s.step, before);
          EXPECT_LT(s.step, exchange_steps(kind, n));
          EXPECT_NE(s.peer, me);
          EXPECT_FALSE(met[s.peer]);
          met[s.peer] = true;
          before = s.step;
        }
      }
}

TEST(ExchangeSteps, E16OtherSizesFallBack) {
  for (const Rank n : {2u, 4u, 64u})
    EXPECT_EQ(all_rows(ExchangeKind::kExponentialXor, n), all_rows(ExchangeKind::kExponential, n));
}

TEST(ExchangeSteps, Sizes) {
  for (const Rank n : {1u, 2u, 65536u}) EXPECT_TRUE(is_exchange_size(n));
  for (const Rank n : {0u, 3u, 131072u}) EXPECT_FALSE(is_exchange_size(n));
  EXPECT_EQ(exchange_step_count(ExchangeKind::kConstant, 1), 0u);
  EXPECT_EQ(exchange_steps(ExchangeKind::kExponential, 1), 0u);
  EXPECT_EQ(exchange_step(ExchangeKind::kConstant, 2, 0, 0), (ExchangeStep{1, 1}));
}

}  // namespace
}  // namespace fibocast
