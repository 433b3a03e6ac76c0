#include "collectives/tree_lambda.h"

#include <algorithm>

#include "collectives/check.h"
#include "collectives/growth.h"
#include "collectives/tree_fibo.h"

namespace fibocast {
namespace {

struct Sender {
  Rank rank;
  std::uint64_t time;  // of its next send
};

// A queue that only grows at the end; both stay sorted by time.
struct Queue {
  std::vector<Sender> entries;
  std::size_t head = 0;
  bool empty() const { return head == entries.size(); }
  std::uint64_t time() const { return entries[head].time; }
};

// The ranks from `first` on, `first` being their sender.
struct Block {
  Rank first;
  Rank count;
};

// What is left to cut: `step` is the budget that the block has, its full tree has steps[step].size ranks.
struct BudgetBlock {
  Block block;
  std::size_t step;
};

}  // namespace

Tree tree_lambda_queue(Rank ranks, std::uint64_t s, std::uint64_t r) {
  check(ranks >= 1 && are_latencies_valid(s, r));
  std::vector<Rank> parent = {kNoRank};
  parent.reserve(ranks);
  Queue fresh{{{0, 0}}};
  Queue old;
  while (parent.size() < ranks) {
    const bool from_old = !old.empty() && (fresh.empty() || old.time() <= fresh.time());
    Queue& queue = from_old ? old : fresh;
    const Sender sender = queue.entries[queue.head++];
    fresh.entries.push_back({static_cast<Rank>(parent.size()), sender.time + s + r});
    old.entries.push_back({sender.rank, sender.time + s});
    parent.push_back(sender.rank);
  }
  return Tree::from_parents(std::move(parent), SendOrder::kAscending);
}

Tree tree_lambda_descent(Rank ranks, std::uint64_t s, std::uint64_t r) { return tree_fibo(ranks, s, r); }

Tree tree_lambda_bottomup(Rank ranks, std::uint64_t s, std::uint64_t r) {
  check(ranks >= 1);
  const std::vector<GrowthStep> steps = growth_steps(ranks, s, r);
  std::vector<Rank> parent(ranks, kNoRank);
  std::vector<BudgetBlock> open = {{{0, ranks}, steps.size() - 1}};
  while (!open.empty()) {
    auto [block, step] = open.back();
    open.pop_back();
    while (block.count > 1) {
      const auto kept = static_cast<Rank>(std::min<std::uint64_t>(block.count - 1, steps[steps[step].kept].size));
      parent[block.first + kept] = block.first;
      open.push_back({{block.first + kept, block.count - kept}, steps[step].given});
      block.count = kept;
      step = steps[step].kept;
    }
  }
  return Tree::from_parents(std::move(parent), SendOrder::kDescending);
}

Tree tree_lambda_partition(Rank ranks, const std::function<std::uint64_t(std::uint64_t)>& kept) {
  check(ranks >= 1);
  std::vector<Rank> parent(ranks, kNoRank);
  std::vector<Block> open = {{0, ranks}};
  while (!open.empty()) {
    Block block = open.back();
    open.pop_back();
    while (block.count > 1) {
      const auto share = static_cast<Rank>(kept(block.count));
      check(share >= 1 && share < block.count);
      parent[block.first + share] = block.first;
      open.push_back({block.first + share, block.count - share});
      block.count = share;
    }
  }
  return Tree::from_parents(std::move(parent), SendOrder::kDescending);
}

Tree tree_lambda_alpha(Rank ranks, const Rational& alpha) {
  return tree_lambda_partition(ranks, [&alpha](std::uint64_t n) { return kept_share(alpha, n); });
}

Tree tree_lambda_alpha(Rank ranks, const AlphaTable& table) {
  return tree_lambda_partition(ranks, [&table](std::uint64_t n) { return kept_share(table.alpha(n), n); });
}

}  // namespace fibocast
