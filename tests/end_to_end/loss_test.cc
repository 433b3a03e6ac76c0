// Daemons that die: everybody who waits is told who was lost, all alike; the dead one comes back and is in again.
#include <gtest/gtest.h>
#include <signal.h>

#include <atomic>
#include <chrono>
#include <iostream>
#include <random>
#include <span>

#include "tests/end_to_end/members.h"

namespace fibocast {
namespace {

class Loss : public testing::TestWithParam<const char*>, protected Members {
 protected:
  void SetUp() override { up(GetParam()); }
  void revive(NodeId victim) {
    ASSERT_EQ(cluster_.run({"up", "--only", std::to_string(victim), "--quiet"}).exit_code, 0);
    ASSERT_TRUE(eventually([&] { return all_connected(); }));
    connect(victim);
  }
  void kill_daemon(NodeId rank) const { send_signal(rank, SIGKILL); }
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
    revive(victim);
  }
  for (const Status& end : barrier(kNodes)) EXPECT_TRUE(end.ok()) << end.sentence;
}

// An operation in which the victim takes part until it is killed: after so many calls have begun or ended.
struct Round {
  NodeId victim, root;
  bool is_barrier;
  std::vector<std::byte> bytes;
  unsigned moment;
};

Round random_round(std::mt19937& random, int number) {
  const std::size_t bytes = random() % 2 == 0 ? 100 : 1 << 20;
  return {static_cast<NodeId>(random() % kNodes), static_cast<NodeId>(random() % kNodes), number % 2 == 0,
          std::vector<std::byte>(bytes, std::byte{7}), static_cast<unsigned>(random() % (2 * kNodes))};
}

Status take_part(Group& group, const Round& round) {
  if (round.is_barrier) return group.barrier(kPatience).status;
  const std::span<const std::byte> mine = group.rank() == round.root ? std::span(round.bytes) : std::span<std::byte>{};
  return group.multicast(round.root, mine, kPatience).status;
}

// Each survivor succeeds or is told who was lost; all of a barrier alike.
void expect_one_story(const std::vector<Status>& ends, const Round& round) {
  const Code first = ends[round.victim == 0 ? 1 : 0].code;
  for (NodeId rank = 0; rank < kNodes; ++rank) {
    if (rank == round.victim) continue;
    const Status& end = ends[rank];
    EXPECT_TRUE(end.ok() || (end.code == Code::kPeerLost && end.ranks == std::vector<Rank>{round.victim}))
        << "rank " << rank << ": " << end.sentence;
    EXPECT_TRUE(!round.is_barrier || end.code == first) << "rank " << rank << ": " << end.sentence;
  }
}

TEST_P(Loss, AtAnyMomentNobodyHangsAndNobodyIsToldSomethingElse) {
  std::mt19937 random(kLosses);
  std::chrono::steady_clock::duration longest{};
  for (int number = 0; number < kLosses; ++number) {
    const Round round = random_round(random, number);
    std::atomic<unsigned> passed = 0;
    const auto pass = [&passed] { ++passed, passed.notify_all(); };
    std::chrono::steady_clock::time_point killed;
    const Part part = [&](Group& group) {
      pass();
      const Status end = take_part(group, round);
      pass();
      return end;
    };
    const std::vector<Status> ends = together(kNodes, part, [&] {
      for (unsigned now = passed; now < round.moment; now = passed) passed.wait(now);
      kill_daemon(round.victim);
      killed = std::chrono::steady_clock::now();
    });
    longest = std::max(longest, std::chrono::steady_clock::now() - killed);
    expect_one_story(ends, round);
    ASSERT_FALSE(HasFailure()) << "round " << number;
    revive(round.victim);
  }
  for (const Status& end : barrier(kNodes)) EXPECT_TRUE(end.ok()) << end.sentence;
  std::cout << "longest time from a death to the last verdict: "
            << std::chrono::duration_cast<std::chrono::milliseconds>(longest).count() << " ms\n";
}

INSTANTIATE_TEST_SUITE_P(Transports, Loss, testing::Values("udp", "tcp", "memory"));

}  // namespace
}  // namespace fibocast
