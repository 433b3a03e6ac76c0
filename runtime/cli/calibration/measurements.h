// What calibration measures on a live cluster, as raw values: nothing is averaged here. Times are in ns of the machine:
// those of an emulated one are divided by its scale.
//
// The experiments are operations along chosen trees, so they take the way of all operations:
//   activations    one message to two receivers, in both orders (PAPERS A26): what a sender is busy, S, and what it
//   takes
//                  from then until the receiver is active, R, for each node and size
//   round trips    each node with each other by a barrier of the two, in the rounds of a tournament in which pairs do
//   not
//                  disturb each other (C4)
//   fan-in         k peers that are released about together send to one (A31): s + l + k o
//   postal         experiments 1 and 2 of Bruck et al. (B16, B17), for several k and sizes
//   concurrency    d disjoint pairs at once: how many processors they really share
//   whole          where nodes share hosts, operations of all of them: host_fit.h
#pragma once

#include <functional>
#include <map>
#include <tuple>
#include <utility>

#include "runtime/cli/bench_cluster.h"
#include "runtime/cli/calibration/host_fit.h"

namespace fibocast {

struct CalibrationPlan {
  std::uint32_t repetitions = 10;
  std::uint64_t seed = 1;  // of the shuffled order
  double scale = 1;        // how much slower than the machine the cluster is
  Rank colocated = 1;      // nodes of one host
  bool emulated = false;   // then repetitions that came late by more than 1 % are taken again
  std::vector<std::uint64_t> sizes{0, 4096, 32768};
  Duration deadline = std::chrono::seconds(60);
};

// k peers send to one: when each sender began, node root + 1 first, and when the last message was received.
struct FanIn {
  std::vector<double> begun;
  double received = 0;
};

struct Measurements {
  std::map<std::pair<NodeId, std::uint64_t>, Sample> send, receive;        // by node and bytes
  std::map<std::pair<NodeId, NodeId>, Sample> round_trips;                 // the lower node first
  std::map<std::pair<NodeId, std::uint32_t>, std::vector<FanIn>> fan_in;   // by root and k
  std::map<std::tuple<int, std::uint64_t, std::uint32_t>, Sample> postal;  // by experiment, bytes and k
  std::map<std::uint32_t, Sample> concurrency;                             // by pairs
  std::vector<HostExperiment> whole;
  std::size_t late = 0;
};

// `progress`: repetitions done, of all. The groups it needs are made, and removed at the end, also of a failure.
Status measure(BenchCluster& cluster, const CalibrationPlan& plan, Measurements& taken,
               const std::function<void(std::size_t done, std::size_t all)>& progress);

}  // namespace fibocast
