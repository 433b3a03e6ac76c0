#include "collectives/models/fat_tree_simulator.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "collectives/check.h"

namespace fibocast {
namespace {

struct Packet {
  std::size_t index;  // of its dispatch
  Rank at;
};

// Up until the destination is below, then down into the half that has it.
Rank next_hop(Rank n, Rank at, Rank destination) {
  const TreeNeighbours around = neighbours(n, at);
  const Rank first = first_leaf_below(n, at);
  const Rank below = Rank{1} << level_of(n, at);
  if (destination < first || destination >= first + below) return around.parent;
  return destination < first + below / 2 ? around.left : around.right;
}

std::uint64_t capacity_between(const FatTree& tree, Rank a, Rank b) {
  return tree.capacity[level_of(static_cast<Rank>(tree.leaves), std::max(a, b)) - 1];
}

// One step's use of the links, to be sorted and counted.
std::optional<LinkConflict> overfull(const FatTree& tree, std::uint64_t step,
                                     std::vector<std::pair<Rank, Rank>>& used) {
  std::sort(used.begin(), used.end());
  for (auto run = used.begin(); run != used.end();) {
    const auto end = std::upper_bound(run, used.end(), *run);
    const auto packets = static_cast<std::uint64_t>(end - run);
    if (packets > capacity_between(tree, run->first, run->second))
      return LinkConflict{step, run->first, run->second, packets};
    run = end;
  }
  return std::nullopt;
}

std::vector<std::size_t> in_order_of_steps(const std::vector<FatTreeDispatch>& dispatches) {
  std::vector<std::size_t> order(dispatches.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return dispatches[a].step < dispatches[b].step; });
  return order;
}

}  // namespace

FatTreeTraffic simulate(const FatTree& tree, const std::vector<FatTreeDispatch>& dispatches) {
  const auto n = static_cast<Rank>(tree.leaves);
  FatTreeTraffic traffic;
  traffic.received.resize(dispatches.size());
  const std::vector<std::size_t> order = in_order_of_steps(dispatches);
  std::size_t next = 0;
  std::vector<Packet> moving;
  std::vector<std::pair<Rank, Rank>> used;
  for (std::uint64_t step = 1; next < order.size() || !moving.empty(); ++step) {
    if (moving.empty()) step = std::max(step, dispatches[order[next]].step);
    for (; next < order.size() && dispatches[order[next]].step <= step; ++next) {
      const FatTreeDispatch& d = dispatches[order[next]];
      check(d.step >= 1 && d.source < n && d.destination < n && d.source != d.destination);
      moving.push_back({order[next], d.source});
    }
    used.clear();
    for (Packet& packet : moving) {
      const Rank to = next_hop(n, packet.at, dispatches[packet.index].destination);
      used.emplace_back(packet.at, to);
      packet.at = to;
      if (to == dispatches[packet.index].destination) traffic.received[packet.index] = traffic.completion = step;
    }
    if (!traffic.conflict) traffic.conflict = overfull(tree, step, used);
    std::erase_if(moving, [&](const Packet& p) { return p.at == dispatches[p.index].destination; });
  }
  return traffic;
}

std::optional<std::string> exchange_mistake(const FatTree& tree, const std::vector<FatTreeDispatch>& dispatches) {
  std::set<std::pair<Rank, Rank>> pairs;
  for (const FatTreeDispatch& d : dispatches)
    if (!pairs.emplace(d.source, d.destination).second)
      return "twice from " + std::to_string(d.source) + " to " + std::to_string(d.destination);
  if (pairs.size() != tree.leaves * (tree.leaves - 1))
    return std::to_string(pairs.size()) + " pairs instead of " + std::to_string(tree.leaves * (tree.leaves - 1));
  const auto conflict = simulate(tree, dispatches).conflict;
  if (!conflict) return std::nullopt;
  return std::to_string(conflict->packets) + " packets from " + std::to_string(conflict->from) + " to " +
         std::to_string(conflict->to) + " in step " + std::to_string(conflict->step);
}

}  // namespace fibocast
