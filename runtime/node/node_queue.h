// Nodes in the order of their arrival, each at most once, in memory that is handed in: the failure detector's lists
// of who is to be probed, told or reported. Core: no heap.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "collectives/check.h"
#include "collectives/types.h"

namespace fibocast {

class NodeQueue {
 public:
  // `links` has one place per node and outlives the queue.
  explicit NodeQueue(std::span<NodeId> links) : next_(links) { std::ranges::fill(next_, kNotIn); }

  std::uint32_t size() const { return size_; }
  // Precondition of front() and pop(): size() > 0.
  NodeId front() const { return first_; }
  // Appends `node`, a place of `links`; nothing happens if it is in already.
  void push(NodeId node) {
    if (next_[node] != kNotIn) return;
    next_[node] = kNoNode;
    (size_ == 0 ? first_ : next_[last_]) = node;
    last_ = node;
    ++size_;
  }
  NodeId pop() {
    check(size_ > 0);
    const NodeId node = first_;
    first_ = next_[node];
    next_[node] = kNotIn;
    --size_;
    return node;
  }

 private:
  static constexpr NodeId kNotIn = kNoNode - 1;  // kNoNode: the last one
  std::span<NodeId> next_;
  NodeId first_ = kNoNode;
  NodeId last_ = kNoNode;
  std::uint32_t size_ = 0;
};

}  // namespace fibocast
