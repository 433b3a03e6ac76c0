// One random test of the whole node: a cluster, a network and a workload, all of it a function of one seed.
#pragma once

#include <cstdint>
#include <optional>
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
  std::uint64_t bytes = 0;      // of each block or vector
  AlgorithmChoice choice = {};  // kPlanned: the plan's
  bool rushed = false;          // participants give it milliseconds, and some of them come late
};

// How the applications of a run live (swarm_lives.h): how often a call meets each of these fates.
struct ScenarioLives {
  double dies = 0;           // its caller, before it is answered
  double gives_up = 0;       // the caller cancels it and goes on with the next one
  double comes_later = 0;    // it has a not_before
  double stays_away = 0;     // who died never comes back
  double restarts = 0;       // the application ends between two calls, and comes back
  double stops_waiting = 0;  // for a message; it asks again
  bool any() const { return dies > 0 || gives_up > 0; }
};

struct ScenarioGroup {
  enum class Kind : std::uint8_t { kAll, kNamed, kCreated };
  Kind kind = Kind::kAll;
  std::string name;
  std::vector<NodeId> members;  // ascending
  std::uint32_t participants = 1;
  GroupPolicy policy = GroupPolicy::kAll;  // kCreated
  Rank quorum = 0;
  Plan plan;                                  // kCreated
  std::vector<TreeTableEntry> tree;           // its given tree, if any: the plan names it once it views this
  std::vector<ScenarioOperation> operations;  // by generation
  bool numbered = true;                       // calls are; else they join what is open, and all are the same
  // Of groups that come and go (swarm_changes.h):
  std::optional<std::uint32_t> after = {};  // it is made when that group, of the same name, has been removed
  NodeId creator = kNoNode;                 // a member; none: the first one
  NodeId rival = kNoNode;                   // another member that makes the same group at the same time
  Nanoseconds delay = 0;                    // between the removal and that
  Nanoseconds opens = 0;                    // not before: its applications, or that it is made
  Nanoseconds patience = 0;                 // of its applications; 0: Scenario::patience
  bool must_exist = false;                  // nothing goes wrong any more when it is made
};

// Application messages from one node to another, in order.
struct ScenarioFlow {
  NodeId from = 0;
  NodeId to = 0;
  std::uint64_t tag = 0;
  std::vector<std::uint64_t> sizes;
};

// Somebody gives a created group another plan, if it is there by then.
struct ScenarioReplan {
  Nanoseconds at = 0;
  NodeId node = 0;
  std::uint32_t group = 0;
  Plan plan;
};

// Somebody removes a created group, as soon as it is there.
struct ScenarioRemoval {
  Nanoseconds at = 0;
  NodeId node = 0;
  std::uint32_t group = 0;
};

// A daemon is ended as by SIGTERM, and started again.
struct ScenarioLeave {
  Nanoseconds at = 0;
  NodeId node = 0;
  Nanoseconds back = kNever;
};

// The cluster's file gets more nodes at its end. Who was there reads it anew, each at its time.
struct ScenarioGrowth {
  std::uint32_t nodes_before = 0;
  std::vector<Nanoseconds> read_at;  // by those nodes
};

// More than anything here takes.
inline constexpr Nanoseconds kPatience = 240'000'000'000;

struct Scenario {
  std::uint64_t seed = 0;
  ClusterSettings cluster;
  std::vector<Nanoseconds> start_at;  // by node
  std::vector<ScenarioGroup> groups;
  std::vector<ScenarioFlow> flows;
  std::vector<ScenarioReplan> replans;
  std::vector<ScenarioRemoval> removals;
  std::vector<ScenarioLeave> leaves;
  std::optional<ScenarioGrowth> growth;
  bool comes_and_goes = false;       // any of these three, or a group that is made after another one
  ScenarioLives lives;               // else all live as long as their nodes, and wait for every answer
  Nanoseconds pause_max = 0;         // of an application between two calls
  Nanoseconds patience = kPatience;  // of an application for an operation that is not rushed
  Nanoseconds grace = 0;             // how late after its deadline an answer may come
};

Scenario make_scenario(std::uint64_t seed);
// Its nodes send payloads as those that share memory do.
void go_ahead(Scenario& scenario);
// An operation ends by its deadline plus a suspicion time per coordinator lost meanwhile (PROTOCOL 8), and what the
// network takes: a lost frame is sent again after 20 ms, then 40, 80 ..., so several losses in a row cost seconds.
Nanoseconds grace_for(const ClusterSettings& cluster);
// The plan that the group runs by. It views the scenario's tree.
Plan plan_of(const Scenario& scenario, const ScenarioGroup& group);
// One line for people.
std::string describe(const Scenario& scenario);

}  // namespace fibocast
