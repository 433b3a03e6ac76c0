#include "collectives/postal_combine.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "collectives/growth.h"
#include "tests/collectives/golden.h"

namespace fibocast {
namespace {

PostalCombine combine(Rank ranks, std::uint64_t lambda) { return *PostalCombine::make(ranks, lambda); }

std::vector<int> eps_of(const PostalCombine& c) {
  std::vector<int> eps;
  for (std::uint32_t q = 1; q <= c.rounds(); ++q) eps.push_back(c.epsilon(q) ? 1 : 0);
  return eps;
}

std::vector<Rank> reach_of(const PostalCombine& c) {
  std::vector<Rank> reach;
  for (std::uint64_t x = 0; x <= c.time(); ++x) reach.push_back(c.reach(x));
  return reach;
}

// "1:T1-1": in round 1 T with one contribution goes to rank - 1.
std::string text_of(const PostalCombine& c) {
  std::string text;
  for (auto r = c.next_round(0); r; r = c.next_round(r->round))
    text += std::to_string(r->round) + (r->sends_s ? ":S" : ":T") + std::to_string(r->count) + "-" +
            std::to_string(r->offset) + " ";
  return text;
}

TEST(PostalCombine, B21B22GoldenSchedules) {
  for (const auto& entry : test::golden("postal.json", "combine")) {
    const PostalCombine c = combine(entry["n"], entry["lam"]);
    EXPECT_EQ(c.time(), entry["t"]);
    EXPECT_EQ(eps_of(c), entry["eps"].get<std::vector<int>>());
    EXPECT_EQ(reach_of(c), entry["N"].get<std::vector<Rank>>());
    ASSERT_EQ(c.rounds(), entry["schedule"].size());
    std::uint64_t messages = 0;
    for (std::uint32_t q = 1; q <= c.rounds(); ++q) {
      const CombineRound round = c.round(q);
      const auto& golden = entry["schedule"][q - 1];
      EXPECT_EQ(nlohmann::json({round.round, round.sends_s ? "S" : "T", round.count, round.offset}), golden);
      if (round.count > 0) messages += c.ranks();
    }
    EXPECT_EQ(messages, entry["messages"]);
  }
}

TEST(PostalCombine, B25Examples) {
  const PostalCombine ten = combine(10, 2);
  EXPECT_EQ(ten.time(), 6u);
  EXPECT_EQ(eps_of(ten), (std::vector<int>{0, 1, 0, 0, 0}));
  EXPECT_EQ(reach_of(ten), (std::vector<Rank>{1, 1, 2, 2, 4, 6, 10}));
  EXPECT_EQ(text_of(ten), "1:T1-1 3:T2-2 4:T2-4 5:T4-6 ");
  const PostalCombine fourteen = combine(14, 2);
  EXPECT_EQ(eps_of(fourteen), (std::vector<int>{0, 1, 0, 1, 0, 0}));
  EXPECT_EQ(reach_of(fourteen), (std::vector<Rank>{1, 1, 2, 2, 4, 5, 9, 14}));
  EXPECT_EQ(text_of(fourteen), "1:T1-1 3:T2-2 4:S1-3 5:T4-5 6:T5-9 ");
  EXPECT_EQ(eps_of(combine(6, 1)), (std::vector<int>{0, 1, 0}));
  EXPECT_EQ(reach_of(combine(6, 1)), (std::vector<Rank>{1, 2, 3, 6}));
  EXPECT_EQ(eps_of(combine(10, 3)), (std::vector<int>{0, 1, 0, 0, 0, 0}));
  EXPECT_EQ(reach_of(combine(10, 3)), (std::vector<Rank>{1, 1, 1, 2, 2, 3, 5, 7, 10}));
}

// A run of contributions first, first + 1, .. modulo the number of ranks.
struct Contributions {
  Rank first;
  Rank count;
};

// Runs all ranks, round by round, and says what is wrong first. Knows only what is sent to whom, not why.
std::string run(const PostalCombine& c) {
  const Rank n = c.ranks();
  std::vector<Contributions> t(n);
  for (Rank i = 0; i < n; ++i) t[i] = {i, 1};
  std::vector<std::vector<Contributions>> sent(c.time() + 1);  // by round and receiver
  for (std::uint64_t now = 1; now <= c.time(); ++now) {
    if (now <= c.rounds()) {
      const CombineRound round = c.round(static_cast<std::uint32_t>(now));
      sent[now].assign(round.count > 0 ? n : 0, {0, 0});
      for (Rank i = 0; i < n && round.count > 0; ++i) {
        const Rank to = c.target(round, i);
        if (to == i) return "a rank sends to itself";
        if (c.source(round, to) != i) return "target and source differ";
        if (sent[now][to].count != 0) return "two messages for one rank in one round";
        const Rank skipped = round.sends_s ? 1 : 0;
        sent[now][to] = {(t[i].first + skipped) % n, t[i].count - skipped};
        if (sent[now][to].count != round.count) return "not the count of the schedule";
      }
    }
    if (now < c.lambda()) continue;
    const std::vector<Contributions>& arrived = sent[now - c.lambda() + 1];
    for (Rank i = 0; i < arrived.size(); ++i) {
      if (arrived[i].first != (t[i].first + t[i].count) % n) return "a gap or an overlap";
      t[i].count += arrived[i].count;
    }
    for (Rank i = 0; i < n; ++i)
      if (t[i].count != c.reach(now)) return "not what reach() says";
  }
  for (Rank i = 0; i < n; ++i)
    if (t[i].first != i || t[i].count != n) return "not every contribution exactly once";
  return "";
}

TEST(PostalCombine, B23EachIndexOnceUpTo300RanksAndLambdaEight) {
  for (std::uint64_t lambda = 1; lambda <= 8; ++lambda)
    for (Rank n = 1; n <= 300; ++n) ASSERT_EQ(run(combine(n, lambda)), "") << n << ' ' << lambda;
}

TEST(PostalCombine, B23LargeLambda) {
  for (Rank n : {2u, 3u, 10u, 100u, 200u}) EXPECT_EQ(run(combine(n, 1000)), "") << n;
  EXPECT_EQ(run(combine(65'537, 2)), "");
}

// B20: without a surplus everybody sends all it has, one broadcast shifted to every rank.
TEST(PostalCombine, B20NoEpsilonAtFullSizes) {
  for (std::uint64_t lambda = 1; lambda <= 8; ++lambda)
    for (std::int64_t t = 0; t < 30 && growth(t, 1, lambda - 1) < 1'000'000; ++t) {
      const PostalCombine c = combine(static_cast<Rank>(growth(t, 1, lambda - 1)), lambda);
      for (std::uint32_t q = 1; q <= c.rounds(); ++q) {
        EXPECT_FALSE(c.epsilon(q));
        EXPECT_EQ(c.round(q).offset, growth(static_cast<std::int64_t>(q + lambda) - 2, 1, lambda - 1));
      }
    }
}

TEST(PostalCombine, F4AsManyRoundsAsABroadcast) {
  for (std::uint64_t lambda = 1; lambda <= 16; ++lambda)
    for (Rank n : {1u, 2u, 3u, 1000u, 999'999'999u, 4'294'967'294u})
      EXPECT_EQ(combine(n, lambda).time(), static_cast<std::uint64_t>(distribution_latency(n, 1, lambda - 1)));
}

TEST(PostalCombine, HOneRankNeedsNothing) {
  for (std::uint64_t lambda : {1u, 2u, 100u}) {
    const PostalCombine one = combine(1, lambda);
    EXPECT_EQ(one.time(), 0u);
    EXPECT_EQ(one.rounds(), 0u);
    EXPECT_EQ(one.reach(0), 1u);
    EXPECT_FALSE(one.next_round(0));
  }
}

TEST(PostalCombine, HRefusals) {
  EXPECT_FALSE(PostalCombine::make(0, 1));
  EXPECT_FALSE(PostalCombine::make(8, 0));
  EXPECT_FALSE(PostalCombine::make(8, UINT64_MAX));
  EXPECT_FALSE(PostalCombine::make(300, 1'000'000));  // 299 rounds
  EXPECT_FALSE(combine_clock(0, 1, CombineDelay::kReceive));
  EXPECT_FALSE(combine_clock(1, kMaxLatency, CombineDelay::kSend));
}

// What a rank sends has arrived before: the messages of round q - lambda, sent at not_before, are s + r later.
void expect_in_time(std::uint64_t s, std::uint64_t r, CombineDelay delay) {
  const CombineClock clock = combine_clock(s, r, delay).value();
  for (std::uint32_t q = 1; q <= 150; ++q) {
    EXPECT_GE(clock.not_before(q + 1), clock.not_before(q) + s);
    const auto arrived = static_cast<std::uint32_t>(q + clock.lambda);
    EXPECT_GE(clock.not_before(arrived), clock.not_before(q) + s + r);
  }
}

TEST(CombineClock, B26B27MessagesArriveBeforeTheyAreUsed) {
  for (std::uint64_t s = 1; s <= 20; ++s)
    for (std::uint64_t r = 0; r <= 40; ++r)
      for (const CombineDelay delay : {CombineDelay::kReceive, CombineDelay::kSend}) expect_in_time(s, r, delay);
}

TEST(CombineClock, B26B27Values) {
  const CombineClock receive = combine_clock(2, 3, CombineDelay::kReceive).value();  // lambda = 5/2
  EXPECT_EQ(receive.lambda, 3u);
  EXPECT_EQ(receive.not_before(4), 6u);
  const CombineClock send = combine_clock(2, 3, CombineDelay::kSend).value();
  EXPECT_EQ(send.lambda, 2u);
  EXPECT_EQ(send.not_before(1), 0u);
  EXPECT_EQ(send.not_before(2), 3u);  // 2.5 rounded up
  EXPECT_EQ(send.not_before(3), 5u);
}

TEST(CombineClock, B28BothAreTheSameForAnIntegerLambda) {
  for (const CombineDelay delay : {CombineDelay::kReceive, CombineDelay::kSend}) {
    const CombineClock clock = combine_clock(7, 14, delay).value();
    EXPECT_EQ(clock.lambda, 3u);
    for (std::uint32_t q = 1; q <= 50; ++q) EXPECT_EQ(clock.not_before(q), (q - 1) * 7u);
  }
}

}  // namespace
}  // namespace fibocast
