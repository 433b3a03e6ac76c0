// A modelled machine at work on one operation: nodes, their firmware, a network, and virtual time. Deterministic.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "firmware_sim/firmware.h"
#include "firmware_sim/networks/network.h"

namespace fibocast {

// One stretch of a port's time, for traces.
struct PortUse {
  Rank rank = 0;  // virtual, as `peer`
  Rank peer = 0;
  bool is_send = false;
  std::uint64_t bytes = 0;
  Ticks begin = 0;
  Ticks end = 0;
};

struct SimulationRun {
  Ticks completion = 0;
  std::vector<Ticks> active;  // by virtual rank: when its last stage had all it waited for
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
  std::uint64_t events = 0;
  NetworkLoads loads;
  std::vector<PortUse> port_uses;  // if they were asked for
};

struct SimulationOptions {
  std::vector<NodeId> node_of = {};                                    // by virtual rank; empty: rank i on node i
  bool record = false;                                                 // port_uses
  std::function<void(std::uint64_t events, Ticks now)> progress = {};  // now and then
};

// A sentence if somebody could send for ever while no time passes: neither sending nor the network takes any.
std::string objection_to_costs(const std::vector<PortCosts>& kinds, const Network& network);

// All ranks call at 0. Nothing, and a sentence in `error`, if a rank has no schedule, the operation never ends or later
// than times can be counted, there are more ranks than nodes, or for objection_to_costs().
std::optional<SimulationRun> simulate_machine(const Workload& workload, const NodeTable& nodes, Network& network,
                                              const SimulationOptions& options, std::string& error);

// The same with schedules that are built already; of `shape`, that of their workload.
std::optional<SimulationRun> simulate_programs(const OperationShape& shape, RankPrograms programs,
                                               const NodeTable& nodes, Network& network,
                                               const SimulationOptions& options, std::string& error);

}  // namespace fibocast
