#include "collectives/tree_binomial.h"

#include <bit>

#include "collectives/tree_fibo.h"

namespace fibocast {
namespace {

// The parent of v is v without its lowest set bit.
Tree mask_tree(Rank ranks) {
  std::vector<Rank> parent(ranks, kNoRank);
  for (Rank v = 1; v < ranks; ++v) parent[v] = v & (v - 1);
  return Tree::from_parents(std::move(parent), SendOrder::kDescending);
}

// The parent of v is v without its highest set bit.
Tree doubling_tree(Rank ranks) {
  std::vector<Rank> parent(ranks, kNoRank);
  for (Rank v = 1; v < ranks; ++v) parent[v] = v ^ std::bit_floor(v);
  return Tree::from_parents(std::move(parent), SendOrder::kAscending);
}

void halve(std::vector<Rank>& parent, Rank source, Rank count) {
  while (count > 1) {
    const Rank kept = count - count / 2;
    parent[source + kept] = source;
    halve(parent, source + kept, count - kept);
    count = kept;
  }
}

Tree halving_tree(Rank ranks) {
  std::vector<Rank> parent(ranks, kNoRank);
  halve(parent, 0, ranks);
  return Tree::from_parents(std::move(parent), SendOrder::kDescending);
}

}  // namespace

Tree tree_binomial(Rank ranks, BinomialVariant variant) {
  switch (variant) {
    case BinomialVariant::kMask: return mask_tree(ranks);
    case BinomialVariant::kHalving: return halving_tree(ranks);
    case BinomialVariant::kDoubling: return doubling_tree(ranks);
    case BinomialVariant::kFibo: break;
  }
  return tree_fibo(ranks, 1, 0);
}

}  // namespace fibocast
