#include "runtime/cli/bench_cluster.h"

#include <numeric>

#include "runtime/cli/cluster_record.h"

namespace fibocast {

Status BenchCluster::connect(const std::string& dir) {
  const auto record = read_cluster_record(dir);
  if (!record) return {Code::kUnavailable, "no local cluster is up in " + dir + ": fibocast up", {}};
  for (const LocalNode& node : record->nodes) {
    Client::Options options;
    options.socket_path = node.socket;
    options.executor = context_.get_executor();
    options.program = "fibocast bench";
    auto client = Client::connect(options);
    if (!client.ok()) return client.status();
    clients_.push_back(*client);
  }
  return {};
}

Result<BenchCluster::Members> BenchCluster::create_group(const GroupRequest& request) {
  const Status status = clients_[request.nodes.front()]->create_group(request);
  if (!status.ok()) return status;
  return open(request.name, request.nodes);
}

Result<BenchCluster::Members> BenchCluster::open_group(const std::string& name) {
  std::vector<NodeId> nodes(clients_.size());
  std::iota(nodes.begin(), nodes.end(), 0);
  return open(name, nodes);
}

Result<BenchCluster::Members> BenchCluster::open(const std::string& name, const std::vector<NodeId>& nodes) {
  Members members;
  for (const NodeId node : nodes) {
    auto group = clients_[node]->open(name);
    if (!group.ok()) return group.status();
    members.push_back(*group);
  }
  return members;
}

Status BenchCluster::remove_group(const std::string& name) { return clients_.front()->remove_group(name); }

std::vector<Outcome> BenchCluster::run(Members& members, const Start& start) {
  std::vector<Outcome> outcomes(members.size());
  std::size_t left = members.size();
  for (std::size_t rank = 0; rank < members.size(); ++rank)
    start(members[rank], [&outcomes, &left, rank](Outcome outcome) {
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
  return run(members, [&](Group& member, auto done) { member.async_barrier(deadline, std::move(done), options); });
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
