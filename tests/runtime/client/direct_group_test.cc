#include "runtime/client/direct_group.h"

#include <functional>

#include "runtime/client/embedded_node.h"
#include "runtime/daemon/key_file.h"
#include "tests/inheritable_sockets.h"
#include "tests/runtime/daemon/cluster_fixture.h"

namespace fibocast {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

class DirectGroup : public ClusterTest {
 protected:
  void start_cluster(std::uint32_t nodes, bool sealed = false) {
    plan_cluster(nodes);
    const std::string key = folder_ / "key";
    if (sealed) create_key_file(key, KeyRing(ClusterKey::generate()));
    for (Settings& settings : settings_)
      if (sealed) settings.security.key_file = key;
    start_all();
    wait_connected();
  }
  std::shared_ptr<Client> client(NodeId rank) {
    auto connected = Client::connect(socket(rank));
    EXPECT_TRUE(connected.ok()) << connected.status().sentence;
    return *connected;
  }
  // `part` in a thread for each rank.
  void each_rank(const std::function<void(NodeId)>& part) {
    std::vector<std::thread> ranks;
    for (NodeId rank = 0; rank < settings_.size(); ++rank) ranks.emplace_back([&, rank] { part(rank); });
    for (std::thread& thread : ranks) thread.join();
  }
  std::uint64_t operations_of(NodeId rank) { return client(rank)->status()->counters.at("node_operations_ok"); }
};

class DirectGroupSealed : public DirectGroup, public testing::WithParamInterface<bool> {};
INSTANTIATE_TEST_SUITE_P(Frames, DirectGroupSealed, testing::Bool(),
                         [](const auto& sealed) { return std::string(sealed.param ? "sealed" : "plain"); });

// A node without clients says so to those of a daemon, however often they ask.
TEST_F(DirectGroup, AnApplicationThatIsANodeHasNoClients) {
  plan_cluster(2);
  start(0);
  EmbeddedNode::Options options;
  options.rank = 1, options.nodes = settings_[1].cluster.nodes, options.cluster = settings_[1].cluster.name;
  options.limits = settings_[1].limits;
  auto node = EmbeddedNode::start(options);
  ASSERT_TRUE(node.ok()) << node.status().sentence;
  const auto here = client(0);
  std::thread other([&] { EXPECT_TRUE(node.value()->open("all")->barrier(minutes(1)).ok()); });
  EXPECT_TRUE(here->open("all")->barrier(minutes(1)).ok()) << "they are not connected";
  other.join();
  Client::Options asking;
  asking.socket_path = socket(0), asking.node = 1, asking.patience = seconds(3);
  for (int i = 0; i < 20; ++i) {
    const auto there = Client::connect(asking);
    ASSERT_FALSE(there.ok());
    EXPECT_NE(there.status().sentence.find("rank 1 is a node in the process of an application"), std::string::npos)
        << there.status().sentence;
  }
}

TEST_P(DirectGroupSealed, OperationsPassNoDaemon) {
  const std::set<int> inheritable = inheritable_sockets();
  start_cluster(3, GetParam());
  std::atomic<std::uint64_t> before{0}, after{0};
  each_rank([&](NodeId rank) {
    auto group = client(rank)->open_direct("all");
    ASSERT_TRUE(group.ok()) << group.status().sentence;
    EXPECT_EQ(group->rank(), rank);
    EXPECT_EQ(group->size(), 3u);
    if (rank == 0) before = operations_of(0);
    for (int i = 0; i < 100; ++i) ASSERT_TRUE(group->barrier(minutes(1)).ok());
    const std::int64_t value = 1 << rank;
    const Outcome sum = group->allreduce<std::int64_t>(std::span(&value, 1), CombineOperator::kSum, minutes(1));
    ASSERT_TRUE(sum.ok()) << sum.status.sentence;
    EXPECT_EQ(sum.values<std::int64_t>(), std::vector<std::int64_t>{7});
    if (rank == 0) after = operations_of(0);
    if (rank == 0) EXPECT_EQ(inheritable_sockets(), inheritable);
    ASSERT_TRUE(group->barrier(minutes(1)).ok());
  });
  EXPECT_GT(before, 0u);
  EXPECT_EQ(before, after);
}

// The group's own members in its own order, and a copy of the group is enough to keep it.
TEST_F(DirectGroup, RanksAreTheGroups) {
  start_cluster(4);
  ASSERT_TRUE(client(3)->create_group({.name = "some", .nodes = {1, 3}}).ok());
  std::vector<std::thread> members;
  for (const NodeId node : {1u, 3u})
    members.emplace_back([&, node] {
      auto group = client(node)->open_direct("some");
      ASSERT_TRUE(group.ok()) << group.status().sentence;
      EXPECT_EQ(group->rank(), node == 1 ? 0u : 1u);
      const Outcome got = group->allgather(std::as_bytes(std::span(&node, 1)), minutes(1));
      ASSERT_TRUE(got.ok()) << got.status.sentence;
      EXPECT_EQ(got.values<NodeId>(), (std::vector<NodeId>{1, 3}));
    });
  for (std::thread& member : members) member.join();
}

TEST_F(DirectGroup, WhoHasNotCalledIsNamed) {
  start_cluster(3);
  std::vector<std::thread> members;
  for (const NodeId rank : {0u, 2u})
    members.emplace_back([&, rank] {
      const auto group = client(rank)->open_direct("all", {.deadline = milliseconds(300)});
      ASSERT_FALSE(group.ok());
      EXPECT_EQ(group.status().code, Code::kDeadlineExceeded) << group.status().sentence;
      EXPECT_EQ(group.status().ranks, std::vector<Rank>{1});
    });
  for (std::thread& member : members) member.join();
}

// Who leaves harms neither the daemons nor those that stay: these have their verdict, and can begin anew.
TEST_F(DirectGroup, TheOthersCanBeginAnewWhenOneHasLeft) {
  start_cluster(3);
  each_rank([&](NodeId rank) {
    auto client_here = client(rank);
    auto first = client_here->open_direct("all");
    ASSERT_TRUE(first.ok()) << first.status().sentence;
    if (rank != 1) {
      ASSERT_TRUE(first->barrier(minutes(1)).ok());
      const Outcome lost = first->barrier(minutes(1));
      EXPECT_EQ(lost.status.code, Code::kPeerLost) << lost.status.sentence;
      EXPECT_EQ(lost.status.ranks, std::vector<Rank>{1});
    } else {
      ASSERT_TRUE(first->barrier(minutes(1)).ok());
      first = Status{};
    }
    auto second = client_here->open_direct("all");
    ASSERT_TRUE(second.ok()) << second.status().sentence;
    EXPECT_TRUE(second->barrier(minutes(1)).ok());
  });
}

TEST_F(DirectGroup, APolicyIsKept) {
  start_cluster(3);
  ASSERT_TRUE(client(0)->create_group({.name = "go on", .nodes = {0, 1, 2}, .policy = "survivors"}).ok());
  each_rank([&](NodeId rank) {
    auto group = client(rank)->open_direct("go on");
    ASSERT_TRUE(group.ok()) << group.status().sentence;
    EXPECT_EQ(group->info().policy, "survivors");
    ASSERT_TRUE(group->barrier(minutes(1)).ok());
    if (rank == 2) return;
    const Outcome outcome = group->barrier(minutes(1));
    EXPECT_TRUE(outcome.ok()) << outcome.status.sentence;
  });
}

// All go by the model that rank 0's daemon goes by now: nodes with different ones would refuse each other.
TEST_F(DirectGroup, OneModelForAll) {
  start_cluster(3);
  ASSERT_TRUE(client(0)->create_group({.name = "some", .nodes = {0, 1, 2}}).ok());
  NodeModel model = client(0)->status()->model;
  EXPECT_EQ(model.s, settings_[0].model.s_ns);
  EXPECT_EQ(model.l + model.o, settings_[0].model.r());
  model.s *= 2;
  ASSERT_TRUE(client(0)->set_model(model).ok());
  EXPECT_EQ(client(0)->status()->model.s, model.s);
  EXPECT_NE(client(1)->status()->model.s, model.s);
  each_rank([&](NodeId rank) {
    auto group = client(rank)->open_direct("some", {.deadline = minutes(1)});
    ASSERT_TRUE(group.ok()) << group.status().sentence;
    EXPECT_TRUE(group->barrier(minutes(1)).ok());
  });
}

TEST_F(DirectGroup, WhatCannotBeIsRefusedWithAReason) {
  plan_cluster(1);
  settings_[0].cluster.transport = TransportKind::kTcp;
  start_all();
  const auto over_tcp = client(0)->open_direct("all");
  EXPECT_EQ(over_tcp.status().code, Code::kRefused);
  EXPECT_NE(over_tcp.status().sentence.find("needs udp; use open()"), std::string::npos) << over_tcp.status().sentence;
}

TEST_F(DirectGroup, AHostThatIsNoneIsRefused) {
  start_cluster(1);
  const auto nowhere = client(0)->open_direct("all", {.host = "no host at all"});
  EXPECT_EQ(nowhere.status().code, Code::kInvalid);
  EXPECT_NE(nowhere.status().sentence.find("no host at all"), std::string::npos) << nowhere.status().sentence;
  const auto too_long = client(0)->open_direct("all", {.host = std::string(300, 'x')});
  EXPECT_EQ(too_long.status().code, Code::kInvalid);
}

}  // namespace
}  // namespace fibocast
