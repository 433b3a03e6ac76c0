// Whole Fibo-trees: no tree distributes faster at send latency s and receive latency r (Cordsen et al. 1997). The
// same ranks and children as fibo_descent.h gives one at a time.
#pragma once

#include "collectives/tree.h"

namespace fibocast {

// Corrected Fig. 8 (A11) in the pool layout A13; children in send order, largest subtree first (A14).
// O(ranks) time. Preconditions: ranks >= 1, are_latencies_valid(s, r).
Tree tree_fibo(Rank ranks, std::uint64_t s, std::uint64_t r);

}  // namespace fibocast
