// A daemon is started again while others call: callers without numbers, as shells are, meet in what is open then.
#include <gtest/gtest.h>

#include "firmware_sim/virtual_cluster.h"

namespace fibocast {
namespace {

TEST(Restart, CallersWithoutNumbersMeetAfterIt) {
  const Fault crash{.kind = Fault::Kind::kCrash, .nodes = {1}};
  for (const Nanoseconds down : {1'000, 2'000'000, 30'000'000})
    for (Nanoseconds wait = 0; wait < 1'000'000; wait += 37'000)
      for (const NodeId first : {0, 1}) {
        ClusterSettings settings;
        settings.nodes = 2;
        settings.network.latency_min = settings.network.latency_max = 20'000;
        VirtualCluster cluster(settings);
        cluster.start_all();
        ASSERT_TRUE(cluster.connect_all());
        cluster.begin(crash);
        cluster.run_until(cluster.now() + down);
        cluster.heal(crash);
        cluster.run_until(cluster.now() + wait);
        std::vector<std::uint64_t> cookies;
        for (const NodeId id : {first, 1 - first}) {
          const Membership m = cluster.open(id, "check");
          cookies.push_back(cluster.barrier(id, m.group, std::nullopt, cluster.now() + 20 * kSecond).cookie);
        }
        const bool answered = cluster.run_until(
            cluster.now() + kSecond, [&] { return cluster.answer(cookies[0]) && cluster.answer(cookies[1]); });
        ASSERT_TRUE(answered) << "down " << down << " wait " << wait << " first " << first;
        for (const std::uint64_t cookie : cookies) EXPECT_EQ(cluster.answer(cookie)->event.done.verdict, Verdict::kOk);
      }
}

// What it opens then is the group of all nodes, in which nobody else will call.
TEST(Restart, WhoOpensACreatedGroupBeforeBeingToldOfItOpensItAgain) {
  const Fault crash{.kind = Fault::Kind::kCrash, .nodes = {1}};
  ClusterSettings settings;
  settings.nodes = 3;
  VirtualCluster cluster(settings);
  cluster.start_all();
  ASSERT_TRUE(cluster.connect_all());
  GroupDefinition pair;
  pair.name = "pair", pair.members.add_run({0, 2});
  const Asked created = cluster.create(0, pair);
  const auto answered = [&](const Asked& asked) {
    return cluster.run_until(cluster.now() + kSecond, [&] { return cluster.answer(asked.cookie) != nullptr; });
  };
  ASSERT_TRUE(answered(created));
  cluster.begin(crash);
  cluster.run_until(cluster.now() + kMillisecond);
  cluster.heal(crash);
  const Membership early = cluster.open(1, "pair");
  ASSERT_NE(early.group, group_id("pair"));
  cluster.run_until(cluster.now() + kSecond);
  EXPECT_EQ(cluster.barrier(1, early.group, early.generation, kNever).admission, Admission::kUnknownGroup);
  const Membership zero = cluster.open(0, "pair"), one = cluster.open(1, "pair");
  EXPECT_EQ(one.group, group_id("pair"));
  cluster.barrier(0, zero.group, zero.generation, cluster.now() + kSecond);
  const Asked together = cluster.barrier(1, one.group, one.generation, cluster.now() + kSecond);
  ASSERT_TRUE(answered(together));
  EXPECT_EQ(cluster.answer(together.cookie)->event.done.verdict, Verdict::kOk);
}

}  // namespace
}  // namespace fibocast
