// Who exchanges with whom where partners double their distance: p' = the largest power of two up to p ranks, numbered
// 0 .. p' - 1 in the order of the ranks. Each of the p - p' ranks over has a neighbour that works for it: of the first
// 2 (p - p') ranks the even ones are over (Rabenseifner 2004). Core: no heap, no exceptions.
#pragma once

#include <bit>

#include "collectives/types.h"

namespace fibocast {

class PairedRanks {
 public:
  // Precondition: me < ranks.
  PairedRanks(Rank ranks, Rank me) : count_(std::bit_floor(ranks)), over_(ranks - count_), me_(me) {}

  Rank count() const { return count_; }  // p'
  bool some_are_over() const { return over_ > 0; }
  // Has a neighbour, me + 1, that works for it.
  bool is_over() const { return has_neighbour() && me_ % 2 == 0; }
  // Works for its neighbour, me - 1, too.
  bool works_for_two() const { return has_neighbour() && me_ % 2 == 1; }

  // Of a rank that is not over, here and below; distance: a power of two below p'.
  Rank number() const { return has_neighbour() ? me_ / 2 : me_ - over_; }
  bool is_upper(Rank distance) const { return (number() & distance) != 0; }
  Rank partner(Rank distance) const {
    const Rank other = number() ^ distance;
    return other < over_ ? 2 * other + 1 : other + over_;
  }

 private:
  bool has_neighbour() const { return me_ < 2 * over_; }
  Rank count_, over_, me_;
};

}  // namespace fibocast
