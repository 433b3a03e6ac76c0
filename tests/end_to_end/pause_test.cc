// A daemon that is stopped (SIGSTOP) among running operations: the others are told that it is lost, within the
// suspicion time; when it goes on, it is in again and all operations work.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <iostream>
#include <mutex>
#include <random>
#include <thread>

#include "tests/end_to_end/members.h"

namespace fibocast {
namespace {

const int kPauses = times_or(4);

using Clock = std::chrono::steady_clock;

constexpr auto kSuspicion = std::chrono::milliseconds(500);
// Beyond the suspicion time, for a busy host with two cores and 16 daemons. On a quiet one nothing of it is needed.
constexpr auto kTolerance = std::chrono::milliseconds(1500);

// Operations one after the other at every member. Who fails waits for the others to fail too; then all go on to the
// same generation, so that they stay in step.
class Rounds {
 public:
  explicit Rounds(NodeId victim) : victim_(victim) {}
  // False: the rounds are over for this member.
  bool next(NodeId rank) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return failed_[rank] == Clock::time_point{} || ended_; });
    if (ended_ && begun_[rank] == last_) return false;
    ++begun_[rank];
    ++begun_together_;
    changed_.notify_all();
    return true;
  }
  void failed(NodeId rank, const Status& status) {
    const std::lock_guard lock(mutex_);
    if (failed_[rank] != Clock::time_point{}) return;
    failed_[rank] = Clock::now();
    ends_[rank] = status;
    generations_[rank] = begun_[rank];
    changed_.notify_all();
  }
  void wait_until_begun(std::uint32_t operations) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return begun_together_ >= operations; });
  }
  // All but the victim.
  void wait_until_all_failed() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] {
      for (NodeId rank = 0; rank < kNodes; ++rank)
        if (rank != victim_ && failed_[rank] == Clock::time_point{}) return false;
      return true;
    });
  }
  void end() {
    const std::lock_guard lock(mutex_);
    last_ = *std::max_element(std::begin(begun_), std::end(begun_));
    ended_ = true;
    changed_.notify_all();
  }
  Clock::time_point last_failure() const {
    Clock::time_point last{};
    for (NodeId rank = 0; rank < kNodes; ++rank)
      if (rank != victim_) last = std::max(last, failed_[rank]);
    return last;
  }
  const Status& end_of(NodeId rank) const { return ends_[rank]; }
  std::uint32_t generation_of(NodeId rank) const { return generations_[rank]; }

 private:
  const NodeId victim_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint32_t begun_[kNodes] = {}, generations_[kNodes] = {}, begun_together_ = 0, last_ = 0;
  bool ended_ = false;
  Clock::time_point failed_[kNodes];
  Status ends_[kNodes];
};

class Pause : public testing::TestWithParam<const char*>, protected Members {
 protected:
  void SetUp() override {
    up(GetParam(), {"--settings", "detector.suspicion_ms=" + std::to_string(kSuspicion.count())});
  }

  static Status operate(Group& group, Rank root, bool is_barrier) {
    if (is_barrier) return group.barrier(kPatience).status;
    static const std::vector<std::byte> bytes(3'000, std::byte{7});
    const std::span<const std::byte> mine = group.rank() == root ? std::span(bytes) : std::span<const std::byte>{};
    return group.multicast(root, mine, kPatience).status;
  }
  void member(NodeId rank, Rounds& rounds, Rank root, bool is_barrier) {
    while (rounds.next(rank)) {
      const Status end = operate(*groups_[rank], root, is_barrier);
      if (!end.ok()) rounds.failed(rank, end);
    }
  }
  Clock::duration stop_and_go_on(NodeId victim, Rank root, bool is_barrier, std::uint32_t moment);
};

// The time from the stop to the last survivor's verdict.
Clock::duration Pause::stop_and_go_on(NodeId victim, Rank root, bool is_barrier, std::uint32_t moment) {
  Rounds rounds(victim);
  std::vector<std::thread> threads;
  for (NodeId rank = 0; rank < kNodes; ++rank)
    threads.emplace_back([&, rank] { member(rank, rounds, root, is_barrier); });
  rounds.wait_until_begun(moment);
  send_signal(victim, SIGSTOP);
  const Clock::time_point stopped = Clock::now();
  rounds.wait_until_all_failed();
  send_signal(victim, SIGCONT);
  EXPECT_TRUE(eventually([&] { return all_connected(); }));
  rounds.end();
  for (std::thread& thread : threads) thread.join();
  const NodeId other = victim == 0 ? 1 : 0;
  for (NodeId rank = 0; rank < kNodes; ++rank) {
    if (rank == victim) continue;
    EXPECT_EQ(rounds.end_of(rank).code, Code::kPeerLost) << "rank " << rank << ": " << rounds.end_of(rank).sentence;
    EXPECT_EQ(rounds.end_of(rank).ranks, std::vector<Rank>{victim}) << rounds.end_of(rank).sentence;
    EXPECT_TRUE(!is_barrier || rounds.generation_of(rank) == rounds.generation_of(other)) << "rank " << rank;
  }
  return rounds.last_failure() - stopped;
}

TEST_P(Pause, TheOthersAreToldInTimeAndItIsInAgainAfterwards) {
  std::mt19937 random(kPauses);
  Clock::duration longest[2] = {};
  for (int number = 0; number < kPauses; ++number) {
    const NodeId victim = number == 0 ? 0 : random() % kNodes;
    const Rank root = number % 4 < 2 ? victim : random() % kNodes;
    const bool is_barrier = number % 2 == 0;
    const Clock::duration took = stop_and_go_on(victim, root, is_barrier, 1 + random() % (20 * kNodes));
    longest[is_barrier] = std::max(longest[is_barrier], took);
    for (const bool barriers : {true, false})
      for (const Status& end : together(kNodes, [&](Group& g) { return operate(g, root, barriers); }))
        EXPECT_TRUE(end.ok()) << end.sentence;
    ASSERT_FALSE(HasFailure()) << "round " << number << ": victim " << victim << ", root " << root << ", barriers "
                               << is_barrier;
  }
  for (const bool barriers : {true, false}) {
    EXPECT_LE(longest[barriers], kSuspicion + kTolerance);
    std::cout << (barriers ? "barriers" : "multicasts") << ": longest time from a stop to the last verdict "
              << std::chrono::duration_cast<std::chrono::milliseconds>(longest[barriers]).count() << " ms, of which "
              << kSuspicion.count() << " ms are the suspicion time\n";
  }
}

INSTANTIATE_TEST_SUITE_P(Transports, Pause, testing::Values("udp", "tcp", "memory"));

}  // namespace
}  // namespace fibocast
