// One random test of the whole node: a cluster, a network and a workload, all of it a function of one seed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "collectives/plan.h"
#include "collectives/types.h"
#include "firmware_sim/virtual_cluster.h"

namespace fibocast {

// What a group does in one generation. All participants follow the same list.
struct ScenarioOperation {
  Operation operation = Operation::kBarrier;
  Rank root = 0;
  std::uint64_t bytes = 0;
  bool rushed = false;  // participants give it milliseconds, and some of them come late
};

struct ScenarioGroup {
  enum class Kind : std::uint8_t { kAll, kNamed, kCreated };
  Kind kind = Kind::kAll;
  std::string name;
  std::vector<NodeId> members;  // ascending
  std::uint32_t participants = 1;
  Plan plan;                                  // kCreated
  std::vector<TreeTableEntry> tree;           // its given tree, if any: the plan names it once it views this
  std::vector<ScenarioOperation> operations;  // by generation
};

// Application messages from one node to another, in order.
struct ScenarioFlow {
  NodeId from = 0;
  NodeId to = 0;
  std::uint64_t tag = 0;
  std::vector<std::uint64_t> sizes;
};

struct Scenario {
  std::uint64_t seed = 0;
  ClusterSettings cluster;
  std::vector<Nanoseconds> start_at;  // by node
  std::vector<ScenarioGroup> groups;
  std::vector<ScenarioFlow> flows;
  Nanoseconds pause_max = 0;  // of an application between two calls
  Nanoseconds grace = 0;      // how late after its deadline an answer may come
};

// How long a participant waits for an operation that is not rushed: more than anything here takes.
inline constexpr Nanoseconds kPatience = 240'000'000'000;

Scenario make_scenario(std::uint64_t seed);
// One line for people.
std::string describe(const Scenario& scenario);

}  // namespace fibocast
