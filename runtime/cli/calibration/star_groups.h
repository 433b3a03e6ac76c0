// The groups in which calibration runs its experiments: one node sends to all others of its group.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "runtime/cli/bench_cluster.h"

namespace fibocast {

// The groups of an experiment: the same members in the same tree are one group.
class StarGroups {
 public:
  explicit StarGroups(BenchCluster& cluster) : cluster_(cluster) {}
  ~StarGroups() {
    for (const auto& [name, node] : names_) cluster_.remove_group(name, node);
  }
  StarGroups(const StarGroups&) = delete;
  StarGroups& operator=(const StarGroups&) = delete;

  // `order`: the root first, then its children in the order in which it sends to them; all are leaves.
  Result<BenchCluster::Members> star(const std::vector<NodeId>& order) {
    std::vector<NodeId> nodes = order;
    std::ranges::sort(nodes);
    const auto rank_of = [&](NodeId node) { return static_cast<Rank>(std::ranges::find(nodes, node) - nodes.begin()); };
    GivenTree tree;
    tree.parents.assign(nodes.size(), rank_of(order.front()));
    tree.parents[rank_of(order.front())] = kNoRank;
    for (const NodeId node : order) tree.order.push_back(rank_of(node));
    GroupRequest request;
    request.name = "calibrate-" + std::to_string(getpid()) + "-" + std::to_string(names_.size());
    request.nodes = nodes;
    request.tree = tree;
    auto members = cluster_.create_group(request);
    if (members.ok()) names_.emplace_back(request.name, nodes.front());
    return members;
  }

 private:
  BenchCluster& cluster_;
  std::vector<std::pair<std::string, NodeId>> names_;
};

}  // namespace fibocast
