// Divide and conquer (Lo et al. 1992) over the binomial tree B(n), n = ceil(log2 p): virtual rank v is node
// b = 2^n - 1 - v of the paper (D1), so that the edge which adds 2^j to a rank is the message of phase n - j (D2). In
// each phase a node passes on the share alpha of what it holds. Core: no heap, no exceptions.
#pragma once

#include "collectives/rank_schedule.h"
#include "collectives/shape.h"

namespace fibocast {

// Elements of the root's vector, one behind the other.
struct Share {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
  std::uint32_t end() const { return first + count; }
  bool operator==(const Share&) const = default;
};

// The vector holds whole elements, fewer than 2^32. What follows is for such shapes of a divide or conquer, their
// choice being kBinomialShares, and ranks below shape.ranks.
bool has_shares(const OperationShape& shape);

// What a rank keeps in the end of a divide, and brings to a conquer. A node that holds W elements sends the last
// floor(alpha W) and keeps the first ceil(alpha W). A child that does not exist is no phase: nothing is passed on.
Share final_share(const OperationShape& shape, Rank rank);
// What it holds before its first phase as a sender, and after its last one of a conquer.
Share whole_share(const OperationShape& shape, Rank rank);
// What it keeps in the phase in which it sends to this child of its own.
Share kept_share(const OperationShape& shape, Rank rank, Rank child);

// Write rank `me`'s stage: from its parent, then to its children, the largest subtree first; and the same edges back in
// reversed order. False: no shares. Precondition: me < ranks.
bool write_divide(const OperationShape& shape, Rank me, ScheduleWriter& out);
bool write_conquer(const OperationShape& shape, Rank me, ScheduleWriter& out);

}  // namespace fibocast
