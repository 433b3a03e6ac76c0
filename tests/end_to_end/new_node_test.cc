// A node is added to the file of a running cluster: who runs reads it again, the new daemon comes, and is in.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <optional>
#include <thread>

#include "tests/end_to_end/programs.h"

namespace fibocast {
namespace {

constexpr NodeId kBefore = 3, kAfter = 4;

class NewNode : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    for (NodeId rank = 0; rank < kBefore; ++rank) start(rank, kBefore);
    for (NodeId rank = 0; rank < kBefore; ++rank) ASSERT_TRUE(eventually([&] { return meets(rank, kBefore); })) << rank;
  }

  // Loopback has 2^24 addresses: those of this process are nobody else's.
  static std::string address(NodeId rank) {
    const int process = getpid();
    return "127." + std::to_string(64 + process % 128) + "." + std::to_string(process / 128 % 256) + "." +
           std::to_string(1 + rank) + ":7777";
  }
  std::string socket(NodeId rank) const { return folder_.file("node-" + std::to_string(rank) + ".sock"); }
  std::string write_file(NodeId rank, NodeId nodes) const {
    const std::string path = folder_.file("node-" + std::to_string(rank) + ".toml");
    std::ofstream out(path);
    out << "[node]\nrank = " << rank << "\nlisten = \"" << address(rank) << "\"\nsocket = \"" << socket(rank)
        << "\"\n[cluster]\ntransport = \"" << GetParam() << "\"\nnodes = [";
    for (NodeId r = 0; r < nodes; ++r) out << (r > 0 ? ", \"" : "\"") << address(r) << '"';
    out << "]\n";
    return path;
  }
  void start(NodeId rank, NodeId nodes) {
    daemons_[rank].emplace(Words{"fibocastd", "--config", write_file(rank, nodes)}, std::string{}, folder_.file(""));
  }
  // Its daemon runs, knows so many nodes and is connected to all of them.
  bool meets(NodeId rank, NodeId nodes) {
    Client::Options options;
    options.socket_path = socket(rank);
    auto client = Client::connect(options);
    if (!client.ok()) return false;
    clients_[rank] = *client;
    auto status = clients_[rank]->status();
    return status.ok() && status->peers.size() == nodes - 1 && status->connected == nodes - 1;
  }
  std::unique_ptr<Group> open(NodeId rank, const std::string& name) {
    auto group = clients_[rank]->open(name);
    EXPECT_TRUE(group.ok()) << group.status().sentence;
    return group.ok() ? std::make_unique<Group>(std::move(*group)) : nullptr;
  }
  void add_the_node() {
    for (NodeId rank = 0; rank < kBefore; ++rank) {
      write_file(rank, kAfter);
      kill(daemons_[rank]->pid(), SIGHUP);
    }
    start(kBefore, kAfter);
    for (NodeId rank = 0; rank < kAfter; ++rank) ASSERT_TRUE(eventually([&] { return meets(rank, kAfter); })) << rank;
  }

  TestCluster folder_;
  std::optional<Running> daemons_[kAfter];
  std::shared_ptr<Client> clients_[kAfter];
};

// Barriers of those who were there go on all the time, in a group that was created and in one that exists by its name.
TEST_P(NewNode, ComesWhileTheOthersWork) {
  std::unique_ptr<Group> groups[kBefore];
  create_work("all", std::span(clients_).first(kBefore), groups);
  std::unique_ptr<Group> by_name[kBefore];
  for (NodeId rank = 0; rank < kBefore; ++rank) by_name[rank] = open(rank, "everybody");
  std::atomic<Generation> last = ~Generation{0}, seen = 0;
  std::vector<std::thread> threads;
  for (NodeId rank = 0; rank < kBefore; ++rank)
    threads.emplace_back([&, rank] {
      for (Generation done = 0; done <= last; ++done) {
        const Outcome first = groups[rank]->barrier(kPatience), second = by_name[rank]->barrier(kPatience);
        EXPECT_TRUE(first.status.ok()) << first.status.sentence;
        EXPECT_TRUE(second.status.ok()) << second.status.sentence;
        if (!first.status.ok() || !second.status.ok()) return;
        seen = done;
      }
    });
  add_the_node();
  last = seen + 20;
  for (std::thread& thread : threads) thread.join();

  std::unique_ptr<Group> all[kAfter];
  for (NodeId rank = 0; rank < kAfter; ++rank) all[rank] = open(rank, "everybody");
  std::vector<std::byte> results[kAfter];
  threads.clear();
  for (NodeId rank = 0; rank < kAfter; ++rank)
    threads.emplace_back([&, rank] {
      const Outcome barrier = all[rank]->barrier(kPatience);
      EXPECT_TRUE(barrier.status.ok()) << barrier.status.sentence;
      const std::vector<std::byte> own(100, std::byte{9});
      const Outcome sent =
          all[rank]->multicast(kBefore, rank == kBefore ? own : std::span<const std::byte>{}, kPatience);
      EXPECT_TRUE(sent.status.ok()) << sent.status.sentence;
      results[rank] = rank == kBefore ? own : sent.payload;
    });
  for (std::thread& thread : threads) thread.join();
  for (NodeId rank = 0; rank < kAfter; ++rank) {
    EXPECT_EQ(all[rank]->size(), kAfter);
    EXPECT_EQ(results[rank].size(), 100u) << rank;
  }
  GroupRequest wide{.name = "wide", .nodes = {0, 1, 2, 3}};
  EXPECT_TRUE(clients_[kBefore]->create_group(wide).ok());
}

INSTANTIATE_TEST_SUITE_P(Transports, NewNode, testing::Values("udp", "tcp"));

}  // namespace
}  // namespace fibocast
