// Two network namespaces that a bridge in a third one joins, and that can be parted. Only root may make them.
#pragma once

#include <string>

#include "tests/end_to_end/programs.h"

namespace fibocast {

class PartedNetwork {
 public:
  // The first `in_a` of the nodes live in one of the two, the others in the other one.
  PartedNetwork(const TestCluster& folder, NodeId nodes, NodeId in_a);
  ~PartedNetwork();
  PartedNetwork(const PartedNetwork&) = delete;
  PartedNetwork& operator=(const PartedNetwork&) = delete;

  const Ended& made() const { return made_; }  // its exit code is not 0 where this cannot be had
  void part() const;
  void join() const;
  // Where a node runs: for `ip netns exec`.
  std::string space_of(NodeId node) const { return name_ + "-" + side_of(node); }
  std::string address(NodeId node) const { return host(node) + ":7117"; }

 private:
  const char* side_of(NodeId node) const { return node < in_a_ ? "a" : "b"; }
  std::string host(NodeId node) const { return (node < in_a_ ? "10.77.1." : "10.77.2.") + std::to_string(node + 1); }
  std::string in(const std::string& side) const { return "ip -n " + name_ + "-" + side + " "; }
  Ended run(const std::string& script) const;

  const TestCluster& folder_;
  const NodeId in_a_;
  const std::string name_;
  Ended made_;
};

}  // namespace fibocast
