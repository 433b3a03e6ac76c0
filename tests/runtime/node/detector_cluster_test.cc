// Clusters of failure detectors on a bad network: what is promised, and that nothing is promised wrongly.
#include "tests/runtime/node/detector_cluster.h"

#include <gtest/gtest.h>

#include <bit>

namespace fibocast {
namespace {

using enum Belief;

constexpr Nanoseconds kDetectorSuspicion = 2000 * kMilli;  // the defaults of DetectorSettings
constexpr Nanoseconds kIdle = 1000 * kMilli;
constexpr Nanoseconds kWaiting = 25 * kMilli;
constexpr BadNetwork kGood{};
constexpr BadNetwork kBad{.loss_percent = 20, .most_delay = 30 * kMilli};

// News reach everybody in so many hops, each delayed and, on a bad network, sent up to three times. Timers are up to
// 1 ms late, and the test looks once per ms.
Nanoseconds dissemination(std::uint32_t nodes, const BadNetwork& network) {
  const Nanoseconds hop = network.most_delay + (network.loss_percent > 0 ? 2 * network.resend : 0);
  return std::bit_width(nodes) * (hop + kMilli) + 3 * kMilli;
}

// Four round trips, which a silent node is granted on top.
Nanoseconds grace(const BadNetwork& network) { return 8 * network.most_delay; }

class OfSize : public testing::TestWithParam<std::uint32_t> {};
INSTANTIATE_TEST_SUITE_P(DetectorCluster, OfSize, testing::Values(2, 5, 16, 64, 250));

// Random operations: a node waits for another one, for a while.
void run_with_operations(DetectorCluster& c, Nanoseconds duration) {
  for (const Nanoseconds end = c.now() + duration; c.now() < end;) {
    const auto a = static_cast<NodeId>(c.random(c.size()));
    const auto b = static_cast<NodeId>((a + 1 + c.random(c.size() - 1)) % c.size());
    if (c.up(a)) c.wait_on(a, b);
    c.run(static_cast<Nanoseconds>(c.random(200 * kMilli)));
    if (c.up(a)) c.no_longer_wait_on(a, b);
  }
}

// 1000 virtual seconds over all sizes and seeds.
TEST_P(OfSize, WithoutAFaultNobodyIsLostOrSuspectAtTwentyPercentLoss) {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    DetectorCluster c(GetParam(), kBad, seed);
    run_with_operations(c, 50'000 * kMilli);
    EXPECT_EQ(c.false_losses(), 0u) << seed;
    EXPECT_EQ(c.suspicions(), 0u) << seed;
    EXPECT_TRUE(c.everybody_running_is_alive_to_all());
  }
}

TEST_P(OfSize, FramesPerNodeAndIdleSecondDoNotGrow) {
  DetectorCluster c(GetParam(), kGood, 1);
  c.run(100'000 * kMilli);
  const double per_node_second = static_cast<double>(c.frames_sent()) / 100 / c.size();
  EXPECT_LE(per_node_second, 2.27);  // a probe and an answer, and every eighth time two of them
  EXPECT_GE(per_node_second, 0.9);
}

TEST_P(OfSize, ASilentCrashWhileIdleIsKnownToAll) {
  for (const BadNetwork& network : {kGood, kBad})
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      DetectorCluster c(GetParam(), network, seed);
      c.run(3000 * kMilli + static_cast<Nanoseconds>(c.random(kIdle)));
      const auto dead = static_cast<NodeId>(c.random(c.size()));
      c.crash(dead, false);
      const Nanoseconds bound = kDetectorSuspicion + kIdle + grace(network) + dissemination(c.size(), network);
      EXPECT_TRUE(c.run_until([&] { return c.all_running_believe(dead, kLost); }, bound)) << seed;
      c.run(10'000 * kMilli);
      EXPECT_TRUE(c.all_running_believe(dead, kLost));
      EXPECT_EQ(c.false_losses(), 0u);
    }
}

TEST_P(OfSize, ASilentCrashOfWhoIsWaitedOnIsKnownToAll) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    DetectorCluster c(GetParam(), kGood, seed);
    const auto dead = static_cast<NodeId>(c.random(c.size()));
    c.wait_on((dead + 1 + static_cast<NodeId>(c.random(c.size() - 1))) % c.size(), dead);
    c.run(1000 * kMilli + static_cast<Nanoseconds>(c.random(kWaiting)));
    c.crash(dead, false);
    const Nanoseconds bound = kDetectorSuspicion + 2 * kWaiting + grace(kGood) + dissemination(c.size(), kGood);
    EXPECT_TRUE(c.run_until([&] { return c.all_running_believe(dead, kLost); }, bound)) << seed;
  }
}

// 250 ms are promised from the death of the process: a probe of who waits, three in 60 ms, and the news. Who has heard
// it lately asks itself, and is refused too.
TEST_P(OfSize, ADeadProcessThatIsWaitedOnIsKnownToAllIn250Ms) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    DetectorCluster c(GetParam(), kGood, seed);
    const auto dead = static_cast<NodeId>(c.random(c.size()));
    c.wait_on((dead + 1 + static_cast<NodeId>(c.random(c.size() - 1))) % c.size(), dead);
    c.run(1000 * kMilli + static_cast<Nanoseconds>(c.random(kWaiting)));
    c.crash(dead, true);
    EXPECT_TRUE(c.run_until([&] { return c.all_running_believe(dead, kLost); }, 250 * kMilli)) << seed;
    EXPECT_LE(c.now(), c.first_refusal() + 160 * kMilli + dissemination(c.size(), kGood));
  }
}

TEST_P(OfSize, ARefusalWhileIdleIsKnownToAllSoonAfter) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    DetectorCluster c(GetParam(), kGood, seed);
    c.run(3000 * kMilli);
    const auto dead = static_cast<NodeId>(c.random(c.size()));
    c.crash(dead, true);
    c.run(550 * kMilli);  // nobody has heard it lately
    ASSERT_TRUE(c.run_until([&] { return c.all_running_believe(dead, kLost); }, kIdle)) << seed;
    if (c.first_refusal() < c.now() - 500 * kMilli) continue;  // it was refused before that
    EXPECT_LE(c.now(), c.first_refusal() + 160 * kMilli + dissemination(c.size(), kGood)) << seed;
  }
}

TEST_P(OfSize, OneLossCostsEachNodeAFewFrames) {
  DetectorCluster c(GetParam(), kGood, 7);
  c.run(3000 * kMilli);
  c.crash(1, false);
  ASSERT_TRUE(c.run_until([&] { return c.all_running_believe(1, kLost); }, 8000 * kMilli));
  c.run(100 * kMilli);
  // Two facts, suspect and lost, to each finger.
  EXPECT_LE(c.news_sent(), 2ull * c.size() * (std::bit_width(c.size()) + 1));
}

TEST_P(OfSize, APausedObserverMakesNobodyLost) {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    DetectorCluster c(GetParam(), seed % 2 ? kGood : kBad, seed);
    for (int i = 0; i < 5; ++i) {
      const auto observer = static_cast<NodeId>(c.random(c.size()));
      const auto peer = static_cast<NodeId>((observer + 1 + c.random(c.size() - 1)) % c.size());
      c.wait_on(observer, peer);
      c.run(static_cast<Nanoseconds>(c.random(1500 * kMilli)));
      c.pause(observer);
      c.run(static_cast<Nanoseconds>(c.random(8000 * kMilli)));
      c.resume(observer);
      EXPECT_TRUE(c.run_until([&] { return c.everybody_running_is_alive_to_all(); }, 3 * kIdle)) << seed;
      c.run(3000 * kMilli);
      c.no_longer_wait_on(observer, peer);
      EXPECT_TRUE(c.everybody_running_is_alive_to_all());
    }
    EXPECT_EQ(c.false_losses(), 0u) << seed;
  }
}

TEST_P(OfSize, ARestartedNodeIsAliveToAllInItsNewIncarnation) {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    DetectorCluster c(GetParam(), seed % 2 ? kGood : kBad, seed);
    c.run(2000 * kMilli);
    const auto node = static_cast<NodeId>(c.random(c.size()));
    c.crash(node, seed < 3);
    c.run(static_cast<Nanoseconds>(c.random(5000 * kMilli)));
    c.start(node);
    EXPECT_TRUE(c.run_until([&] { return c.everybody_running_is_alive_to_all(); }, 2 * kIdle)) << seed;
    c.run(10'000 * kMilli);
    EXPECT_TRUE(c.everybody_running_is_alive_to_all());
    EXPECT_EQ(c.false_losses(), 0u) << seed;
  }
}

// How soon everybody has met everybody is chance: the greetings that are lost six times in a row, of 62,250.
TEST_P(OfSize, AStartingClusterAccusesNobody) {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    DetectorCluster c(GetParam(), kBad, seed, true);
    for (NodeId n = 0; n < c.size(); ++n) {
      c.start(n);
      c.run(static_cast<Nanoseconds>(c.random(8000 * kMilli / c.size())));
    }
    EXPECT_TRUE(c.run_until([&] { return c.everybody_running_is_alive_to_all(); }, 2000 * kMilli)) << seed;
    EXPECT_EQ(c.false_losses(), 0u);
    EXPECT_EQ(c.suspicions(), 0u);
  }
}

// ---- partitions

using Swallow = std::function<bool(NodeId, NodeId)>;
struct Partition {
  const char* name;
  std::function<Swallow(std::uint32_t nodes)> of;
};
bool first_half(NodeId n, std::uint32_t nodes) { return n < nodes / 2; }
const Partition kPartitions[] = {
    {"TwoHalves",
     [](std::uint32_t n) { return [n](NodeId a, NodeId b) { return first_half(a, n) != first_half(b, n); }; }},
    {"EvenAndOdd", [](std::uint32_t) { return [](NodeId a, NodeId b) { return a % 2 != b % 2; }; }},
    {"OneWay",
     [](std::uint32_t n) { return [n](NodeId a, NodeId b) { return first_half(a, n) && !first_half(b, n); }; }},
    {"OneIsDeaf", [](std::uint32_t) { return [](NodeId, NodeId b) { return b == 1; }; }},
    {"OneIsMute", [](std::uint32_t) { return [](NodeId a, NodeId) { return a == 1; }; }},
    {"OneIsAlone", [](std::uint32_t) { return [](NodeId a, NodeId b) { return a == 1 || b == 1; }; }},
};

class Healing : public testing::TestWithParam<std::tuple<std::uint32_t, Partition>> {};
INSTANTIATE_TEST_SUITE_P(DetectorCluster, Healing,
                         testing::Combine(testing::Values(2, 5, 16, 64), testing::ValuesIn(kPartitions)),
                         [](const auto& i) {
                           return std::string(std::get<1>(i.param).name) + std::to_string(std::get<0>(i.param));
                         });

// Within one idle interval everybody looks for a lost one, and within another one for its neighbour.
constexpr Nanoseconds kHealed = 3 * kIdle;

TEST_P(Healing, EverybodyIsAliveToEverybodySoonAfter) {
  const auto& [nodes, partition] = GetParam();
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    DetectorCluster c(nodes, kGood, seed);
    c.run(1500 * kMilli);
    c.cut(partition.of(nodes));
    c.run(2000 * kMilli + static_cast<Nanoseconds>(c.random(20'000 * kMilli)));
    c.cut(nullptr);
    EXPECT_TRUE(c.run_until([&] { return c.everybody_running_is_alive_to_all(); }, kHealed)) << seed;
    c.run(5000 * kMilli);
    EXPECT_TRUE(c.everybody_running_is_alive_to_all());
  }
}

TEST(DetectorCluster, TwoHalvesOfManyHeal) {
  constexpr NodeId kMany = FIBOCAST_SANITIZED ? 80 : 250;
  DetectorCluster c(kMany, kGood, 1);
  c.cut(kPartitions[0].of(kMany));
  c.run(60'000 * kMilli);
  EXPECT_EQ(c.at(0).belief(kMany - 1), kLost);
  c.cut(nullptr);
  EXPECT_TRUE(c.run_until([&] { return c.everybody_running_is_alive_to_all(); }, kHealed));
}

// Only one way between two nodes is broken: the others vouch for the accused.
TEST(DetectorCluster, ABrokenWayBetweenTwoIsNoLoss) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    DetectorCluster c(16, kGood, seed);
    c.wait_on(3, 9);
    c.cut([](NodeId a, NodeId b) { return (a == 3 && b == 9) || (a == 9 && b == 3) || (a == 5 && b == 6); });
    c.run(30'000 * kMilli);
    EXPECT_EQ(c.false_losses(), 0u) << seed;
    EXPECT_GT(c.suspicions(), 0u);
    EXPECT_GT(c.at(9).counters().refutations, 0u);
    c.cut(nullptr);
    EXPECT_TRUE(c.run_until([&] { return c.everybody_running_is_alive_to_all(); }, kHealed));
  }
}

// ---- many faults

TEST(DetectorCluster, NeighboursThatDieTogetherAreAllFound) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    DetectorCluster c(64, kGood, seed);
    c.run(2000 * kMilli);
    const auto first = static_cast<NodeId>(c.random(64));
    for (NodeId i = 0; i < 6; ++i) c.crash((first + i) % 64, false);
    const auto found = [&] {
      for (NodeId i = 0; i < 6; ++i)
        if (!c.all_running_believe((first + i) % 64, kLost)) return false;
      return true;
    };
    // The watcher asks one after the other, suspicion / 8 apart.
    EXPECT_TRUE(c.run_until(found, kIdle + kDetectorSuspicion + 5 * (kDetectorSuspicion / 8 + kMilli) + grace(kGood) +
                                       dissemination(64, kGood)))
        << seed;
    EXPECT_EQ(c.false_losses(), 0u);
  }
}

TEST(DetectorCluster, AfterHalfOfItDiedTheRestAgrees) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    DetectorCluster c(64, kBad, seed);
    for (NodeId n = 0; n < 64; ++n)
      if (c.random(2) == 0) c.crash(n, c.random(2) == 0);
    c.run(100'000 * kMilli);  // some are found, or told of, only in turn
    for (NodeId n = 0; n < 64; ++n) EXPECT_TRUE(c.all_running_believe(n, c.up(n) ? kAlive : kLost)) << seed << " " << n;
    EXPECT_EQ(c.false_losses(), 0u) << seed;
  }
}

// A crash that happens while a node is believed lost is found by that node too: it looks after everybody.
TEST(DetectorCluster, APausedNodeFindsOutWhoDiedMeanwhile) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    DetectorCluster c(16, kGood, seed);
    c.pause(4);
    c.run(6000 * kMilli);
    c.crash(9, false);
    c.run(6000 * kMilli);
    c.resume(4);
    c.run(2 * kIdle + kDetectorSuspicion + 100 * kMilli);
    EXPECT_TRUE(c.all_running_believe(9, kLost)) << seed;
    EXPECT_TRUE(c.everybody_running_is_alive_to_all()) << seed;
  }
}

class Chaos : public testing::TestWithParam<std::uint64_t> {};
INSTANTIATE_TEST_SUITE_P(DetectorCluster, Chaos, testing::Range<std::uint64_t>(1, 61));

TEST_P(Chaos, InTheEndTheBeliefsAreTrue) {
  const std::uint32_t nodes = 3 + GetParam() % 14;
  DetectorCluster c(nodes, GetParam() % 3 ? kBad : kGood, GetParam());
  std::vector<int> doing(nodes, 0);  // 0 running, 1 crashed, 2 paused
  for (int step = 0; step < 40; ++step) {
    const auto n = static_cast<NodeId>(c.random(nodes));
    if (doing[n] == 0) {
      doing[n] = 1 + static_cast<int>(c.random(2));
      doing[n] == 1 ? c.crash(n, c.random(2) == 0) : c.pause(n);
    } else {
      doing[n] == 1 ? c.start(n) : c.resume(n);
      doing[n] = 0;
    }
    if (c.random(6) == 0)
      c.cut([a = c.random(nodes), b = c.random(nodes)](NodeId x, NodeId y) { return x == a || y == b; });
    if (c.random(3) == 0) c.cut(nullptr);
    c.run(static_cast<Nanoseconds>(c.random(3000 * kMilli)));
  }
  c.cut(nullptr);
  for (NodeId n = 0; n < nodes; ++n)
    if (doing[n] == 2) c.resume(n);
  c.run(8 * nodes * (kIdle + kMilli) + 60'000 * kMilli);  // who is watched by nobody is found in turn
  for (NodeId n = 0; n < nodes; ++n)
    EXPECT_TRUE(c.up(n) ? c.all_running_believe(n, kAlive) : c.nobody_running_counts_on(n)) << n;
}

}  // namespace
}  // namespace fibocast
