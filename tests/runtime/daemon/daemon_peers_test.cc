// What daemons hear from the network that is not from a daemon of their cluster, or not what was sent.
#include <boost/asio/ip/udp.hpp>

#include "tests/runtime/daemon/cluster_fixture.h"

namespace fibocast {
namespace {

class DaemonPeers : public ClusterTest {
 protected:
  void expect_barrier(NodeId a, NodeId b) {
    RawClient one(socket(a)), two(socket(b));
    const auto id = one.start_barrier("check");
    const auto response = two.barrier("check");
    EXPECT_EQ(response.status().code(), client::CODE_OK) << response.status().sentence();
    EXPECT_EQ(one.receive(id).status().code(), client::CODE_OK);
  }
};

TEST_F(DaemonPeers, GarbageOnThePortDoesNoHarm) {
  plan_cluster(2);
  start_all();
  const auto at = parse_host_port(settings_[0].node.listen);
  boost::asio::io_context io;
  boost::asio::ip::udp::socket socket_to_port(io, boost::asio::ip::udp::v4());
  for (std::size_t size : {0u, 1u, 23u, 120u, 1400u})
    socket_to_port.send_to(boost::asio::buffer(std::string(size, '\xb0')),
                           {boost::asio::ip::make_address(at->host), at->port});
  expect_barrier(0, 1);
}

TEST_F(DaemonPeers, AnotherNodeListIsRefusedAndShown) {
  plan_cluster(2);
  settings_[1].cluster.name = "other";
  start_all();
  RawClient client(socket(0));
  client::NodeStatus status = client.status();
  while (status.peers(0).state() != "refused") status = client.status();
  EXPECT_EQ(status.connected(), 0u);
  EXPECT_GE(status.counters().at("peers_refused"), 1u);
  client::Request barrier;
  barrier.mutable_operate()->set_group("check");
  barrier.mutable_operate()->set_kind(client::OPERATION_BARRIER);
  barrier.mutable_operate()->set_deadline_ns(1'000'000);
  const client::Status ended = client.call(barrier).status();
  EXPECT_NE(ended.sentence().find("ranks 1 have other settings"), std::string::npos) << ended.sentence();
}

TEST_F(DaemonPeers, ALossyNetworkOnlyTakesLonger) {
  plan_cluster(3);
  for (Settings& settings : settings_) settings.faults = {10, 5, 5, 1 + settings.node.rank};
  start_all();
  std::vector<std::unique_ptr<RawClient>> clients;
  for (NodeId rank = 0; rank < 3; ++rank) clients.push_back(std::make_unique<RawClient>(socket(rank)));
  for (auto& client : clients) client->open_group("all");
  for (int i = 0; i < 30; ++i) {
    std::vector<std::uint64_t> ids;
    for (auto& client : clients) ids.push_back(client->start_barrier("all"));
    for (NodeId rank = 0; rank < 3; ++rank)
      ASSERT_EQ(clients[rank]->receive(ids[rank]).status().code(), client::CODE_OK);
  }
}

TEST_F(DaemonPeers, ADaemonThatComesBackIsTakenInAgain) {
  plan_cluster(2);
  start_all();
  wait_connected();
  stop(1);  // it says so: until it is back, operations end with PEER_LOST
  start(1);
  wait_connected();
  expect_barrier(0, 1);
}

}  // namespace
}  // namespace fibocast
