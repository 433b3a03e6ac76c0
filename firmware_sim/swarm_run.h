// Runs one scenario in virtual time: applications at every node follow its lists, and all they see is recorded.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include "firmware_sim/checkers/history.h"
#include "firmware_sim/random.h"
#include "firmware_sim/swarm_lives.h"
#include "firmware_sim/swarm_scenario.h"
#include "firmware_sim/virtual_cluster.h"

namespace fibocast {

// The group with this id, as the node knows it.
std::optional<Node::GroupInfo> find_group(const Node& node, GroupId id);
// Of all that were created and are known there.
std::vector<CreationId> created_groups(const Node& node);

// What the applications of a run share.
class SwarmRun {
 public:
  explicit SwarmRun(const Scenario& scenario);

  const Scenario& scenario() const { return scenario_; }
  VirtualCluster& cluster() { return cluster_; }
  Random& random() { return random_; }
  History& history() { return history_; }
  SwarmLives* lives() { return lives_ ? &*lives_ : nullptr; }  // null: all live as long as their nodes

  Nanoseconds pause() { return random_.between(0, scenario_.pause_max); }
  void after(Nanoseconds delay, EventQueue::Action action) { cluster_.at(cluster_.now() + delay, std::move(action)); }
  // Before a command that was refused for lack of room is tried again.
  Nanoseconds retry_pause() { return random_.between(100'000, 2'000'000); }
  // Calls `then` with the answer to `cookie`, once, outside of the node's own call.
  void when_answered(std::uint64_t cookie, std::function<void(const Answer&)> then);
  void forget_answer(std::uint64_t cookie) { waiting_.erase(cookie); }
  // Told when a node has crashed (false) and when it is back (true).
  void set_crash_listener(std::function<void(NodeId node, bool back)> listener) { on_crash_ = std::move(listener); }
  // The node is gone, and its applications with it; or it is back.
  void tell_crash(NodeId node, bool back);
  void application_begins() { ++applications_; }
  void application_ends() { --applications_; }
  bool finished() const { return applications_ == 0; }
  // Lets the cluster rest after all applications ended, and writes down how the nodes look then.
  void settle();

 private:
  void dispatch(std::uint64_t cookie);
  void on_fault(const Fault& fault, bool begins);

  const Scenario& scenario_;
  VirtualCluster cluster_;
  Random random_;
  std::optional<SwarmLives> lives_;
  History history_;
  std::unordered_map<std::uint64_t, std::function<void(const Answer&)>> waiting_;
  std::function<void(NodeId, bool)> on_crash_;
  std::set<NodeId> down_;
  int applications_ = 0;
};

struct SwarmResult {
  History history;
  std::uint64_t trace = 0;       // equal for equal seeds
  Nanoseconds virtual_time = 0;  // when the last application ended
  std::uint64_t datagrams = 0;
  bool finished = false;  // all applications came to their end
};

// `interfere` is called before time begins: tests plant defects there.
SwarmResult run_scenario(const Scenario& scenario, const std::function<void(VirtualCluster&)>& interfere = nullptr);

}  // namespace fibocast
