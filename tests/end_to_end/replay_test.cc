// What real daemons did, run again in virtual time: on a slow emulated machine the ranks of every operation are
// activated in the order in which they were. Tolerance: who is activated within 1 % of the operation's time of another
// may have been before it, for the host's scheduler has its say, too.
#include <gtest/gtest.h>

#include <thread>

#include "tests/end_to_end/programs.h"

namespace fibocast {
namespace {

constexpr Rank kRanks = 16;
constexpr int kRounds = 2;

void take_part(TestCluster& cluster, NodeId rank) {
  auto group = cluster.client(rank)->join("tree");
  ASSERT_TRUE(group.ok()) << group.status().sentence;
  const std::vector<std::byte> payload(rank == 3 ? 8 : 0);
  for (int i = 0; i < kRounds; ++i) {
    EXPECT_TRUE(group->barrier(std::chrono::seconds(60)).ok());
    EXPECT_TRUE(group->multicast(3, payload, std::chrono::seconds(60)).ok());
  }
}

TEST(Replay, SixteenDaemonsAreActivatedInTheSameOrder) {
  TestCluster cluster;
  cluster.up({"-n", std::to_string(kRanks), "--machine", "manna", "--scale", "1000"});
  ASSERT_EQ(cluster
                .run({"group", "create", "tree", "--ranks", "0-15", "--tree", "fibo", "--s", "27us", "--r", "88us",
                      "--rank", "0"})
                .exit_code,
            0);
  std::vector<std::thread> threads;
  for (NodeId rank = 0; rank < kRanks; ++rank) threads.emplace_back([&, rank] { take_part(cluster, rank); });
  for (std::thread& thread : threads) thread.join();
  const std::string file = cluster.file("trace.json");
  ASSERT_EQ(cluster.run({"trace", "--output", file}).exit_code, 0);
  const Ended again = cluster.run({"simulate", "--replay", file, "--json"});
  ASSERT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(again.json()["of"], 2 * kRounds);
  for (const Json& o : again.json()["operations"])
    EXPECT_LE(o["largest_inversion_ns"].get<double>(), 0.01 * o["replayed_ns"].get<double>()) << again.out;
  const Ended other = cluster.run({"simulate", "--replay", file, "--tree", "sequential", "--json"});
  ASSERT_EQ(other.exit_code, 0) << other.err;
  EXPECT_EQ(other.json()["operations"][0]["algorithm"], "sequential");
  EXPECT_GT(other.json()["operations"][0]["replayed_ns"], again.json()["operations"][0]["replayed_ns"]);
}

}  // namespace
}  // namespace fibocast
