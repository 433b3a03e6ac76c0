// Optimal broadcast trees of the postal model (Bruck et al. 1996): lambda = 1 + r / s makes them Fibo-trees (F1), but
// two constructions number them differently.
#pragma once

#include "collectives/tree.h"

namespace fibocast {

// The two-queue greedy (B5): ranks in the order in which they become active, so every prefix is optimal too. At equal
// time the queue of those that have sent before goes first. O(ranks). Preconditions: ranks >= 1, are_latencies_valid(s,
// r).
Tree tree_lambda_queue(Rank ranks, std::uint64_t s, std::uint64_t r);

// The numbering that daemons use: contiguous subtrees, as tree_fibo().
Tree tree_lambda_descent(Rank ranks, std::uint64_t s, std::uint64_t r);

}  // namespace fibocast
