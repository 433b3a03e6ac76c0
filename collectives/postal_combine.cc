#include "collectives/postal_combine.h"

#include "collectives/check.h"
#include "collectives/growth.h"

namespace fibocast {

std::optional<CombineClock> combine_clock(std::uint64_t s, std::uint64_t r, CombineDelay delay) {
  if (s < 1 || s > kMaxLatency || r > kMaxLatency - s) return {};
  if (delay == CombineDelay::kReceive) return CombineClock{.lambda = (s + r + s - 1) / s, .numerator = s};
  const std::uint64_t floor = (s + r) / s;
  return CombineClock{.lambda = floor, .numerator = s + r, .denominator = floor};
}

std::optional<PostalCombine> PostalCombine::make(Rank ranks, std::uint64_t lambda) {
  if (ranks < 1 || lambda < 1 || lambda > kMaxLatency) return {};
  PostalCombine plan;
  plan.ranks_ = ranks;
  plan.lambda_ = lambda;
  if (ranks == 1) return plan;
  const std::int64_t t = distribution_latency(ranks, 1, lambda - 1);
  const auto rounds = static_cast<std::uint64_t>(t) - lambda + 1;
  if (rounds > kMostCombineRounds) return {};
  plan.rounds_ = static_cast<std::uint32_t>(rounds);
  // An eps of round q lessens the end by N(t - lambda - q + 1); the surplus is less than N(t - lambda) (B21).
  std::uint64_t surplus = growth(t, 1, lambda - 1) - ranks;
  for (std::uint32_t q = 1; q <= plan.rounds_; ++q) {
    const std::uint64_t weight = growth(static_cast<std::int64_t>(plan.rounds_ - q), 1, lambda - 1);
    const bool less = surplus > 0 && weight <= surplus;
    if (less) surplus -= weight;
    plan.reach_[q] = plan.reach_[q - 1] + plan.reach(q - 1) - (less ? 1 : 0);
  }
  check(surplus == 0 && plan.reach_[plan.rounds_] == ranks);
  return plan;
}

CombineRound PostalCombine::round(std::uint32_t round) const {
  check(round >= 1 && round <= rounds_);
  const bool sends_s = epsilon(round);
  return {.round = round,
          .offset = reach_[round - 1] - (sends_s ? 1 : 0),
          .sends_s = sends_s,
          .count = reach_[round] - reach_[round - 1]};
}

std::optional<CombineRound> PostalCombine::next_round(std::uint32_t round) const {
  for (std::uint32_t q = round + 1; q <= rounds_; ++q)
    if (reach_[q] > reach_[q - 1]) return this->round(q);
  return {};
}

Rank PostalCombine::target(const CombineRound& round, Rank me) const {
  return me >= round.offset ? me - round.offset : ranks_ - (round.offset - me);
}

Rank PostalCombine::source(const CombineRound& round, Rank me) const {
  return me < ranks_ - round.offset ? me + round.offset : me - (ranks_ - round.offset);
}

}  // namespace fibocast
