// Groups that go on without their dead, on real daemons: what was open goes on among the survivors, and who comes back
// is in again.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <iostream>
#include <random>
#include <thread>

#include "tests/end_to_end/members.h"

namespace fibocast {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kLarge = 1 << 20;

class Survivors : public testing::TestWithParam<const char*>, protected Members {
 protected:
  void SetUp() override {
    up(GetParam());
    const Ended created =
        cluster_.run({"group", "create", "work", "--ranks", "0-15", "--policy", "survivors", "--rank", "0"});
    ASSERT_EQ(created.exit_code, 0) << created.err;
    for (NodeId rank = 0; rank < kNodes; ++rank) open(rank);
  }
  void open(NodeId rank) {
    auto group = clients_[rank]->open("work");
    ASSERT_TRUE(group.ok()) << group.status().sentence;
    groups_[rank] = std::make_unique<Group>(std::move(*group));
  }
  Json group_at(NodeId rank) {
    const Json listed = cluster_.run({"group", "list", "--rank", std::to_string(rank), "--json"}).json();
    for (const Json& group : listed["groups"])
      if (group["name"] == "work" && group["policy"] == "survivors") return group;
    return {};
  }
  void revive(NodeId victim) {
    ASSERT_EQ(cluster_.run({"up", "--only", std::to_string(victim), "--quiet"}).exit_code, 0);
    ASSERT_TRUE(eventually([&] { return all_connected() && !group_at(victim).is_null(); }));
    connect(victim);
    open(victim);
  }
  void meet_again(NodeId victim);
  void expect_all_ok(NodeId absent, const std::vector<Status>& ends) {
    for (NodeId rank = 0; rank < kNodes; ++rank)
      EXPECT_TRUE(rank == absent || ends[rank].ok()) << "rank " << rank << ": " << ends[rank].sentence;
  }
};

// The others call barriers while it joins; all stop after the same one.
void Survivors::meet_again(NodeId victim) {
  std::atomic<Generation> last = ~Generation{0};
  const std::vector<Status> ends = together(kNodes, [&](Group& group) {
    for (int met = 0;;) {
      const Outcome outcome = group.barrier(kPatience);
      const bool joins = group.rank() == victim && outcome.status.code == Code::kStale;  // its first number
      if (joins) continue;
      if (!outcome.status.ok()) return outcome.status;
      if (group.rank() == victim && ++met == 5) last = outcome.generation + 50;
      if (outcome.generation >= last) return outcome.status;
    }
  });
  expect_all_ok(kNodes, ends);
}

TEST_P(Survivors, GoOnAndWhoComesBackIsInAgain) {
  std::mt19937 random(kLosses);
  Clock::duration longest{};
  const std::vector<std::byte> large(kLarge, std::byte{5});
  for (int number = 0; number < kLosses; ++number) {
    const NodeId victim = number == 0 ? 0 : random() % kNodes;  // the first leads the changes
    const NodeId root = (victim + 1 + random() % (kNodes - 1)) % kNodes;
    Clock::time_point killed;
    std::vector<Clock::time_point> released(kNodes);
    const bool is_barrier = number % 2 == 0;
    const Part multicast = [&](Group& group) {
      const auto mine = group.rank() == root ? std::span(large) : std::span<const std::byte>{};
      const Outcome outcome = group.multicast(root, mine, kPatience);
      EXPECT_TRUE(group.rank() == root || !outcome.status.ok() || outcome.payload == large);
      return outcome.status;
    };
    const std::vector<Status> ends = together(
        victim,
        [&](Group& group) {
          const Status end = is_barrier ? group.barrier(kPatience).status : multicast(group);
          released[group.rank()] = Clock::now();
          return end;
        },
        [&] { killed = Clock::now(), send_signal(victim, SIGKILL); });
    if (is_barrier) expect_all_ok(victim, ends);
    for (NodeId rank = 0; rank < kNodes; ++rank)  // the whole payload, or who is lost
      EXPECT_TRUE(rank == victim || ends[rank].ok() ||
                  (ends[rank].code == Code::kPeerLost && ends[rank].ranks == std::vector<Rank>{victim}))
          << ends[rank].sentence;
    longest = std::max(longest, *std::max_element(released.begin(), released.end()) - killed);
    expect_all_ok(victim, barrier(victim));
    expect_all_ok(victim, together(victim, multicast));
    EXPECT_EQ(group_at(root)["live"], kNodes - 1);
    revive(victim);
    meet_again(victim);
    EXPECT_EQ(group_at(victim)["live"], kNodes);
    ASSERT_FALSE(HasFailure()) << "round " << number << ": victim " << victim << ", root " << root;
  }
  std::cout << "longest time from a death to the last survivor's verdict: "
            << std::chrono::duration_cast<std::chrono::milliseconds>(longest).count() << " ms\n";
}

// As an operator upgrades a cluster: one daemon after the other ends in peace and is started anew, while the others
// call barrier after barrier.
TEST_P(Survivors, EachDaemonIsStartedAnewInTurn) {
  const NodeId step = kLosses > 100 ? 1 : 5;
  for (NodeId leaver = 0; leaver < kNodes; leaver += step) {
    std::atomic<bool> gone = false;
    std::atomic<Generation> last = ~Generation{0};
    const std::vector<Status> ends = together(
        leaver,
        [&](Group& group) {
          for (;;) {
            const Outcome outcome = group.barrier(kPatience);
            if (!outcome.status.ok() || outcome.generation >= last) return outcome.status;
            if (gone && group.rank() == (leaver == 0 ? 1 : 0))
              last = std::min<Generation>(last, outcome.generation + 20);
          }
        },
        [&] {
          send_signal(leaver, SIGTERM);
          EXPECT_TRUE(eventually([&] { return group_at((leaver + 1) % kNodes)["live"] == kNodes - 1; }));
          gone = true;
        });
    expect_all_ok(leaver, ends);
    revive(leaver);
    meet_again(leaver);
    EXPECT_EQ(group_at(leaver)["live"], kNodes);
    ASSERT_FALSE(HasFailure()) << "rank " << leaver;
  }
  EXPECT_EQ(sum_of("detector_suspicions"), 0u) << "who leaves says so";
}

INSTANTIATE_TEST_SUITE_P(Transports, Survivors, testing::Values("udp", "tcp", "memory"));

}  // namespace
}  // namespace fibocast
