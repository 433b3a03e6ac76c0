#include "firmware_sim/full_nodes.h"

#include <algorithm>

#include "firmware_sim/full_node_limits.h"
#include "firmware_sim/virtual_cluster.h"

namespace fibocast {
namespace {

constexpr Nanoseconds kLeastSend = 500'000;  // acknowledgements, which may be as late, never hold up a channel
constexpr Nanoseconds kLead = 1000;          // until the calls count: all have been made by then
constexpr Nanoseconds kPatience = 3'600'000'000'000;
constexpr Nanoseconds kQuiet = 1'000'000'000;  // in which all is acknowledged

// One operation of a cluster in virtual time, in which a tick takes some nanoseconds.
class FullNodes {
 public:
  FullNodes(const FullNodesQuestion& question, const Limits& limits, Network& network)
      : asked_(question), limits_(limits), network_(network) {
    Ticks least = 1;
    for (const PortCosts& costs : question.nodes.kinds) least = std::max(least, costs.send);
    for (const PortCosts& costs : question.nodes.kinds)
      if (costs.send > 0) least = std::min(least, costs.send);
    tick_ = (kLeastSend + static_cast<Nanoseconds>(least) - 1) / static_cast<Nanoseconds>(least);
    for (Rank rank = 0; rank < question.shape.ranks; ++rank) wires_.push_back({this, rank});
  }

  std::optional<SimulationRun> run(std::string& error) {
    VirtualCluster cluster(settings());
    cluster.start_all();
    // Once for nothing: it makes the channels, which exist from their first use on.
    const bool warm = operate(cluster, 0);
    cluster.run_until(cluster.now() + kQuiet);
    start_ = cluster.now() + kLead;
    const std::uint64_t before = cluster.queue().actions_run();
    if (warm && operate(cluster, 1)) return result(cluster, before, error);
    error = "whole nodes do not take this operation, or not within an hour of their time";
    return {};
  }

 private:
  struct Wire {
    FullNodes* machine;
    Rank target;
  };

  Rank virtual_rank(std::uint64_t real) const {
    return static_cast<Rank>((real + asked_.shape.ranks - asked_.root) % asked_.shape.ranks);
  }
  NodeId place(std::uint64_t real) const { return asked_.node_of[virtual_rank(real)]; }

  // A message departs when its card has sent it, and in between takes no time: the network is asked in order.
  static Nanoseconds arrival(void* wire, std::uint64_t source, std::uint64_t bytes, Nanoseconds departs) {
    const auto& [machine, target] = *static_cast<const Wire*>(wire);
    const auto tick = static_cast<Ticks>((departs - machine->start_) / machine->tick_);
    const Passage passage = machine->network_.enter({machine->place(source), machine->place(target), bytes}, tick);
    machine->stops_on_the_way_ |= !passage.arrived;
    ++machine->messages_;
    machine->bytes_ += bytes;
    return machine->start_ + static_cast<Nanoseconds>(passage.time) * machine->tick_;
  }

  // True: all nodes have taken the operation and answered.
  bool operate(VirtualCluster& cluster, Generation generation) {
    const Rank callers = participating_ranks(asked_.shape);
    cookies_.clear();
    for (Rank rank = 0; rank < callers; ++rank) call(cluster, rank, generation);
    std::size_t answered = 0;
    const auto all_answered = [&] {
      while (answered < cookies_.size() && cluster.answer(cookies_[answered]) != nullptr) ++answered;
      return answered == cookies_.size();
    };
    return cookies_.size() == callers && cluster.run_until(cluster.now() + kPatience, all_answered);
  }

  ClusterSettings settings() {
    ClusterSettings s;
    s.nodes = asked_.shape.ranks;
    s.limits = limits_;
    s.node.plan = asked_.plan;
    s.node.plan.segment_bytes = asked_.shape.segment_bytes;
    s.adjust = [this](NodeSettings& node) { node.nic = nic(node.self); };
    return s;
  }

  NicSettings nic(Rank real) {
    const PortCosts& costs = asked_.nodes.of(virtual_rank(real));
    NicSettings nic;
    nic.enabled = true;
    nic.send = static_cast<Nanoseconds>(costs.send) * tick_;
    nic.receive = static_cast<Nanoseconds>(costs.occupancy) * tick_;
    nic.send_per_byte = static_cast<double>(costs.send_per_byte) * static_cast<double>(tick_);
    nic.receive_per_byte = static_cast<double>(costs.occupancy_per_byte) * static_cast<double>(tick_);
    nic.ports = asked_.nodes.ports == Ports::kShared ? NicPorts::kShared : NicPorts::kIndependent;
    nic.wire = arrival;
    nic.machine = &wires_[real];
    return nic;
  }

  std::uint64_t brought_by(Rank real) const {
    const OperationShape& shape = asked_.shape;
    if (shape.operation == Operation::kBarrier || (is_push(shape.operation) && real != asked_.root)) return 0;
    const bool several = shape.operation == Operation::kScatter || shape.operation == Operation::kAlltoall;
    return several ? shape.total_bytes * participating_ranks(shape) : shape.total_bytes;
  }

  void call(VirtualCluster& cluster, Rank rank, Generation generation) {
    Call c;
    c.group = cluster.open(rank, "all").group;
    c.operation = asked_.shape.operation, c.choice = asked_.shape.choice;
    c.type = asked_.shape.type, c.op = asked_.shape.op;
    c.root = asked_.root;
    c.generation = generation, c.charged = generation > 0, c.not_before = start_;
    if (brought_by(rank) > 0)
      if (const auto payload = cluster.node(rank).put_payload(pattern(rank, brought_by(rank)))) c.payload = *payload;
    const Asked asked = cluster.call(rank, c);
    if (asked.admission == Admission::kTaken) cookies_.push_back(asked.cookie);
  }

  std::optional<SimulationRun> result(VirtualCluster& cluster, std::uint64_t before, std::string& error) const {
    SimulationRun run;
    run.active.resize(asked_.shape.ranks);
    bool failed = stops_on_the_way_;
    for (Rank rank = 0; rank < cookies_.size(); ++rank) {
      const CallDone& done = cluster.answer(cookies_[rank])->event.done;
      failed |= done.verdict != Verdict::kOk;
      run.active[virtual_rank(rank)] = static_cast<Ticks>((done.activated_at - start_) / tick_);
    }
    if (failed) {
      error = stops_on_the_way_ ? "whole nodes run on networks that answer at once: not on this one"
                                : "the operation fails on whole nodes: too many bytes for their memory?";
      return {};
    }
    run.completion = *std::ranges::max_element(run.active);
    run.messages = messages_, run.bytes = bytes_;
    run.events = cluster.queue().actions_run() - before;
    run.loads = network_.loads();
    return run;
  }

  const FullNodesQuestion& asked_;
  const Limits& limits_;
  Network& network_;
  Nanoseconds tick_ = 1;
  Nanoseconds start_ = 0;
  std::vector<Wire> wires_;
  std::vector<std::uint64_t> cookies_;  // by real rank
  std::uint64_t messages_ = 0;
  std::uint64_t bytes_ = 0;
  bool stops_on_the_way_ = false;
};

}  // namespace

std::optional<SimulationRun> simulate_full_nodes(const FullNodesQuestion& question, Network& network,
                                                 std::string& error) {
  if (question.shape.ranks > kMostFullNodes) {
    error = "whole nodes are run up to " + std::to_string(kMostFullNodes) + " at a time";
    return {};
  }
  for (const NodeId a : question.node_of)
    for (const NodeId b : question.node_of)
      if (network.extra_send(a, b) > 0) {
        error = "whole nodes do not know of networks that keep the sender longer";
        return {};
      }
  const auto limits = full_node_limits(question.plan, question.shape, question.root, error);
  if (!limits) return {};
  return FullNodes(question, *limits, network).run(error);
}

}  // namespace fibocast
