// Binomial trees. For a power of two they are one shape; otherwise four are in use, with different costs
// (Cordsen et al. 1997, A21).
#pragma once

#include "collectives/tree.h"

namespace fibocast {

enum class BinomialVariant : std::uint8_t {
  kFibo,      // Fibo(1,0): what daemons run
  kMask,      // children of v: v + 2^k for 2^k below v's lowest set bit, k decreasing
  kHalving,   // of m ranks the source keeps ceil(m / 2), the first of the rest is its child
  kDoubling,  // children of v: v + 2^j for 2^j > v, ascending
};

// Precondition: ranks >= 1.
Tree tree_binomial(Rank ranks, BinomialVariant variant = BinomialVariant::kFibo);

}  // namespace fibocast
