#include "collectives/models/fat_tree_flood.h"

#include <algorithm>
#include <array>
#include <deque>

#include "collectives/check.h"

namespace fibocast {
namespace {

class Flooding {
 public:
  Flooding(const FatTree& tree, FloodTies ties)
      : tree_(tree), n_(static_cast<Rank>(tree.leaves)), ties_(ties), queues_(tree_nodes(n_)) {
    const std::size_t levels = tree.levels() + 1u;
    run_.queues = {std::vector<std::uint64_t>(levels), std::vector<std::uint64_t>(levels),
                   std::vector<std::uint64_t>(levels), std::vector<std::uint64_t>(levels)};
  }

  FloodRun run() {
    for (Rank leaf = 0; n_ > 1 && leaf < n_; ++leaf) queues_[leaf][kParent].push_back(leaf);
    for (std::uint64_t step = 1; depart(step); ++step) arrive();
    return std::move(run_);
  }

 private:
  enum Branch { kLeft, kRight, kParent, kBranches };

  static Rank end_of(const TreeNeighbours& around, int branch) {
    return branch == kParent ? around.parent : branch == kLeft ? around.left : around.right;
  }

  // Sends what the branches carry in this step; false if all queues were empty.
  bool depart(std::uint64_t step) {
    arrived_.clear();
    for (Rank node = 0; node < queues_.size(); ++node)
      for (int branch = kLeft; branch < kBranches; ++branch) depart(step, node, branch);
    if (!arrived_.empty()) run_.completion = step;
    return !arrived_.empty();
  }

  void depart(std::uint64_t step, Rank node, int branch) {
    std::deque<Rank>& queue = queues_[node][branch];
    const unsigned level = level_of(n_, node);
    for (std::uint64_t free = queue.empty() ? 0 : tree_.capacity[branch == kParent ? level : level - 1];
         free > 0 && !queue.empty(); --free) {
      arrived_.push_back({step, node, end_of(neighbours(n_, node), branch), queue.front()});
      queue.pop_front();
    }
    note(branch == kParent ? run_.queues.up_wait : run_.queues.down_wait, level, queue.size());
  }

  // Among the packets that reach one router in a step the tie rule decides; those of one branch keep their order.
  void arrive() {
    run_.hops.insert(run_.hops.end(), arrived_.begin(), arrived_.end());
    std::stable_sort(arrived_.begin(), arrived_.end(),
                     [this](const FloodHop& a, const FloodHop& b) { return turn(a) < turn(b); });
    for (const FloodHop& hop : arrived_)
      if (hop.to >= n_) forward(hop);
    for (Rank node = n_; node < queues_.size(); ++node)
      for (int branch = kLeft; branch < kBranches; ++branch)
        note(branch == kParent ? run_.queues.up_peak : run_.queues.down_peak, level_of(n_, node),
             queues_[node][branch].size());
  }

  int turn(const FloodHop& hop) const {
    if (hop.from > hop.to) return ties_.parent_first ? 0 : 3;
    return (hop.from % 2 == 1) == ties_.right_first ? 1 : 2;
  }

  void forward(const FloodHop& hop) {
    const TreeNeighbours around = neighbours(n_, hop.to);
    for (int branch = kLeft; branch < kBranches; ++branch) {
      const Rank to = end_of(around, branch);
      if (to != kNoRank && to != hop.from) queues_[hop.to][branch].push_back(hop.source);
    }
  }

  static void note(std::vector<std::uint64_t>& longest, unsigned level, std::size_t length) {
    if (level > 0) longest[level] = std::max<std::uint64_t>(longest[level], length);
  }

  const FatTree& tree_;
  Rank n_;
  FloodTies ties_;
  std::vector<std::array<std::deque<Rank>, kBranches>> queues_;  // of sources, for each node
  std::vector<FloodHop> arrived_;
  FloodRun run_;
};

}  // namespace

FloodRun simulate_flooding(const FatTree& tree, FloodTies ties) { return Flooding(tree, ties).run(); }

std::uint64_t flood_up_wait(unsigned levels, unsigned level) {
  check(level >= 1 && level <= levels);
  return level == levels ? 0 : std::uint64_t{1} << (level - 1);
}

std::uint64_t flood_down_wait(unsigned levels, unsigned level) {
  check(level >= 1 && level <= levels);
  const std::uint64_t half = std::uint64_t{1} << (level - 1);
  return level == levels || half < 2 ? 0 : half - 2;
}

}  // namespace fibocast
