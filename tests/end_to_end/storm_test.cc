// Many barriers among many daemons: none is lost, nobody is released before all have arrived.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>

#include "tests/end_to_end/programs.h"

namespace fibocast {
namespace {

constexpr NodeId kNodes = 16;
const std::uint32_t kBarriers = static_cast<std::uint32_t>(times_or(5000));

// Who has called the barrier of each generation; shared by all members, which are threads of this process.
struct Arrivals {
  std::unique_ptr<std::atomic<std::uint32_t>[]> of { new std::atomic<std::uint32_t>[ kBarriers ]() };
  std::atomic<std::uint32_t> early{0}, failed{0}, passed{0};
};

void member(std::shared_ptr<Client> client, Arrivals& arrivals) {
  auto group = client->open("all");
  ASSERT_TRUE(group.ok()) << group.status().sentence;
  for (std::uint32_t i = 0; i < kBarriers && arrivals.failed == 0; ++i) {
    ++arrivals.of[i];
    const Outcome outcome = group->barrier(std::chrono::minutes(1));
    if (arrivals.of[i] != kNodes) ++arrivals.early;
    if (!outcome.ok() || outcome.generation != i) {
      ++arrivals.failed;
      ADD_FAILURE() << "rank " << client->rank() << ", barrier " << i << ": " << outcome.status.sentence;
    }
    ++arrivals.passed;
  }
}

void run_storm(const Words& options) {
  TestCluster cluster;
  cluster.up(options);
  Arrivals arrivals;
  std::vector<std::shared_ptr<Client>> clients;
  for (NodeId rank = 0; rank < kNodes; ++rank) clients.push_back(cluster.client(rank));
  std::vector<std::thread> members;
  for (const auto& client : clients) members.emplace_back([&] { member(client, arrivals); });
  for (std::thread& thread : members) thread.join();
  EXPECT_EQ(arrivals.early, 0u);
  EXPECT_EQ(arrivals.passed, kNodes * kBarriers);
}

TEST(Storm, OverTcp) { run_storm({"-n", "16", "--transport", "tcp"}); }

TEST(Storm, OverUdpThatLosesFivePercent) { run_storm({"-n", "16", "--loss", "5"}); }

}  // namespace
}  // namespace fibocast
