#include "firmware_sim/machine.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <stdexcept>

#include "firmware_sim/networks/crossbar_network.h"
#include "firmware_sim/networks/fat_tree_network.h"
#include "firmware_sim/networks/ideal_network.h"
#include "firmware_sim/networks/mesh_network.h"
#include "firmware_sim/networks/workstation_network.h"

namespace fibocast {
namespace {

// All times of the network, in one order.
constexpr std::array kTimes = {&MachineDescription::latency,     &MachineDescription::latency_per_byte,
                               &MachineDescription::far_latency, &MachineDescription::far_send,
                               &MachineDescription::hold,        &MachineDescription::hold_per_byte,
                               &MachineDescription::per_hop,     &MachineDescription::step};
enum TimeIndex : std::size_t { kLatency, kLatencyPerByte, kFarLatency, kFarSend, kHold, kHoldPerByte, kPerHop, kStep };

using NetworkTicks = std::array<Ticks, kTimes.size()>;

// A4: one tick for everything.
NetworkTicks bring_to_ticks(const MachineDescription& d, Machine& machine) {
  std::vector<Rational> values;
  for (const auto time : kTimes) values.push_back(d.*time);
  for (const NodeKind& k : d.kinds)
    values.insert(values.end(), {k.send, k.occupancy, k.send_per_byte, k.occupancy_per_byte});
  const CommonTicks common = to_common_ticks(values);
  if (std::ranges::max(common.ticks) > kMostCostTicks) throw std::overflow_error("a cost in ticks");
  machine.tick = common.unit;
  NetworkTicks ticks{};
  std::copy_n(common.ticks.begin(), kTimes.size(), ticks.begin());
  for (std::size_t i = kTimes.size(); i < common.ticks.size(); i += 4)
    machine.kinds.push_back({common.ticks[i], common.ticks[i + 1], common.ticks[i + 2], common.ticks[i + 3]});
  return ticks;
}

std::unique_ptr<Network> make_mesh(const MachineDescription& d, std::uint64_t nodes, const NetworkTicks& t,
                                   std::string& error) {
  if ((d.rows == 0) != (d.columns == 0)) {
    error = "a mesh has both rows and columns, or neither";
    return {};
  }
  const auto side = static_cast<std::uint64_t>(std::ceil(std::sqrt(static_cast<double>(nodes))));
  const std::uint64_t columns = d.columns == 0 ? side : d.columns;
  const std::uint64_t rows = d.rows == 0 ? (nodes + columns - 1) / columns : d.rows;
  if (rows > kMostMachineNodes / columns) {
    error = "a mesh has at most " + std::to_string(kMostMachineNodes) + " nodes";
    return {};
  }
  if (!d.wormhole && t[kHold] == 0) {
    error = "a link that stores and forwards needs a hold time above 0";
    return {};
  }
  const MeshTimes times{t[kHold], t[kHoldPerByte], t[kLatency], t[kLatencyPerByte], d.latency_bytes, t[kPerHop]};
  return std::make_unique<MeshNetwork>(static_cast<std::uint32_t>(rows), static_cast<std::uint32_t>(columns),
                                       d.wormhole, times);
}

std::unique_ptr<Network> make_tree(const MachineDescription& d, std::uint64_t nodes, const NetworkTicks& t,
                                   std::string& error) {
  if (t[kStep] == 0) {
    error = "the step of a fat tree must be above 0";
    return {};
  }
  const auto tree = make_fat_tree(d.nodes == 0 ? std::bit_ceil(nodes) : d.nodes, d.capacity, error);
  if (!tree) return {};
  return std::make_unique<FatTreeNetwork>(*tree, t[kStep], d.packet_bytes);
}

std::unique_ptr<Network> make_network(const MachineDescription& d, std::uint64_t nodes, const NetworkTicks& t,
                                      std::string& error) {
  switch (d.network) {
    case NetworkKind::kIdeal: return std::make_unique<IdealNetwork>(nodes, t[kLatency]);
    case NetworkKind::kMesh: return make_mesh(d, nodes, t, error);
    case NetworkKind::kFatTree: return make_tree(d, nodes, t, error);
    case NetworkKind::kWorkstations:
      return std::make_unique<WorkstationNetwork>(static_cast<std::uint32_t>(nodes), t[kLatency], t[kLatencyPerByte]);
    case NetworkKind::kCrossbar: break;
  }
  if (d.cluster_nodes == 0 || d.cluster_nodes > kMostMachineNodes) {
    error = "a crossbar has 1 to " + std::to_string(kMostMachineNodes) + " nodes";
    return {};
  }
  return std::make_unique<CrossbarNetwork>(nodes, static_cast<std::uint32_t>(d.cluster_nodes),
                                           CrossbarTimes{t[kLatency], t[kFarLatency], t[kFarSend]});
}

std::string objection_to(const MachineDescription& d, Rank ranks) {
  if (ranks == 0) return "an operation needs at least one rank";
  if (d.kinds.empty()) return "a machine has at least one kind of node";
  for (const std::uint32_t kind : d.kind_of_node)
    if (kind >= d.kinds.size()) return "a node is of a kind that is not described";
  if (std::max<std::uint64_t>(d.nodes, ranks) > kMostMachineNodes)
    return "a machine has at most " + std::to_string(kMostMachineNodes) + " nodes";
  return {};
}

}  // namespace

std::optional<Machine> build_machine(const MachineDescription& d, Rank ranks, std::string& error) {
  error = objection_to(d, ranks);
  if (!error.empty()) return {};
  try {
    Machine machine;
    const NetworkTicks ticks = bring_to_ticks(d, machine);
    machine.network = make_network(d, d.nodes == 0 ? ranks : d.nodes, ticks, error);
    if (!machine.network) return {};
    if (machine.network->places() >= ranks) return machine;
    error = "the machine has " + std::to_string(machine.network->places()) + " nodes, not " + std::to_string(ranks);
  } catch (const std::overflow_error&) {
    error = "the costs are too large or have too many digits";
  }
  return {};
}

CostModel planning_costs(const MachineDescription& description, const Machine& machine, std::uint64_t bytes) {
  const PortCosts& costs = machine.kinds.front();
  CostModel model{.send = costs.send + bytes * costs.send_per_byte,
                  .latency = machine.network->usual_transit(bytes),
                  .occupancy = costs.occupancy + bytes * costs.occupancy_per_byte,
                  .ports = description.ports};
  if (model.send == 0) model.send = machine.network->shortest_transit();  // the first link is the port
  return model;
}

}  // namespace fibocast
