#include "collectives/tree.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace fibocast {
namespace {

// first[v] becomes the sum of the counts before v; the last entry the total.
void counts_to_offsets(std::vector<Rank>& first) {
  Rank sum = 0;
  for (Rank& entry : first) sum += std::exchange(entry, sum);
}

}  // namespace

Tree Tree::from_parents(std::vector<Rank> parent, SendOrder order) {
  std::vector<Rank> ranks(parent.size());
  std::iota(ranks.begin(), ranks.end(), Rank{0});
  if (order == SendOrder::kDescending) std::ranges::reverse(ranks);
  return from_parents(std::move(parent), ranks);
}

Tree Tree::from_parents(std::vector<Rank> parent, std::span<const Rank> order) {
  Tree tree;
  tree.parent_ = std::move(parent);
  const Rank p = tree.size();
  tree.first_child_.assign(p + 1, 0);
  for (Rank v = 0; v < p; ++v) {
    if (tree.parent_[v] == kNoRank) {
      tree.root_ = v;
    } else {
      ++tree.first_child_[tree.parent_[v]];
    }
  }
  counts_to_offsets(tree.first_child_);
  tree.child_.resize(tree.first_child_[p]);
  std::vector<Rank> next(tree.first_child_);
  for (const Rank v : order)
    if (tree.parent_[v] != kNoRank) tree.child_[next[tree.parent_[v]]++] = v;
  return tree;
}

std::vector<Rank> Tree::from_root_down() const {
  std::vector<Rank> order;
  if (parent_.empty()) return order;
  order.reserve(parent_.size());
  order.push_back(root_);
  // Each rank but the root is in one list of children, so nothing is visited twice.
  for (std::size_t i = 0; i < order.size(); ++i)
    for (const Rank child : children(order[i])) order.push_back(child);
  return order;
}

Tree Tree::rotated(Rank by) const {
  const Rank p = size();
  const auto name = [&](Rank v) { return static_cast<Rank>((std::uint64_t{v} + by) % p); };
  Tree result;
  result.root_ = name(root_);
  result.parent_.assign(p, kNoRank);
  result.first_child_.assign(p + 1, 0);
  for (Rank v = 0; v < p; ++v) {
    if (parent_[v] != kNoRank) result.parent_[name(v)] = name(parent_[v]);
    result.first_child_[name(v)] = static_cast<Rank>(children(v).size());
  }
  counts_to_offsets(result.first_child_);
  result.child_.resize(child_.size());
  for (Rank v = 0; v < p; ++v)
    std::ranges::transform(children(v), result.child_.begin() + result.first_child_[name(v)], name);
  return result;
}

std::vector<std::uint64_t> activation_times(const Tree& tree, std::uint64_t s, std::uint64_t r) {
  std::vector<std::uint64_t> time(tree.size(), 0);
  for (const Rank v : tree.from_root_down()) {
    std::uint64_t sent = time[v];
    for (const Rank child : tree.children(v)) time[child] = (sent += s) + r;
  }
  return time;
}

std::uint64_t completion(const Tree& tree, std::uint64_t s, std::uint64_t r) {
  const std::vector<std::uint64_t> time = activation_times(tree, s, r);
  return time.empty() ? 0 : *std::ranges::max_element(time);
}

std::uint64_t reduction_completion(const Tree& tree, std::uint64_t s, std::uint64_t o, std::uint64_t l) {
  std::vector<std::uint64_t> ready(tree.size(), 0);
  std::vector<std::pair<std::uint64_t, Rank>> arrivals;
  const std::vector<Rank> order = tree.from_root_down();
  for (auto v = order.rbegin(); v != order.rend(); ++v) {
    arrivals.clear();
    for (const Rank child : tree.children(*v)) arrivals.emplace_back(ready[child] + s + l, child);
    std::ranges::sort(arrivals);
    for (const auto& [time, child] : arrivals) ready[*v] = std::max(ready[*v], time) + o;
  }
  return ready.empty() ? 0 : ready[tree.root()];
}

}  // namespace fibocast
