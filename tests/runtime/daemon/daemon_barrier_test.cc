// Barriers and multicasts between daemons on real sockets.
#include "runtime/daemon/key_file.h"
#include "runtime/wire/client_codec.h"
#include "tests/inheritable_sockets.h"
#include "tests/runtime/daemon/cluster_fixture.h"

namespace fibocast {
namespace {

client::Request multicast(const std::string& group, std::uint32_t root, const std::string& payload) {
  client::Request request;
  request.mutable_operate()->set_group(group);
  request.mutable_operate()->set_kind(client::OPERATION_MULTICAST);
  request.mutable_operate()->set_root(root);
  request.mutable_operate()->set_payload(payload);
  request.mutable_operate()->set_deadline_ns(20'000'000'000);
  return request;
}

class DaemonBarrier : public ClusterTest, public ::testing::WithParamInterface<TransportKind> {
 protected:
  void start_cluster(std::uint32_t nodes) {
    plan_cluster(nodes);
    for (Settings& settings : settings_) settings.cluster.transport = GetParam();
    start_all();
    for (NodeId rank = 0; rank < nodes; ++rank) clients_.push_back(std::make_unique<RawClient>(socket(rank)));
  }
  std::vector<std::unique_ptr<RawClient>> clients_;
};

TEST_P(DaemonBarrier, FourNodesAgain) {
  start_cluster(4);
  for (auto& client : clients_) EXPECT_EQ(client->open_group("all").status().code(), client::CODE_OK);
  for (std::uint32_t generation = 0; generation < 20; ++generation) {
    std::vector<std::uint64_t> ids;
    for (auto& client : clients_) ids.push_back(client->start_barrier("all"));
    for (NodeId rank = 0; rank < 4; ++rank) {
      const auto response = clients_[rank]->receive(ids[rank]);
      EXPECT_EQ(response.status().code(), client::CODE_OK) << response.status().sentence();
      EXPECT_EQ(response.outcome().generation(), generation);
    }
  }
}

TEST_P(DaemonBarrier, ABarrierWithoutOpeningJoinsTheOpenGeneration) {
  start_cluster(3);
  std::vector<std::uint64_t> ids;
  for (auto& client : clients_) ids.push_back(client->start_barrier("gate"));
  for (NodeId rank = 0; rank < 3; ++rank)
    EXPECT_EQ(clients_[rank]->receive(ids[rank]).status().code(), client::CODE_OK);
}

TEST_P(DaemonBarrier, ProgramsStartedByADaemonsProcessInheritNoSocket) {
  const std::set<int> before = inheritable_sockets();
  start_cluster(4);
  wait_connected();
  RawClient relayed(socket(0), false);
  client::Request hello;
  hello.mutable_hello()->set_major(kClientMajor);
  hello.mutable_hello()->set_node(1);
  EXPECT_EQ(relayed.call(hello).welcome().rank(), 1u);
  std::vector<std::uint64_t> ids;
  for (auto& client : clients_) ids.push_back(client->start_barrier("gate"));
  for (NodeId rank = 0; rank < 4; ++rank)
    EXPECT_EQ(clients_[rank]->receive(ids[rank]).status().code(), client::CODE_OK);
  EXPECT_EQ(inheritable_sockets(), before);
}

TEST_P(DaemonBarrier, NobodyIsReleasedBeforeTheLastArrives) {
  start_cluster(3);
  const auto first = clients_[0]->start_barrier("gate");
  const auto second = clients_[1]->start_barrier("gate");
  const auto before = monotonic_now();
  const auto third = clients_[2]->start_barrier("gate");
  for (const auto& response :
       {clients_[0]->receive(first), clients_[1]->receive(second), clients_[2]->receive(third)}) {
    EXPECT_EQ(response.status().code(), client::CODE_OK) << response.status().sentence();
    EXPECT_GE(monotonic_now(), before);
  }
  EXPECT_GE(clients_[0]->status().counters().at("node_operations_ok"), 1u);
}

TEST_P(DaemonBarrier, WhoIsMissingIsNamedTheSameEverywhere) {
  start_cluster(3);
  wait_connected();
  const auto first = clients_[0]->start_barrier("gate", 200);
  const auto second = clients_[1]->start_barrier("gate", 200);
  for (const auto& response : {clients_[0]->receive(first), clients_[1]->receive(second)}) {
    EXPECT_EQ(response.status().code(), client::CODE_DEADLINE_EXCEEDED) << response.status().sentence();
    ASSERT_EQ(response.status().ranks_size(), 1) << response.status().sentence();
    EXPECT_EQ(response.status().ranks(0), 2u);
    EXPECT_NE(response.status().sentence().find("missing ranks: 2;"), std::string::npos)
        << response.status().sentence();
  }
}

TEST_P(DaemonBarrier, MulticastOfEverySizeArrivesWhole) {
  start_cluster(3);
  for (auto& client : clients_) client->open_group("all");
  std::uint32_t root = 0;
  for (const std::size_t size : {0u, 1u, 1000u, 1025u, 100'000u, 5'000'000u}) {
    std::string payload(size, 'a');
    for (std::size_t i = 0; i < size; ++i) payload[i] = static_cast<char>(i * 31 >> 3);
    std::vector<std::uint64_t> ids;
    for (NodeId rank = 0; rank < 3; ++rank)
      ids.push_back(clients_[rank]->send(multicast("all", root, rank == root ? payload : "")));
    for (NodeId rank = 0; rank < 3; ++rank) {
      const auto response = clients_[rank]->receive(ids[rank]);
      EXPECT_EQ(response.status().code(), client::CODE_OK) << response.status().sentence();
      EXPECT_TRUE(rank == root || response.outcome().payload() == payload) << size;
    }
    root = (root + 1) % 3;
  }
}

// Sealed: the root's frames leave together, and a large payload once for all.
TEST_P(DaemonBarrier, FanOutsThroughSocketsLeaveTogether) {
  const std::string key = folder_ / "key";
  create_key_file(key, KeyRing(ClusterKey::generate()));
  plan_cluster(6);
  for (Settings& settings : settings_) {
    settings.cluster.transport = GetParam();
    settings.cluster.local = "off";
    settings.security.key_file = key;
  }
  start_all();
  wait_connected();
  for (NodeId rank = 0; rank < 6; ++rank) clients_.push_back(std::make_unique<RawClient>(socket(rank)));
  for (auto& client : clients_) client->open_group("all");
  const std::string large(40'000, 'l');
  for (int i = 0; i < 10; ++i) {
    const std::string payload = i % 2 == 0 ? "to all" : large;
    std::vector<std::uint64_t> barriers, multicasts;
    for (auto& client : clients_) barriers.push_back(client->start_barrier("all"));
    for (NodeId rank = 0; rank < 6; ++rank)
      multicasts.push_back(clients_[rank]->send(multicast("all", 0, rank == 0 ? payload : "")));
    for (NodeId rank = 0; rank < 6; ++rank) {
      EXPECT_EQ(clients_[rank]->receive(barriers[rank]).status().code(), client::CODE_OK);
      const auto response = clients_[rank]->receive(multicasts[rank]);
      EXPECT_EQ(response.status().code(), client::CODE_OK) << response.status().sentence();
      EXPECT_TRUE(rank == 0 || response.outcome().payload() == payload);
    }
  }
  const auto counters = clients_[0]->status().counters();
  if (GetParam() == TransportKind::kUdp) {
    EXPECT_GE(counters.at("transport_fan_outs"), 10u);
    EXPECT_LT(counters.at("transport_bytes_sent"), 3 * 5 * large.size());
  } else {
    EXPECT_EQ(counters.at("transport_fan_outs"), 0u);
  }
}

INSTANTIATE_TEST_SUITE_P(Transports, DaemonBarrier, ::testing::Values(TransportKind::kUdp, TransportKind::kTcp),
                         [](const auto& info) { return info.param == TransportKind::kUdp ? "Udp" : "Tcp"; });

}  // namespace
}  // namespace fibocast
