// A network that falls apart under real daemons: ten of sixteen go on, six are told that they are cut off, and are in
// again when it has healed. The daemons run in two network namespaces that a bridge in a third one joins; it lets go of
// one side, and no frame passes. Only for root, who may make namespaces.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <fstream>
#include <iostream>
#include <mutex>
#include <optional>
#include <thread>

#include "tests/end_to_end/members.h"
#include "tests/end_to_end/parted_network.h"

namespace fibocast {
namespace {

using Clock = std::chrono::steady_clock;

constexpr NodeId kMajority = 10;

class Partition : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (network_.made().exit_code != 0) GTEST_SKIP() << "no network namespaces: " << network_.made().err;
    for (NodeId rank = 0; rank < kNodes; ++rank) start(rank);
    for (NodeId rank = 0; rank < kNodes; ++rank) ASSERT_TRUE(eventually([&] { return connect(rank); })) << rank;
    create_work("survivors", clients_, groups_);
  }

  std::string socket(NodeId rank) const { return folder_.file("node-" + std::to_string(rank) + ".sock"); }
  void start(NodeId rank) {
    std::string nodes;
    for (NodeId r = 0; r < kNodes; ++r) nodes += (r ? ", \"" : "\"") + network_.address(r) + "\"";
    const std::string path = folder_.file("node-" + std::to_string(rank) + ".toml");
    std::ofstream(path) << "[node]\nrank = " << rank << "\nlisten = \"" << network_.address(rank) << "\"\nsocket = \""
                        << socket(rank) << "\"\n[cluster]\nname = \"parted\"\nnodes = [" << nodes << "]\ntransport = \""
                        << GetParam() << "\"\n[detector]\nsuspicion_ms = 500\n[security]\nkey_file = \""
                        << folder_.key_file() << "\"\n";
    daemons_[rank].emplace(Words{"ip", "netns", "exec", network_.space_of(rank), "fibocastd", "--config", path},
                           std::string{}, folder_.file(""));
  }
  bool connect(NodeId rank) {
    Client::Options options;
    options.socket_path = socket(rank);
    auto client = Client::connect(options);
    if (!client.ok()) return false;
    auto watcher = Client::connect(options);
    if (!watcher.ok()) return false;
    clients_[rank] = *client, watchers_[rank] = *watcher;
    auto status = watchers_[rank]->status();
    return status.ok() && status->connected == kNodes - 1;
  }
  GroupInfo info(NodeId rank) {
    auto status = watchers_[rank]->status();
    EXPECT_TRUE(status.ok()) << status.status().sentence;
    if (!status.ok()) return {};
    for (const GroupInfo& group : status->groups)
      if (group.name == "work") return group;
    return {};
  }
  // Barrier after barrier at every member; what each has seen.
  struct Seen {
    std::atomic<std::uint64_t> ok = 0, partitioned = 0, stale = 0, others = 0;
    std::atomic<Generation> last = 0;
  };
  void work(NodeId rank) {
    while (!done_) {
      const Outcome outcome = groups_[rank]->barrier(kPatience);
      Seen& seen = seen_[rank];
      if (outcome.status.ok()) {
        EXPECT_GE(outcome.generation + 1, seen.last + 1) << "released twice";
        seen.last = outcome.generation + 1;
        ++seen.ok;
        if (outcome.generation >= end_) return;
        continue;
      }
      const Code code = outcome.status.code;
      ++(code == Code::kPartitioned ? seen.partitioned : code == Code::kStale ? seen.stale : seen.others);
      if (code == Code::kPartitioned) wait_for_healing();
    }
  }
  // What an application does that is told so: it lets the others be until the network is whole again.
  void wait_for_healing() {
    std::unique_lock lock(mutex_);
    healed_.wait(lock, [this] { return whole_; });
  }
  void set_whole(bool whole) {
    whole ? network_.join() : network_.part();
    const std::lock_guard lock(mutex_);
    whole_ = whole;
    healed_.notify_all();
  }
  bool each_ok(NodeId first, NodeId last, std::uint64_t more) {
    std::uint64_t goal[kNodes];
    for (NodeId rank = first; rank < last; ++rank) goal[rank] = seen_[rank].ok + more;
    return eventually([&] {
      for (NodeId rank = first; rank < last; ++rank)
        if (seen_[rank].ok < goal[rank]) return false;
      return true;
    });
  }

  TestCluster folder_;
  PartedNetwork network_{folder_, kNodes, kMajority};
  std::optional<Running> daemons_[kNodes];
  std::shared_ptr<Client> clients_[kNodes], watchers_[kNodes];
  std::unique_ptr<Group> groups_[kNodes];
  Seen seen_[kNodes];
  std::mutex mutex_;
  std::condition_variable healed_;
  bool whole_ = true;  // the network, for wait_for_healing()
  std::atomic<bool> done_ = false;
  std::atomic<Generation> end_ = ~Generation{0};
};

TEST_P(Partition, TenGoOnSixAreToldAndAllMeetAgain) {
  std::vector<std::thread> threads;
  for (NodeId rank = 0; rank < kNodes; ++rank) threads.emplace_back([this, rank] { work(rank); });
  EXPECT_TRUE(each_ok(0, kNodes, 20));
  set_whole(false);
  const Clock::time_point parted = Clock::now();
  EXPECT_TRUE(eventually([&] { return info(0).live == kMajority; }));
  std::cout << "the majority went on "
            << std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - parted).count()
            << " ms after the partition, of which 500 ms are the suspicion time\n";
  EXPECT_TRUE(each_ok(0, kMajority, 20));
  for (NodeId rank = kMajority; rank < kNodes; ++rank) {
    EXPECT_TRUE(eventually([&] { return seen_[rank].partitioned > 0; })) << rank;
    EXPECT_TRUE(info(rank).outside) << rank;
  }
  set_whole(true);
  EXPECT_TRUE(eventually([&] { return info(0).live == kNodes; }));
  EXPECT_TRUE(each_ok(0, kNodes, 20));
  end_ = seen_[0].last + 200;
  if (HasFailure()) done_ = true;
  for (std::thread& thread : threads) thread.join();
  for (NodeId rank = 0; rank < kNodes; ++rank) {
    EXPECT_EQ(seen_[rank].others, 0u) << rank;
    if (rank >= kMajority) continue;
    EXPECT_EQ(seen_[rank].partitioned, 0u) << rank << ", STALE " << seen_[rank].stale;
    EXPECT_EQ(seen_[rank].stale, 0u) << rank;  // the minority's news that it is lost are not believed
  }
}

INSTANTIATE_TEST_SUITE_P(Transports, Partition, testing::Values("udp", "tcp"));

}  // namespace
}  // namespace fibocast
