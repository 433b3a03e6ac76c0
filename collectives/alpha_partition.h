// Optimal broadcasts of the postal model by cutting a list of ranks in two, again and again: which cuts are optimal
// (Bruck et al. 1996, B8), which fractions alpha make such cuts (B9), and the short table of fractions that serves
// every number of ranks (B11). For tools, not the core.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "collectives/postal_growth.h"
#include "collectives/rational.h"

namespace fibocast {

// How many ranks the sender may keep, itself among them, when it sends its first message.
struct PartitionRange {
  std::uint64_t least = 1;
  std::uint64_t most = 1;
  bool operator==(const PartitionRange&) const = default;
};

// Exactly the optimal ones: n - N(t - lambda) to N(t - 1) with t = T(n) (B8). There are N(t) - n + 1.
// Preconditions: 2 <= ranks <= kMostPostalRanks, are_latencies_valid(s, r).
PartitionRange legal_partitions(std::uint64_t ranks, std::uint64_t s, std::uint64_t r);

// from <= alpha < below.
struct AlphaInterval {
  Rational from = 0;
  Rational below = 1;
  bool contains(const Rational& alpha) const { return from <= alpha && alpha < below; }
  bool is_empty() const { return below <= from; }
  bool operator==(const AlphaInterval&) const = default;
};

AlphaInterval intersection(const AlphaInterval& a, const AlphaInterval& b);

// The fractions whose cut of `ranks` is in `range`: (2 least - 1) / 2n to (2 most + 1) / 2n, without the limit at an
// end where the cut is clipped anyway (B9).
AlphaInterval legal_alphas(std::uint64_t ranks, const PartitionRange& range);

// What the sender keeps of `ranks`: alpha * ranks rounded half up, at least 1 and at most ranks - 1 (B7). Exact.
// Preconditions: 2 <= ranks <= kMostPostalRanks, 0 < alpha < 1.
std::uint64_t kept_share(const Rational& alpha, std::uint64_t ranks);

// True if 0 < alpha < 1; else `error` is a sentence.
bool is_alpha_valid(const Rational& alpha, std::string& error);

// Serves every number of ranks above that of the entry before, up to its own.
struct AlphaEntry {
  std::uint64_t most_ranks = 0;
  AlphaInterval alphas;
  Rational alpha() const { return (alphas.from + alphas.below) / 2; }
};

// The compressed table of alpha (B11). Only the sizes N(t) constrain (B10), so it is short: 32 entries for 1000 ranks
// at lambda = 1.293. Cutting by alpha(n) at every n takes T(n). Immutable once made.
class AlphaTable {
 public:
  // For 1 to `ranks` ranks (1 needs no entry). Nothing, and a sentence, for less than 1 rank, more than
  // kMostPostalRanks, latencies that are not valid, or more than 10 million sizes N(t) (an enormous lambda).
  static std::optional<AlphaTable> make(std::uint64_t ranks, std::uint64_t s, std::uint64_t r, std::string& error);

  const std::vector<AlphaEntry>& entries() const { return entries_; }
  // Precondition: 2 <= ranks <= those the table was made for.
  Rational alpha(std::uint64_t ranks) const;

 private:
  void add(std::uint64_t ranks, const AlphaInterval& alphas);
  std::vector<AlphaEntry> entries_;
};

}  // namespace fibocast
