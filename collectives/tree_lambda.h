// Optimal broadcast trees of the postal model (Bruck et al. 1996): lambda = 1 + r / s makes them Fibo-trees (F1), but
// four constructions number them differently and, where several trees are optimal, take different ones.
#pragma once

#include <functional>

#include "collectives/alpha_partition.h"
#include "collectives/tree.h"

namespace fibocast {

// The two-queue greedy (B5): ranks in the order in which they become active, so every prefix is optimal too. At equal
// time the queue of those that have sent before goes first. O(ranks). Preconditions: ranks >= 1, are_latencies_valid(s,
// r).
Tree tree_lambda_queue(Rank ranks, std::uint64_t s, std::uint64_t r);

// The numbering that daemons use: contiguous subtrees, as tree_fibo().
Tree tree_lambda_descent(Rank ranks, std::uint64_t s, std::uint64_t r);

// The bottom-up construction (B6): the full trees of all sizes N(k) are described once, each as two smaller ones, and
// what the requested size lacks is pruned from the part that is given away. Contiguous subtrees. Preconditions: as
// above, and ranks <= kMostPostalRanks.
Tree tree_lambda_bottomup(Rank ranks, std::uint64_t s, std::uint64_t r);

// The recursive partition (B7): of n ranks the sender keeps the first kept(n), 1 <= kept(n) < n, and gives the rest to
// the first of the rest. Contiguous subtrees. Precondition: ranks >= 1.
Tree tree_lambda_partition(Rank ranks, const std::function<std::uint64_t(std::uint64_t)>& kept);
// With one alpha for every n; alpha = 1/2 is the binomial tree by halving (F3). Preconditions: 0 < alpha < 1, 1 <=
// ranks
// <= kMostPostalRanks.
Tree tree_lambda_alpha(Rank ranks, const Rational& alpha);
// With the table's alpha(n): takes T(ranks). Precondition: the table was made for at least `ranks`.
Tree tree_lambda_alpha(Rank ranks, const AlphaTable& table);

}  // namespace fibocast
