// Finds the straggler of one barrier as this node sees it, from the times at which words came in: each word - the
// participants' own call, or a peer's token - says who came last of the ranks it speaks for. Ranks may be in several
// words (dissemination): the last one counts. Core.
#pragma once

#include "runtime/node/straggler.h"

namespace fibocast {

class LastArrival {
 public:
  // A word that came at `now` (>= 0, from one clock). Straggler::late_by of kNever: it speaks for one rank only.
  // Nothing happens if it names nobody.
  void add(const Straggler& word, Nanoseconds now);
  // Somebody else knows the answer for all ranks.
  void settle(const Straggler& answer);
  // Of the ranks that words have spoken for. `late_by` is kNever if it was only one.
  Straggler straggler() const;

 private:
  Rank rank_ = kNoRank;
  Nanoseconds last_ = 0;     // its word came
  Nanoseconds before_ = -1;  // the last word of all others; negative: there are none
};

}  // namespace fibocast
