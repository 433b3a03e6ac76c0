#include "firmware_sim/troubled_nodes.h"

#include <algorithm>

#include "firmware_sim/full_node_limits.h"
#include "firmware_sim/full_node_machine.h"

namespace fibocast {
namespace {

constexpr Nanoseconds kAfter = 60 * kSecond;  // who has no answer by then gets none

class TroubledNodes {
 public:
  TroubledNodes(const FullNodesQuestion& question, const Rational& tick, const Troubles& troubles, Network& network)
      : faults_(troubles.faults),
        seed_(troubles.seed),
        machine_(question, tick, network),
        callers_(participating_ranks(question.shape)) {}

  std::optional<TroubledRun> run(const Limits& limits, std::string& error) {
    ClusterSettings settings = machine_.settings(limits);
    settings.seed = seed_;
    VirtualCluster cluster(settings);
    cluster.start_all();
    cluster.run_until(FullNodeMachine::kQuiet);
    if (!cluster.connect_all()) {
      error = "the nodes do not find each other";
      return {};
    }
    machine_.begin(cluster);
    schedule_faults(cluster);
    if (!call_all(cluster)) {
      error = "the operation fails on whole nodes: too many bytes for their memory?";
      return {};
    }
    cluster.run_until(machine_.start() - 1);
    const NetworkCounters before = cluster.network().counters();
    const std::uint64_t actions = cluster.queue().actions_run();
    cluster.run_until(end(), [&] { return all_settled(cluster); });
    return result(cluster, before, actions, error);
  }

 private:
  // Before the calls: what is wrong from the start on is so at the instant at which the ranks arrive.
  void schedule_faults(VirtualCluster& cluster) {
    for (const Fault& fault : faults_) {
      cluster.at(machine_.start() + fault.begins, [&cluster, &fault] { cluster.begin(fault); });
      if (fault.heals != kNever)
        cluster.at(machine_.start() + fault.heals, [&cluster, &fault] { cluster.heal(fault); });
    }
    cluster.set_fault_listener([this, &cluster](const Fault& fault, bool begins) {
      if (fault.kind == Fault::Kind::kCrash) begins ? forget_calls(cluster, fault) : call_again(cluster, fault);
    });
  }

  bool call(VirtualCluster& cluster, Rank rank) {
    const Nanoseconds deadline = machine_.start() + kTroubledDeadline;
    const Asked asked = machine_.call(cluster, rank, 0, deadline, true);
    if (asked.admission == Admission::kTaken) cookies_[rank] = asked.cookie;
    return asked.admission == Admission::kTaken;
  }

  bool call_all(VirtualCluster& cluster) {
    cookies_.resize(callers_);
    bool taken = true;
    for (Rank rank = 0; rank < callers_; ++rank) taken &= call(cluster, rank);
    return taken;
  }

  bool answered(const VirtualCluster& cluster, Rank rank) const { return cluster.answer(cookies_[rank]) != nullptr; }

  // What died with the node is not answered any more.
  void forget_calls(const VirtualCluster& cluster, const Fault& crash) {
    for (const NodeId node : crash.nodes)
      if (node < callers_ && !answered(cluster, node)) cookies_[node] = 0;
  }

  // Crashes may overlap: it may be up again for some time already.
  void call_again(VirtualCluster& cluster, const Fault& crash) {
    for (const NodeId node : crash.nodes)
      if (node < callers_ && cookies_[node] == 0) call(cluster, node);
  }

  Nanoseconds end() const {
    Nanoseconds last = kTroubledDeadline;
    for (const Fault& fault : faults_)
      for (const Nanoseconds time : {fault.begins, fault.heals})
        if (time != kNever) last = std::max(last, time);
    return machine_.start() + last + kAfter;
  }

  // It is up, or will be again.
  bool may_answer(const VirtualCluster& cluster, Rank rank) const {
    return cluster.node(rank).started() || std::ranges::any_of(faults_, [&](const Fault& fault) {
             return fault.kind == Fault::Kind::kCrash && concerns(fault, rank) && fault.heals != kNever &&
                    machine_.start() + fault.heals > cluster.now();
           });
  }

  // Who has settled stays so.
  bool all_settled(const VirtualCluster& cluster) {
    while (settled_ < callers_ && (answered(cluster, settled_) || !may_answer(cluster, settled_))) ++settled_;
    return settled_ == callers_;
  }

  TroubledRank told(const VirtualCluster& cluster, Rank rank) const {
    TroubledRank told;
    const Answer* answer = cluster.answer(cookies_[rank]);
    if (answer == nullptr) return told;
    const CallDone& done = answer->event.done;
    told.verdict = done.verdict;
    told.answered = answer->at - machine_.start();
    // A verdict may find that all had come although no message has said so here: it activates.
    const Nanoseconds activated = done.activated_at != 0 ? done.activated_at : answer->at;
    if (done.verdict == Verdict::kOk) told.activated = activated - machine_.start();
    for (std::uint32_t i = 0; i < done.ranks.size(); ++i) told.missing.push_back(done.ranks.at(i));
    return told;
  }

  std::optional<TroubledRun> result(VirtualCluster& cluster, const NetworkCounters& before, std::uint64_t actions,
                                    std::string& error) const {
    if (machine_.stops_on_the_way()) {
      error = kNotAtOnce;
      return {};
    }
    TroubledRun run;
    for (Rank rank = 0; rank < callers_; ++rank) run.ranks.push_back(told(cluster, rank));
    run.messages = machine_.messages(), run.bytes = machine_.bytes();
    const NetworkCounters& now = cluster.network().counters();
    run.datagrams = {now.sent - before.sent, now.lost - before.lost, now.duplicated - before.duplicated,
                     now.delayed - before.delayed, now.delivered - before.delivered};
    run.events = cluster.queue().actions_run() - actions;
    return run;
  }

  const std::vector<Fault>& faults_;
  std::uint64_t seed_;
  FullNodeMachine machine_;
  Rank callers_;
  std::vector<std::uint64_t> cookies_;  // by real rank: of its call; 0: none since its node crashed
  Rank settled_ = 0;                    // ranks below it need not be waited for
};

}  // namespace

std::optional<TroubledRun> simulate_troubled_nodes(const FullNodesQuestion& question, const Rational& tick,
                                                   const Troubles& troubles, Network& network, std::string& error) {
  if (!suits_full_nodes(question, kMostTroubledNodes, network, error)) return {};
  const auto limits = connected_node_limits(question.plan, question.shape, question.root, error);
  if (!limits) return {};
  return TroubledNodes(question, tick, troubles, network).run(*limits, error);
}

}  // namespace fibocast
