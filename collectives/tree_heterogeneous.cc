#include "collectives/tree_heterogeneous.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "collectives/check.h"

namespace fibocast {
namespace {

constexpr std::uint64_t kMostTicks = std::uint64_t{1} << 62;

using TimedRank = std::pair<std::uint64_t, Rank>;

std::vector<Rank> receivers(const HeterogeneousCosts& costs, Rank root, ServeOrder order) {
  const auto key = [&](Rank v) {
    const auto [send, receive] = costs.nodes[v];
    switch (order) {
      case ServeOrder::kReceive: return std::tuple(receive, send, v);
      case ServeOrder::kSend: return std::tuple(send, receive, v);
      case ServeOrder::kSum: return std::tuple(send + receive, receive, v);
    }
    check(false);
    return std::tuple(send, receive, v);
  };
  std::vector<Rank> ranks(costs.nodes.size());
  std::iota(ranks.begin(), ranks.end(), Rank{0});
  std::erase(ranks, root);
  std::ranges::sort(ranks, {}, key);
  return ranks;
}

// A leaf's place in a tree: the index-th child of its parent, and when a message gets there, before it is received.
struct LeafPlace {
  std::uint64_t arrival;
  Rank parent;
  std::size_t index;
  auto operator<=>(const LeafPlace&) const = default;
};

std::vector<LeafPlace> leaf_places(const Tree& tree, const HeterogeneousCosts& costs) {
  const std::vector<std::uint64_t> time = activation_times(tree, costs);
  std::vector<LeafPlace> places;
  for (Rank v = 0; v < tree.size(); ++v) {
    const auto children = tree.children(v);
    for (std::size_t i = 0; i < children.size(); ++i)
      if (tree.children(children[i]).empty())
        places.push_back({time[children[i]] - costs.nodes[children[i]].receive, v, i});
  }
  return places;
}

}  // namespace

void check_times_fit(const HeterogeneousCosts& costs) {
  std::uint64_t longest = 0;
  for (const NodeCost& node : costs.nodes) {
    if (std::max({node.send, node.receive, costs.link}) >= kMostTicks / 4)
      throw std::overflow_error("the times do not fit in 64 bit");
    longest = std::max(longest, node.send + node.receive + costs.link);
  }
  // A rank waits for at most one send, one wire and one receive of each other rank, on the way and in a queue.
  if (longest > kMostTicks / std::max<std::uint64_t>(2 * costs.nodes.size(), 1))
    throw std::overflow_error("the times do not fit in 64 bit");
}

std::vector<std::uint64_t> activation_times(const Tree& tree, const HeterogeneousCosts& costs) {
  check(tree.size() == costs.nodes.size());
  std::vector<std::uint64_t> time(tree.size(), 0);
  for (const Rank v : tree.from_root_down()) {
    std::uint64_t sent = time[v];
    for (const Rank child : tree.children(v))
      time[child] = (sent += costs.nodes[v].send) + costs.link + costs.nodes[child].receive;
  }
  return time;
}

std::uint64_t completion(const Tree& tree, const HeterogeneousCosts& costs) {
  const std::vector<std::uint64_t> time = activation_times(tree, costs);
  return time.empty() ? 0 : *std::ranges::max_element(time);
}

std::uint64_t reduction_completion(const Tree& tree, const HeterogeneousCosts& costs) {
  check(tree.size() == costs.nodes.size());
  std::vector<std::uint64_t> ready(tree.size(), 0);
  std::vector<TimedRank> arrivals;
  const std::vector<Rank> order = tree.from_root_down();
  for (auto v = order.rbegin(); v != order.rend(); ++v) {
    arrivals.clear();
    for (const Rank child : tree.children(*v))
      arrivals.emplace_back(ready[child] + costs.nodes[child].send + costs.link, child);
    std::ranges::sort(arrivals);
    for (const auto& [time, child] : arrivals) ready[*v] = std::max(ready[*v], time) + costs.nodes[*v].receive;
  }
  return ready.empty() ? 0 : ready[tree.root()];
}

Tree tree_fastest_first(const HeterogeneousCosts& costs, Rank root, ServeOrder order) {
  check(root < costs.nodes.size());
  const std::vector<Rank> ranks = receivers(costs, root, order);
  std::vector<Rank> parent(costs.nodes.size(), kNoRank);
  // When each informed rank's next send ends: the earliest on top.
  std::priority_queue<TimedRank, std::vector<TimedRank>, std::greater<>> informed;
  informed.emplace(costs.nodes[root].send, root);
  for (const Rank v : ranks) {
    const auto [sent, sender] = informed.top();
    informed.pop();
    parent[v] = sender;
    informed.emplace(sent + costs.nodes[sender].send, sender);
    informed.emplace(sent + costs.link + costs.nodes[v].receive + costs.nodes[v].send, v);
  }
  return Tree::from_parents(std::move(parent), ranks);
}

Tree with_leaves_reassigned(const Tree& tree, const HeterogeneousCosts& costs) {
  std::vector<LeafPlace> places = leaf_places(tree, costs);
  std::vector<Rank> leaves;
  for (const LeafPlace& place : places) leaves.push_back(tree.children(place.parent)[place.index]);
  std::ranges::sort(places);
  std::ranges::sort(leaves, {}, [&](Rank v) { return std::pair(~costs.nodes[v].receive, v); });
  // moved[v]: who is where v was.
  std::vector<Rank> moved(tree.size());
  std::iota(moved.begin(), moved.end(), Rank{0});
  for (std::size_t i = 0; i < places.size(); ++i) moved[tree.children(places[i].parent)[places[i].index]] = leaves[i];
  std::vector<Rank> parent(tree.size(), kNoRank);
  std::vector<Rank> order;
  for (Rank v = 0; v < tree.size(); ++v) {
    for (const Rank child : tree.children(v)) {
      parent[moved[child]] = v;  // v has children: it did not move
      order.push_back(moved[child]);
    }
  }
  return Tree::from_parents(std::move(parent), order);
}

Tree tree_heterogeneous(const HeterogeneousCosts& costs, Rank root, ServeOrder order) {
  return with_leaves_reassigned(tree_fastest_first(costs, root, order), costs);
}

Tree best_tree_heterogeneous(const HeterogeneousCosts& costs, Rank root) {
  Tree best = tree_heterogeneous(costs, root, ServeOrder::kReceive);
  for (const ServeOrder order : {ServeOrder::kSend, ServeOrder::kSum}) {
    Tree other = tree_heterogeneous(costs, root, order);
    if (completion(other, costs) < completion(best, costs)) best = std::move(other);
  }
  return best;
}

}  // namespace fibocast
