// The modelled machine beneath whole nodes: what their emulated cards charge, the network between them, and the one
// call that each rank makes there. Engines alone have multicomputer.h in its place.
#pragma once

#include <cstdint>
#include <vector>

#include "collectives/rational.h"
#include "firmware_sim/full_nodes.h"
#include "firmware_sim/virtual_cluster.h"

namespace fibocast {

// One thread. `question` and `network` must outlive it, and it the cluster that is made with its settings; it must not
// move.
class FullNodeMachine {
 public:
  static constexpr Nanoseconds kQuiet = kSecond;  // in which all find each other, and all is acknowledged

  // `tick`: in nanoseconds, above 0.
  FullNodeMachine(const FullNodesQuestion& question, const Rational& tick, Network& network);
  FullNodeMachine(const FullNodeMachine&) = delete;
  FullNodeMachine& operator=(const FullNodeMachine&) = delete;

  // Of a cluster with one node per rank, numbered as the real ranks are.
  ClusterSettings settings(const Limits& limits);
  // Tick 0 is at start(), just after now on the clock of this cluster, which the network is asked by from now on: all
  // calls made now count from there.
  void begin(const VirtualCluster& cluster);
  // What this real rank asks of its node; it counts as arrived at `start`. Not charged: the machine takes no time.
  Asked call(VirtualCluster& cluster, Rank rank, Generation generation, Nanoseconds deadline, bool charged) const;

  Rank virtual_rank(std::uint64_t real) const {
    return static_cast<Rank>((real + asked_.shape.ranks - asked_.root) % asked_.shape.ranks);
  }
  Nanoseconds start() const { return start_; }
  std::uint64_t messages() const { return messages_; }  // that the network has carried
  std::uint64_t bytes() const { return bytes_; }
  // A message has no time of arrival at once: this network cannot be used, and the times mean nothing.
  bool stops_on_the_way() const { return stops_on_the_way_; }

 private:
  struct Wire {
    FullNodeMachine* machine;
    Rank target;
  };
  static Nanoseconds arrival(void* wire, std::uint64_t source, std::uint64_t bytes, Nanoseconds departs);

  Nanoseconds carry(Rank source, Rank target, std::uint64_t bytes, Nanoseconds departs);
  NicSettings nic(Rank real);
  std::uint64_t brought_by(Rank real) const;
  NodeId place(Rank real) const { return asked_.node_of[virtual_rank(real)]; }
  Nanoseconds in_time(Ticks ticks) const;
  Ticks in_ticks(Nanoseconds time) const;

  const FullNodesQuestion& asked_;
  Rational tick_;
  Network& network_;
  const VirtualCluster* cluster_ = nullptr;
  Nanoseconds start_ = 0;
  std::vector<Wire> wires_;  // by real rank
  std::uint64_t messages_ = 0;
  std::uint64_t bytes_ = 0;
  bool stops_on_the_way_ = false;
};

}  // namespace fibocast
