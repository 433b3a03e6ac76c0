#include "firmware_sim/full_nodes.h"

#include <algorithm>

#include "firmware_sim/full_node_limits.h"
#include "firmware_sim/full_node_machine.h"

namespace fibocast {
namespace {

constexpr Ticks kLeastSend = 500'000;  // acknowledgements, which may be as late, never hold up a channel
constexpr Nanoseconds kOperationPatience = 3'600 * kSecond;

// A tick takes so many nanoseconds that acknowledgements are never late.
Rational tick_for(const NodeTable& nodes) {
  Ticks least = 1;
  for (const PortCosts& costs : nodes.kinds) least = std::max(least, costs.send);
  for (const PortCosts& costs : nodes.kinds)
    if (costs.send > 0) least = std::min(least, costs.send);
  return (kLeastSend + least - 1) / least;
}

// One operation of a cluster in virtual time, in which a tick takes some nanoseconds.
class FullNodes {
 public:
  FullNodes(const FullNodesQuestion& question, const Limits& limits, Network& network)
      : asked_(question), limits_(limits), network_(network), machine_(question, tick_for(question.nodes), network) {}

  std::optional<SimulationRun> run(std::string& error) {
    VirtualCluster cluster(machine_.settings(limits_));
    cluster.start_all();
    // Once for nothing: it makes the channels, which exist from their first use on.
    const bool warm = operate(cluster, 0);
    cluster.run_until(cluster.now() + FullNodeMachine::kQuiet);
    machine_.begin(cluster);
    const std::uint64_t before = cluster.queue().actions_run();
    if (warm && operate(cluster, 1)) return result(cluster, before, error);
    error = "whole nodes do not take this operation, or not within an hour of their time";
    return {};
  }

 private:
  // True: all nodes have taken the operation and answered.
  bool operate(VirtualCluster& cluster, Generation generation) {
    const Rank callers = participating_ranks(asked_.shape);
    cookies_.clear();
    for (Rank rank = 0; rank < callers; ++rank) {
      const Asked asked = machine_.call(cluster, rank, generation, kNever, generation > 0);
      if (asked.admission == Admission::kTaken) cookies_.push_back(asked.cookie);
    }
    std::size_t answered = 0;
    const auto all_answered = [&] {
      while (answered < cookies_.size() && cluster.answer(cookies_[answered]) != nullptr) ++answered;
      return answered == cookies_.size();
    };
    return cookies_.size() == callers && cluster.run_until(cluster.now() + kOperationPatience, all_answered);
  }

  std::optional<SimulationRun> result(VirtualCluster& cluster, std::uint64_t before, std::string& error) const {
    SimulationRun run;
    run.active.resize(asked_.shape.ranks);
    bool failed = machine_.stops_on_the_way();
    const auto tick = static_cast<Nanoseconds>(tick_for(asked_.nodes).numerator());
    for (Rank rank = 0; rank < cookies_.size(); ++rank) {
      const CallDone& done = cluster.answer(cookies_[rank])->event.done;
      failed |= done.verdict != Verdict::kOk;
      run.active[machine_.virtual_rank(rank)] = static_cast<Ticks>((done.activated_at - machine_.start()) / tick);
    }
    if (failed) {
      error = machine_.stops_on_the_way() ? kNotAtOnce
                                          : "the operation fails on whole nodes: too many bytes for their memory?";
      return {};
    }
    run.completion = *std::ranges::max_element(run.active);
    run.messages = machine_.messages(), run.bytes = machine_.bytes();
    run.events = cluster.queue().actions_run() - before;
    run.loads = network_.loads();
    return run;
  }

  const FullNodesQuestion& asked_;
  const Limits& limits_;
  Network& network_;
  FullNodeMachine machine_;
  std::vector<std::uint64_t> cookies_;  // by real rank
};

}  // namespace

bool suits_full_nodes(const FullNodesQuestion& question, Rank most, const Network& network, std::string& error) {
  if (question.shape.ranks > most) {
    error = "whole nodes are run up to " + std::to_string(most) + " at a time";
    return false;
  }
  for (const NodeId a : question.node_of)
    for (const NodeId b : question.node_of)
      if (network.extra_send(a, b) > 0) {
        error = "whole nodes do not know of networks that keep the sender longer";
        return false;
      }
  return true;
}

std::optional<SimulationRun> simulate_full_nodes(const FullNodesQuestion& question, Network& network,
                                                 std::string& error) {
  if (!suits_full_nodes(question, kMostFullNodes, network, error)) return {};
  const auto limits = full_node_limits(question.plan, question.shape, question.root, error);
  if (!limits) return {};
  return FullNodes(question, *limits, network).run(error);
}

}  // namespace fibocast
