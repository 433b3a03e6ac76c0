// Applications for tests of groups that lose members: one on every node calls barrier after barrier. Every release is
// checked: nobody is let go before all members that still take part have called.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "firmware_sim/virtual_cluster.h"

namespace fibocast {

// On a network that takes as long as a busy one of a cluster.
inline ClusterSettings busy_cluster_of(std::uint32_t nodes, std::uint64_t seed = 1) {
  ClusterSettings settings;
  settings.nodes = nodes;
  settings.seed = seed;
  settings.network.latency_min = 200'000, settings.network.latency_max = 600'000;
  return settings;
}

class Workers {
 public:
  struct Worker {
    bool runs = false;
    GroupId group = 0;
    Generation generation = 0;
    Generation released = 0;  // the last generation it was let go from, plus one
    std::uint64_t ok = 0;
    std::map<Verdict, std::uint64_t> failures;
    std::vector<RankSet> named;  // by failures
  };

  Workers(const ClusterSettings& settings, GroupPolicy policy, Rank quorum = 0) : cluster(settings), policy_(policy) {
    cluster.start_all();
    EXPECT_TRUE(cluster.connect_all());
    GroupDefinition d;
    d.name = "work";
    d.members.add_run({0, cluster.size()});
    d.policy = policy, d.quorum = quorum;
    d.plan = settings.node.plan;
    const Asked created = cluster.create(0, d);
    EXPECT_EQ(created.admission, Admission::kTaken);
    EXPECT_TRUE(cluster.run_until(cluster.now() + kSecond, [&] { return cluster.answer(created.cookie) != nullptr; }));
    workers.resize(cluster.size());
    cluster.set_listener([this](std::uint64_t cookie, const Answer& answer) { on_answer(cookie, answer); });
    cluster.set_fault_listener([this](const Fault& fault, bool begins) { on_fault(fault, begins); });
    for (NodeId id = 0; id < cluster.size(); ++id) join(id);
  }

  void begin(const Fault& fault) {
    if (is_of_messages(fault.kind))
      for (NodeId id = 0; id < cluster.size(); ++id) troubled_.insert(id);
    cluster.begin(fault);
  }
  void run_for(Nanoseconds time) { cluster.run_until(cluster.now() + time); }
  // Every one of `ids` was released from `times` more barriers. False: not within `limit`.
  bool run_until_each(const std::vector<NodeId>& ids, std::uint64_t times, Nanoseconds limit) {
    std::map<NodeId, std::uint64_t> goal;
    for (const NodeId id : ids) goal[id] = workers[id].ok + times;
    return cluster.run_until(cluster.now() + limit, [&] {
      return std::ranges::all_of(ids, [&](NodeId id) { return workers[id].ok >= goal[id]; });
    });
  }
  std::vector<NodeId> all_but(const std::vector<NodeId>& gone) const {
    std::vector<NodeId> ids;
    for (NodeId id = 0; id < cluster.size(); ++id)
      if (std::ranges::find(gone, id) == gone.end()) ids.push_back(id);
    return ids;
  }
  std::uint64_t failures(const std::vector<NodeId>& ids) const {
    std::uint64_t n = 0;
    for (const NodeId id : ids)
      for (const auto& [verdict, times] : workers[id].failures) n += times;
    return n;
  }
  Node::GroupInfo info(NodeId id) const {
    for (std::uint32_t i = 0; i < cluster.node(id).node().group_count(); ++i)
      if (cluster.node(id).node().group_info(i).name == "work") return cluster.node(id).node().group_info(i);
    return {};
  }

  VirtualCluster cluster;
  std::vector<Worker> workers;
  Nanoseconds deadline = 20 * kSecond;
  Nanoseconds pause = 50 * kMillisecond;  // after a failure, before it asks where the group is

 private:
  void join(NodeId id) {
    const Membership m = cluster.open(id, "work");
    if (m.admission != Admission::kTaken || (m.group & GroupId{1} << 63) == 0) return join_later(id);
    workers[id].runs = true;
    workers[id].group = m.group, workers[id].generation = m.generation;
    call(id);
  }
  void join_later(NodeId id) {
    const std::uint64_t life = lives_[id];
    cluster.at(cluster.now() + pause, [this, id, life] {
      if (lives_[id] == life && !dead_.contains(id)) join(id);
    });
  }
  void call(NodeId id) {
    Worker& w = workers[id];
    called_[w.generation].insert(id);
    const Asked asked = cluster.barrier(id, w.group, w.generation, cluster.now() + deadline);
    if (asked.admission != Admission::kTaken) return join_later(id);
    cookies_[asked.cookie] = id;
    if (const Answer* answer = cluster.answer(asked.cookie)) on_answer(asked.cookie, *answer);  // it was the last one
  }
  void on_answer(std::uint64_t cookie, const Answer& answer) {
    const auto found = cookies_.find(cookie);
    if (found == cookies_.end() || answer.event.kind != Event::Kind::kCallDone) return;
    const NodeId id = found->second;
    Worker& w = workers[id];
    const CallDone& done = answer.event.done;
    if (done.verdict == Verdict::kOk) {
      ++w.ok;
      check_release(done.generation);
      w.released = done.generation + 1;
      w.generation = done.generation + 1;
      cluster.at(cluster.now(), [this, id, life = lives_[id]] {
        if (lives_[id] == life && !dead_.contains(id)) call(id);
      });
      return;
    }
    ++w.failures[done.verdict];
    w.named.push_back(done.ranks);
    join_later(id);
  }
  // Whoever has not called this generation is dead or was not in the group's epoch.
  void check_release(Generation generation) {
    std::uint32_t missing = 0;
    for (NodeId id = 0; id < cluster.size(); ++id) missing += !called_[generation].contains(id);
    const bool may_miss = policy_ != GroupPolicy::kAll && 2 * missing <= cluster.size() + dead_ever_.size();
    EXPECT_TRUE(missing == 0 || may_miss) << "generation " << generation << ": " << missing << " had not called";
    for (NodeId id = 0; id < cluster.size(); ++id)
      EXPECT_TRUE(called_[generation].contains(id) || troubled_.contains(id)) << id << " was left out";
  }
  void on_fault(const Fault& fault, bool begins) {
    for (NodeId id = 0; id < cluster.size(); ++id) {
      const bool named = std::ranges::find(fault.nodes, id) != fault.nodes.end();
      if (named) troubled_.insert(id);
      if (fault.kind != Fault::Kind::kCrash || !named) continue;
      ++lives_[id];
      if (begins)
        dead_.insert(id), dead_ever_.insert(id);
      else
        dead_.erase(id);
      workers[id].runs = false;
      if (!begins) join_later(id);
    }
  }

  GroupPolicy policy_;
  std::map<std::uint64_t, NodeId> cookies_;
  std::map<Generation, std::set<NodeId>> called_;
  std::map<NodeId, std::uint64_t> lives_;
  std::set<NodeId> dead_, dead_ever_, troubled_;
};

}  // namespace fibocast
