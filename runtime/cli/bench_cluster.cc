#include "runtime/cli/bench_cluster.h"

#include <algorithm>
#include <numeric>

#include "runtime/cli/cluster_record.h"
#include "runtime/cli/interrupt.h"
#include "runtime/daemon/node_host.h"

namespace fibocast {
namespace {

Status interrupted() { return {Code::kCancelled, "interrupted: what was set up for the measurements is removed", {}}; }

}  // namespace

Status BenchCluster::connect(const std::string& dir, const std::string& socket) {
  catch_interrupts();
  Client::Options options;
  options.executor = context_.get_executor();
  options.program = "fibocast bench";
  const auto record = socket.empty() ? read_cluster_record(dir) : std::nullopt;
  if (socket.empty() && !record)
    return {Code::kUnavailable,
            "no local cluster is up in " + dir + ": fibocast up, or name a daemon's socket with --socket",
            {}};
  if (record) {
    for (const LocalNode& node : record->nodes) {
      options.socket_path = node.socket;
      if (Status status = connect_to(options); !status.ok()) return status;
    }
    return {};
  }
  options.socket_path = socket;
  for (std::uint32_t size = 1; clients_.size() < size; size = clients_.front()->size()) {
    options.node = static_cast<NodeId>(clients_.size());
    if (Status status = connect_to(options); !status.ok()) return status;
  }
  return {};
}

Status BenchCluster::connect_to(const Client::Options& options) {
  auto client = Client::connect(options);
  if (!client.ok()) return client.status();
  auto clock = measure_clock_offset(**client);
  if (!clock.ok()) return clock.status();
  clients_.push_back(*client);
  clocks_.push_back(*clock);
  return {};
}

Nanoseconds BenchCluster::clock_bound() const {
  Nanoseconds bound = 0;
  for (const ClockOffset& clock : clocks_) bound = std::max(bound, clock.bound_at(monotonic_now()));
  return bound;
}

Result<BenchCluster::Members> BenchCluster::create_group(const GroupRequest& request) {
  const Status status = is_interrupted() ? interrupted() : clients_[request.nodes.front()]->create_group(request);
  if (!status.ok()) return status;
  return open(request.name, request.nodes);
}

Result<BenchCluster::Members> BenchCluster::open_group(const std::string& name) {
  auto nodes = members_of(name);
  if (!nodes.ok()) return nodes.status();
  return open(name, *nodes);
}

Result<std::vector<NodeId>> BenchCluster::members_of(const std::string& name) {
  for (const auto& client : clients_) {
    auto node = client->status();
    if (!node.ok()) return node.status();
    for (GroupInfo& group : node->groups) {
      if (group.name != name) continue;
      group.nodes.resize(group.size);  // without its routers
      return group.nodes;
    }
  }
  std::vector<NodeId> all(clients_.size());
  std::iota(all.begin(), all.end(), 0);
  return all;
}

Result<BenchCluster::Members> BenchCluster::open(const std::string& name, const std::vector<NodeId>& nodes) {
  Members members;
  for (const NodeId node : nodes) {
    auto group = clients_[node]->open(name);
    if (!group.ok()) return group.status();
    members.push_back({*group, node, clocks_[node]});
  }
  return members;
}

Status BenchCluster::remove_group(const std::string& name, NodeId member) {
  return clients_[member]->remove_group(name);
}

std::vector<Outcome> BenchCluster::run(Members& members, const Start& start) {
  std::vector<Outcome> outcomes(members.size());
  if (is_interrupted()) {
    for (Outcome& outcome : outcomes) outcome.status = interrupted();
    return outcomes;
  }
  std::size_t left = members.size();
  for (std::size_t rank = 0; rank < members.size(); ++rank)
    start(members[rank], [&outcomes, &left, rank, offset = members[rank].clock.offset](Outcome outcome) {
      for (Nanoseconds* time : {&outcome.arrived_at, &outcome.activated_at, &outcome.first_send_at})
        if (*time != 0) *time -= offset;
      outcomes[rank] = std::move(outcome);
      --left;
    });
  while (left > 0) {
    context_.restart();
    context_.run_one();
  }
  return outcomes;
}

std::vector<Outcome> BenchCluster::barrier(Members& members, Duration deadline, const OperationOptions& options) {
  return run(members, [&](Member& member, auto done) {
    OperationOptions own = options;
    if (own.not_before != 0) own.not_before += member.clock.offset;
    member.group.async_barrier(deadline, std::move(done), own);
  });
}

Result<std::uint64_t> BenchCluster::resends() {
  std::uint64_t sum = 0;
  for (const auto& client : clients_) {
    auto node = client->status();
    if (!node.ok()) return node.status();
    for (const PeerInfo& peer : node->peers) sum += peer.resends;
  }
  return sum;
}

Status worst_of(const std::vector<Outcome>& outcomes) {
  for (const Outcome& outcome : outcomes)
    if (!outcome.ok()) return outcome.status;
  return {};
}

}  // namespace fibocast
