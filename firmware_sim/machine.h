// A machine as it is described - in a file, or under a name - with exact costs, and as it is simulated: nodes and a
// network in one common tick.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "collectives/rational.h"
#include "firmware_sim/firmware.h"
#include "firmware_sim/networks/network.h"

namespace fibocast {

enum class NetworkKind : std::uint8_t { kIdeal, kCrossbar, kMesh, kFatTree, kWorkstations };

// What a message of b bytes costs a node of this kind: send + b * send_per_byte, occupancy + b * occupancy_per_byte.
struct NodeKind {
  std::string name = "node";
  Rational send = 1;
  Rational occupancy = 1;
  Rational send_per_byte = 0;
  Rational occupancy_per_byte = 0;
};

// Times are in nanoseconds if is_time, else in any unit. Parameters that the kind of network does not have stay as they
// are. What each means is in the header of its network.
struct MachineDescription {
  std::string name = "ideal";
  std::string note = {};  // what an answer must say beside its numbers
  bool is_time = false;
  Ports ports = Ports::kShared;
  std::vector<NodeKind> kinds = {NodeKind{}};
  std::vector<std::uint32_t> kind_of_node = {};  // nodes beyond it are of kind 0
  NetworkKind network = NetworkKind::kIdeal;
  std::uint64_t nodes = 0;  // 0: as many as there are ranks (a fat tree: the next power of two)
  Rational latency = 0;
  Rational latency_per_byte = 0;
  Rational far_latency = 0;
  Rational far_send = 0;
  Rational hold = 0;
  Rational hold_per_byte = 0;
  Rational per_hop = 0;
  Rational step = 1;
  std::uint64_t latency_bytes = UINT64_MAX;
  std::uint64_t cluster_nodes = 16;
  std::uint64_t rows = 0;  // a mesh: both or none; none: as square as the ranks need
  std::uint64_t columns = 0;
  std::uint64_t packet_bytes = 0;
  bool wormhole = true;
  std::string capacity = "constant";
};

struct Machine {
  Rational tick = 1;             // in the description's unit
  std::vector<PortCosts> kinds;  // in ticks
  std::unique_ptr<Network> network;
};

// More nodes than this are refused: a description with a wrong digit would fill the memory.
inline constexpr std::uint64_t kMostMachineNodes = 16'000'000;

// No cost of a message may pass this many ticks, or times of a run might not fit in 64 bit.
inline constexpr Ticks kMostCostTicks = Ticks{1} << 40;

// For an operation of so many ranks (routers do not count). Nothing, and a sentence in `error`, for parameters that
// contradict each other or are out of range, or costs that have no common tick in 64 bit.
std::optional<Machine> build_machine(const MachineDescription& description, Rank ranks, std::string& error);

// What trees are planned with: a message of these bytes between two nodes of kind 0 that nobody else disturbs.
CostModel planning_costs(const MachineDescription& description, const Machine& machine, std::uint64_t bytes);

}  // namespace fibocast
