// The global combine of the postal model: every rank ends with the combination of all contributions, in the T(n) rounds
// of a broadcast (Bruck et al. 1996, section 3, corrected: B20-B22), for any number of ranks. A round of it needs a few
// integers, so a rank writes its own schedule. Core: no heap, no exceptions.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "collectives/types.h"

namespace fibocast {

// The most rounds of sending that are planned: enough for 2^32 ranks up to lambda = 20.
inline constexpr std::uint32_t kMostCombineRounds = 224;

// What every rank j sends in one round: its partial T_j (own contribution first) or S_j (T_j without the own one) as of
// the end of the round before, to rank j - offset modulo the number of ranks.
struct CombineRound {
  std::uint32_t round = 0;  // from 1; received at the end of round + lambda - 1
  Rank offset = 0;
  bool sends_s = false;
  std::uint32_t count = 0;  // contributions in the message; 0: nothing is sent
};

// The two ways to run on a machine whose lambda = 1 + r / s is no integer (B26, B27); the same for one that is.
enum class CombineDelay : std::uint8_t {
  kReceive,  // rounds of s, lambda rounded up: a message is used later than it arrives
  kSend,     // lambda rounded down to m, rounds of (s + r) / m: a rank sends less often than it could
};

// How many rounds a message is on its way and how long a round is, in the ticks of s and r.
struct CombineClock {
  std::uint64_t lambda = 1;
  std::uint64_t numerator = 1;  // a round lasts numerator / denominator ticks
  std::uint64_t denominator = 1;

  // The tick in which round `round` >= 1 may begin, rounded up: what arrives is then there, and the sends of a rank
  // stay s ticks apart. Preconditions: the clock is valid, round <= kMostCombineRounds.
  std::uint64_t not_before(std::uint32_t round) const {
    return ((round - 1) * numerator + denominator - 1) / denominator;
  }
};

// Nothing unless s >= 1 and s + r <= kMaxLatency.
std::optional<CombineClock> combine_clock(std::uint64_t s, std::uint64_t r, CombineDelay delay);

// The rounds for a number of ranks and an integer lambda. Immutable; a value of less than 1 KiB.
class PostalCombine {
 public:
  // Nothing for ranks = 0, lambda = 0 or > kMaxLatency, or more than kMostCombineRounds rounds.
  static std::optional<PostalCombine> make(Rank ranks, std::uint64_t lambda);

  Rank ranks() const { return ranks_; }
  std::uint64_t lambda() const { return lambda_; }
  // Rounds in which is sent: T(n) - lambda + 1; 0 for one rank.
  std::uint32_t rounds() const { return rounds_; }
  // T(n): rounds until everybody has everything.
  std::uint64_t time() const { return rounds_ == 0 ? 0 : rounds_ + lambda_ - 1; }
  // N_e(x), the contributions in T after round x <= time() (B21): 1 until the first message is there, ranks() at last.
  Rank reach(std::uint64_t x) const { return x < lambda_ ? 1 : reach_[x - lambda_ + 1]; }
  // eps of the round (B21): true where S is sent instead of T, so that the counts add up to ranks(). Canonical: the
  // surplus N(t) - n is taken off greedily. Precondition: 1 <= round <= rounds().
  bool epsilon(std::uint32_t round) const { return reach_[round] - reach_[round - 1] < reach(round - 1); }
  // Precondition: 1 <= round <= rounds().
  CombineRound round(std::uint32_t round) const;
  // The first round after `round` in which something is sent; start with 0.
  std::optional<CombineRound> next_round(std::uint32_t round) const;

  // The rank to which `me` sends, and the only one from which it receives, in a round.
  Rank target(const CombineRound& round, Rank me) const;
  Rank source(const CombineRound& round, Rank me) const;

 private:
  Rank ranks_ = 1;
  std::uint64_t lambda_ = 1;
  std::uint32_t rounds_ = 0;
  std::array<Rank, kMostCombineRounds + 1> reach_ = {1};  // [q]: N_e(q + lambda - 1)
};

}  // namespace fibocast
