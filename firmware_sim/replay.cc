#include "firmware_sim/replay.h"

#include <algorithm>
#include <map>

#include "collectives/data_layout.h"
#include "firmware_sim/virtual_cluster.h"

namespace fibocast {
namespace {

constexpr Nanoseconds kReplayLead = kMillisecond;          // from now to the first call
constexpr Nanoseconds kReplayPatience = 3'600 * kSecond;   // after the last one
constexpr std::uint64_t kMostPayloads = 256ull << 20;      // bytes of a node
constexpr std::uint64_t kMostBrought = kMostPayloads / 4;  // what its rank brings has a quarter of them

class Replay {
 public:
  explicit Replay(const Incident& incident) : incident_(incident) {}

  std::optional<std::vector<std::vector<Nanoseconds>>> run(std::string& error) {
    if (incident_.operations.empty()) return fail(error, "there is no whole operation to be run again");
    nodes_ = node_count();
    if (nodes_ > kMostIncidentNodes)
      return fail(error, "an incident of " + std::to_string(nodes_) + " nodes; allowed are at most " +
                             std::to_string(kMostIncidentNodes));
    if (std::string wrong = objection(); !wrong.empty()) return fail(error, std::move(wrong));
    VirtualCluster cluster(settings());
    cluster.start_all();
    if (!cluster.connect_all()) return fail(error, "the nodes do not find each other");
    if (!create_groups(cluster)) return fail(error, "a group of the incident cannot be created");
    first_call_ = first_call();
    start_ = cluster.now() + kReplayLead;
    asked_.resize(incident_.operations.size());
    for (std::size_t i = 0; i < incident_.operations.size(); ++i) schedule(cluster, i);
    cluster.run_until(start_ + last_call() - first_call_ + kReplayPatience,
                      [&] { return refused_ || all_answered(cluster); });
    if (refused_ || !all_answered(cluster)) return fail(error, "an operation of the incident does not end again");
    return times(cluster);
  }

 private:
  static std::nullopt_t fail(std::string& error, std::string sentence) {
    error = std::move(sentence);
    return std::nullopt;
  }
  // Of what a trace may say and no node could do.
  std::string objection() const {
    const NicSettings& m = incident_.machine;
    if (std::min({m.send, m.latency, m.receive}) < 0 || !(m.send_per_byte >= 0) || !(m.receive_per_byte >= 0))
      return "the costs of the incident's machine are not all 0 or more";
    for (const IncidentOperation& o : incident_.operations) {
      const std::uint64_t bytes = o.shape.total_bytes;
      if (bytes > kMostBrought || brought(o, o.root) > kMostBrought)
        return "an operation of " + std::to_string(bytes) + " bytes a rank; allowed are at most " +
               std::to_string(kMostBrought);
    }
    return {};
  }
  std::uint32_t node_count() const {
    NodeId most = 0;
    for (const IncidentGroup& g : incident_.groups)
      for (const NodeId node : g.members) most = std::max(most, node);
    return most + 1;
  }
  Nanoseconds first_call() const {
    Nanoseconds first = kNever;
    for (const IncidentOperation& o : incident_.operations)
      for (const Nanoseconds called : o.called)
        if (called > 0) first = std::min(first, called);
    return first == kNever ? 0 : first;
  }
  Nanoseconds last_call() const {
    Nanoseconds last = first_call_;
    for (const IncidentOperation& o : incident_.operations) last = std::max(last, call_of_latest(o));
    return last;
  }
  static Nanoseconds call_of_latest(const IncidentOperation& o) {
    return std::max(*std::ranges::max_element(o.called), *std::ranges::max_element(o.activated));
  }

  ClusterSettings settings() const {
    ClusterSettings s;
    s.nodes = nodes_;
    s.limits.nodes = nodes_, s.limits.groups = static_cast<std::uint32_t>(incident_.groups.size()) + 1;
    s.limits.stages = 255, s.limits.transfers = 3 * nodes_ + 8, s.limits.open_generations = 8;
    s.limits.small_window = 32, s.limits.bulk_streams = 32, s.limits.bulk_window = 256;
    s.limits.nic_queue = 4 * nodes_ + 512, s.limits.local_work = 256, s.limits.buffers = 1024;
    s.limits.requests = 1024, s.limits.payload_bytes = kMostPayloads;
    s.node.nic = incident_.machine;
    s.node.nic.enabled = true;
    return s;
  }

  bool create_groups(VirtualCluster& cluster) {
    for (const IncidentGroup& g : incident_.groups) {
      GroupDefinition definition;
      definition.name = g.name;
      definition.plan = g.plan;
      for (const NodeId node : g.members)
        if (!definition.members.add(node)) return false;
      const Asked asked = cluster.create(g.members.front(), definition);
      if (asked.admission != Admission::kTaken) return false;
      cluster.run_until(cluster.now() + kReplayPatience, [&] { return cluster.answer(asked.cookie) != nullptr; });
      const Answer* answer = cluster.answer(asked.cookie);
      if (answer == nullptr || answer->event.done.verdict != Verdict::kOk) return false;
    }
    return true;
  }

  void schedule(VirtualCluster& cluster, std::size_t index) {
    const IncidentOperation& o = incident_.operations[index];
    const Generation generation = next_generation_[o.group]++;
    asked_[index].resize(o.called.size());
    for (Rank rank = 0; rank < o.called.size(); ++rank) {
      const Nanoseconds called = o.called[rank] > 0 ? o.called[rank] : call_of_latest(o);
      cluster.at(start_ + called - first_call_,
                 [this, &cluster, index, rank, generation] { call(cluster, index, rank, generation); });
    }
  }

  void call(VirtualCluster& cluster, std::size_t index, Rank rank, Generation generation) {
    const IncidentOperation& o = incident_.operations[index];
    const NodeId node = incident_.groups[o.group].members[rank];
    Call c;
    c.group = group_id(incident_.groups[o.group].name);
    c.operation = o.shape.operation, c.choice = o.shape.choice, c.type = o.shape.type, c.op = o.shape.op;
    c.root = o.root, c.generation = generation;
    if (o.shape.operation == Operation::kConquer) c.total_bytes = o.shape.total_bytes;
    if (const std::uint64_t bytes = brought(o, rank); bytes > 0) {
      const auto payload = cluster.node(node).put_payload(pattern(rank, bytes));
      if (!payload) return void(refused_ = true);  // never without its data
      c.payload = *payload;
    }
    asked_[index][rank] = cluster.call(node, c);
    refused_ |= asked_[index][rank].admission != Admission::kTaken;
  }

  static std::uint64_t brought(const IncidentOperation& o, Rank rank) {
    if (o.shape.operation == Operation::kBarrier || (is_push(o.shape.operation) && rank != o.root)) return 0;
    return input_bytes(o.shape, static_cast<Rank>((rank + o.shape.ranks - o.root) % o.shape.ranks));
  }

  bool all_answered(const VirtualCluster& cluster) const {
    return std::ranges::all_of(asked_, [&](const std::vector<Asked>& ranks) {
      return std::ranges::all_of(ranks,
                                 [&](const Asked& a) { return a.cookie != 0 && cluster.answer(a.cookie) != nullptr; });
    });
  }

  std::vector<std::vector<Nanoseconds>> times(const VirtualCluster& cluster) const {
    std::vector<std::vector<Nanoseconds>> result;
    for (const std::vector<Asked>& ranks : asked_) {
      result.emplace_back();
      for (const Asked& a : ranks)
        result.back().push_back(cluster.answer(a.cookie)->event.done.activated_at - start_ + first_call_);
    }
    return result;
  }

  const Incident& incident_;
  std::uint32_t nodes_ = 0;
  Nanoseconds start_ = 0, first_call_ = 0;
  std::map<std::size_t, Generation> next_generation_;
  std::vector<std::vector<Asked>> asked_;  // by operation and rank
  bool refused_ = false;
};

}  // namespace

std::optional<std::vector<std::vector<Nanoseconds>>> replay(const Incident& incident, std::string& error) {
  return Replay(incident).run(error);
}

Inversions count_inversions(const std::vector<Nanoseconds>& recorded, const std::vector<Nanoseconds>& now) {
  Inversions inversions;
  for (std::size_t a = 0; a < recorded.size(); ++a)
    for (std::size_t b = 0; b < recorded.size(); ++b) {
      if (recorded[a] >= recorded[b] || now[a] <= now[b]) continue;
      ++inversions.pairs;
      inversions.largest = std::max(inversions.largest, now[a] - now[b]);
    }
  return inversions;
}

}  // namespace fibocast
