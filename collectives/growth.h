// How many processes a message can have reached by time t, and how long it takes to reach p of them: the
// growth function f and the distribution latency T of a send latency s and a receive latency r
// (Cordsen et al. 1997, eq. 2 (A5) and A6). No table of f: measured costs such as 27000 and 88001 ns would make
// one as long as time is. Core: no heap, no exceptions.
#pragma once

#include <cstdint>

namespace fibocast {

// Largest s and r: T(p) then stays below 2^63 for every 64-bit p. 2^56 ns are two years.
inline constexpr std::uint64_t kMaxLatency = std::uint64_t{1} << 56;

// s and r divided by their greatest common divisor. Trees depend on the quotient only, times scale (A4).
struct LatencyRatio {
  std::uint64_t s = 1;
  std::uint64_t r = 0;
  std::uint64_t scale = 1;  // the divisor
};

// True if 1 <= s <= kMaxLatency and 0 <= r <= kMaxLatency: s = 0 would be an infinite fan-out (A1).
bool are_latencies_valid(std::uint64_t s, std::uint64_t r);

// Precondition: s > 0.
LatencyRatio reduce_latencies(std::uint64_t s, std::uint64_t r);

// f for one pair of latencies. Immutable; a value of a few words.
class Growth {
 public:
  // Precondition: are_latencies_valid(s, r).
  Growth(std::uint64_t s, std::uint64_t r);

  // min(f(t), cap): the processes active at time t after the root became active at 0; 0 for t < 0.
  // Sums f(t) = sum over d >= 0 with d (s + r) <= t of C(floor((t - d r) / s), d): the term d counts the processes at
  // depth d. Stops as soon as the cap is reached.
  std::uint64_t active(std::int64_t t, std::uint64_t cap = UINT64_MAX) const;

  // f(t) and how many of these become active exactly at t, f(t) - f(t - 1), for little more than the time of f(t).
  // Precondition: f(t) < 2^64.
  struct Reached {
    std::uint64_t active = 0;
    std::uint64_t latest = 0;
  };
  Reached reached(std::int64_t t) const;

  // T(p) = min { t : f(t) >= p }, the least time in which any tree reaches p processes; 0 for p <= 1.
  // Same unit as s and r.
  std::int64_t latency(std::uint64_t p) const;

 private:
  // sends(t) = floor((t - d r) / s) for one d after the other, without a division for each.
  struct Term {
    std::uint64_t sends = 0;
    std::uint64_t rest = 0;  // t - d r - sends s
  };
  Term first_term(std::uint64_t t) const { return {t / s_, t % s_}; }
  void next_term(Term& term) const {
    const bool borrow = term.rest < receive_rest_;
    term.sends -= receive_sends_ + (borrow ? 1 : 0);
    term.rest += (borrow ? s_ : 0) - receive_rest_;
  }

  std::uint64_t s_;
  std::uint64_t delay_;          // s + r
  std::uint64_t receive_sends_;  // floor(r / s): the sends that take as long as receiving
  std::uint64_t receive_rest_;
};

// The same without keeping the object. Preconditions: are_latencies_valid(s, r).
std::uint64_t growth(std::int64_t t, std::uint64_t s, std::uint64_t r, std::uint64_t cap = UINT64_MAX);
std::int64_t distribution_latency(std::uint64_t p, std::uint64_t s, std::uint64_t r);

}  // namespace fibocast
