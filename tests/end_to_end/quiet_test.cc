// What a calm network carries: nothing twice, and few frames that only acknowledge.
#include <gtest/gtest.h>

#include <thread>

#include "tests/end_to_end/programs.h"

namespace fibocast {
namespace {

TEST(Quiet, BarriersFiveMillisecondsApart) {
  constexpr NodeId kNodes = 8;
  constexpr std::uint32_t kBarriers = 100;
  TestCluster cluster;
  // The floor lies above what a busy host may delay a thread: a resend here would be a mistake, not patience lost.
  cluster.up({"-n", "8", "--settings", "transport.resend_floor_ms=1000"});
  const auto resends = cluster.sum(kNodes, &PeerInfo::resends);
  const auto acks = cluster.sum(kNodes, &PeerInfo::bare_acks);
  std::vector<std::thread> members;
  for (NodeId rank = 0; rank < kNodes; ++rank)
    members.emplace_back([&, rank] {
      auto group = cluster.client(rank)->open("all");
      ASSERT_TRUE(group.ok()) << group.status().sentence;
      for (std::uint32_t i = 0; i < kBarriers; ++i) {
        const Outcome outcome = group->barrier(std::chrono::minutes(1));
        ASSERT_TRUE(outcome.ok()) << outcome.status.sentence;
        std::this_thread::sleep_for(std::chrono::milliseconds(5));  // the calm that is tested
      }
    });
  for (std::thread& member : members) member.join();
  EXPECT_EQ(cluster.sum(kNodes, &PeerInfo::resends) - resends, 0u);
  EXPECT_LE(cluster.sum(kNodes, &PeerInfo::bare_acks) - acks, 2 * (kNodes - 1) * kBarriers);
}

}  // namespace
}  // namespace fibocast
