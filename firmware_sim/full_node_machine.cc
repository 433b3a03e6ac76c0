#include "firmware_sim/full_node_machine.h"

#include <algorithm>

#include "collectives/check.h"
#include "collectives/data_layout.h"

namespace fibocast {
namespace {

__extension__ typedef unsigned __int128 Wide;

// Times are added up: far from the end of 64 bits, and far beyond every run.
constexpr std::uint64_t kLongestTime = 100'000'000'000'000'000;

// value * by / over, rounded up.
std::uint64_t scaled(std::uint64_t value, std::uint64_t by, std::uint64_t over) {
  const Wide product = Wide{value} * by;
  return static_cast<std::uint64_t>(std::min<Wide>((product + over - 1) / over, kLongestTime));
}

}  // namespace

FullNodeMachine::FullNodeMachine(const FullNodesQuestion& question, const Rational& tick, Network& network)
    : asked_(question), tick_(tick), network_(network) {
  check(tick > Rational(0));
  for (Rank rank = 0; rank < question.shape.ranks; ++rank) wires_.push_back({this, rank});
}

Nanoseconds FullNodeMachine::in_time(Ticks ticks) const {
  return static_cast<Nanoseconds>(scaled(ticks, tick_.numerator(), tick_.denominator()));
}

Ticks FullNodeMachine::in_ticks(Nanoseconds time) const {
  return scaled(static_cast<std::uint64_t>(time), tick_.denominator(), tick_.numerator());
}

ClusterSettings FullNodeMachine::settings(const Limits& limits) {
  ClusterSettings s;
  s.nodes = asked_.shape.ranks;
  s.limits = limits;
  s.node.plan = asked_.plan;
  s.node.plan.segment_bytes = asked_.shape.segment_bytes;
  s.adjust = [this](NodeSettings& node) { node.nic = nic(node.self); };
  return s;
}

NicSettings FullNodeMachine::nic(Rank real) {
  const PortCosts& costs = asked_.nodes.of(virtual_rank(real));
  NicSettings nic;
  nic.enabled = true;
  nic.send = in_time(costs.send);
  nic.receive = in_time(costs.occupancy);
  nic.send_per_byte = static_cast<double>(costs.send_per_byte) * tick_.approximately();
  nic.receive_per_byte = static_cast<double>(costs.occupancy_per_byte) * tick_.approximately();
  nic.ports = asked_.nodes.ports == Ports::kShared ? NicPorts::kShared : NicPorts::kIndependent;
  nic.wire = arrival;
  nic.machine = &wires_[real];
  return nic;
}

void FullNodeMachine::begin(const VirtualCluster& cluster) {
  cluster_ = &cluster;
  start_ = cluster.now() + kMicrosecond;
}

Nanoseconds FullNodeMachine::arrival(void* wire, std::uint64_t source, std::uint64_t bytes, Nanoseconds departs) {
  const auto& [machine, target] = *static_cast<const Wire*>(wire);
  return machine->carry(static_cast<Rank>(source), target, bytes, departs);
}

// A message departs when its card has sent it, and to the target's node takes no time: the network is asked now, and
// so in order. The target's clock may be ahead.
Nanoseconds FullNodeMachine::carry(Rank source, Rank target, std::uint64_t bytes, Nanoseconds departs) {
  const Nanoseconds ahead = departs - cluster_->now();
  const Passage passage = network_.enter({place(source), place(target), bytes}, in_ticks(cluster_->now() - start_));
  stops_on_the_way_ |= !passage.arrived;
  ++messages_;
  bytes_ += bytes;
  return start_ + in_time(passage.time) + ahead;
}

std::uint64_t FullNodeMachine::brought_by(Rank real) const {
  const OperationShape& shape = asked_.shape;
  if (shape.operation == Operation::kBarrier || (is_push(shape.operation) && real != asked_.root)) return 0;
  return input_bytes(shape, virtual_rank(real));
}

Asked FullNodeMachine::call(VirtualCluster& cluster, Rank rank, Generation generation, Nanoseconds deadline,
                            bool charged) const {
  Call c;
  c.group = cluster.open(rank, "all").group;
  c.operation = asked_.shape.operation, c.choice = asked_.shape.choice;
  c.type = asked_.shape.type, c.op = asked_.shape.op;
  c.root = asked_.root;
  if (c.operation == Operation::kConquer) c.total_bytes = asked_.shape.total_bytes;
  c.generation = generation, c.deadline = deadline, c.charged = charged, c.not_before = start_;
  if (brought_by(rank) > 0) {
    const auto payload = cluster.node(rank).put_payload(pattern(rank, brought_by(rank)));
    if (!payload) return {};  // never without its data
    c.payload = *payload;
  }
  return cluster.call(rank, c);
}

}  // namespace fibocast
