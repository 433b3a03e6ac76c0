// Daemons that die: everybody who waits is told who was lost, all alike; the dead one comes back and is in again.
#include <gtest/gtest.h>
#include <signal.h>

#include <thread>

#include "tests/end_to_end/programs.h"

namespace fibocast {
namespace {

using std::chrono::seconds;

constexpr NodeId kNodes = 16;
constexpr auto kPatience = seconds(60);  // far more than it takes: a hang is told from a verdict by its code

class Loss : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    cluster_.up({"-n", std::to_string(kNodes), "--transport", GetParam()});
    for (NodeId rank = 0; rank < kNodes; ++rank) connect(rank);
  }
  void connect(NodeId rank) {
    clients_[rank] = cluster_.client(rank);
    auto group = clients_[rank]->open("all");
    ASSERT_TRUE(group.ok()) << group.status().sentence;
    groups_[rank] = std::make_unique<Group>(std::move(*group));
  }
  // All but `absent` at a time; `meanwhile` happens when the calls are under way or about to be.
  std::vector<Status> barrier(
      NodeId absent, const std::function<void()>& meanwhile = [] {}) {
    std::vector<Status> ends(kNodes);
    std::vector<std::thread> ranks;
    for (NodeId rank = 0; rank < kNodes; ++rank)
      if (rank != absent) ranks.emplace_back([&, rank] { ends[rank] = groups_[rank]->barrier(kPatience).status; });
    meanwhile();
    for (std::thread& rank : ranks) rank.join();
    return ends;
  }
  void kill_daemon(NodeId rank) {
    const Json status = cluster_.run({"status", "--rank", std::to_string(rank), "--json"}).json();
    ASSERT_EQ(kill(status["pid"].get<pid_t>(), SIGKILL), 0);
  }
  bool all_connected() {
    const Json all = cluster_.run({"status", "--json"}).json();
    for (const Json& node : all["nodes"])
      if (!node.contains("connected") || node["connected"] != kNodes - 1) return false;
    return true;
  }

  TestCluster cluster_;
  std::shared_ptr<Client> clients_[kNodes];
  std::unique_ptr<Group> groups_[kNodes];
};

TEST_P(Loss, EverybodyIsToldAndTheDeadOneComesBack) {
  for (const NodeId victim : {15u, 6u, 0u}) {  // a leaf, an inner rank, the root
    for (const Status& end : barrier(kNodes)) ASSERT_TRUE(end.ok()) << end.sentence;
    const std::vector<Status> ends = barrier(victim, [&] { kill_daemon(victim); });
    for (NodeId rank = 0; rank < kNodes; ++rank) {
      if (rank == victim) continue;
      EXPECT_EQ(ends[rank].code, Code::kPeerLost) << "rank " << rank << ": " << ends[rank].sentence;
      EXPECT_EQ(ends[rank].ranks, std::vector<Rank>{victim}) << "rank " << rank << ": " << ends[rank].sentence;
    }
    for (const Status& end : barrier(victim)) EXPECT_TRUE(end.code == Code::kPeerLost || end.code == Code::kOk);
    ASSERT_EQ(cluster_.run({"up", "--only", std::to_string(victim), "--quiet"}).exit_code, 0);
    ASSERT_TRUE(eventually([&] { return all_connected(); }));
    connect(victim);
  }
  for (const Status& end : barrier(kNodes)) EXPECT_TRUE(end.ok()) << end.sentence;
}

INSTANTIATE_TEST_SUITE_P(Transports, Loss, testing::Values("udp", "tcp"));

}  // namespace
}  // namespace fibocast
