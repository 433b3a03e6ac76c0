// Groups with routers: nodes without participants that only pass a flood on (Dimakopoulos and Dimopoulos, E7). All
// other operations are among the participants alone.
#include <gtest/gtest.h>

#include <cstring>

#include "firmware_sim/virtual_cluster.h"

namespace fibocast {
namespace {

constexpr Rank kParticipants = 5, kRouters = 4;

class Routers : public testing::Test {
 protected:
  Routers() : cluster_(settings()) {
    cluster_.start_all();
    EXPECT_TRUE(cluster_.connect_all());
  }
  static ClusterSettings settings() {
    ClusterSettings settings;
    settings.nodes = kParticipants + kRouters;
    settings.limits.transfers = 60, settings.limits.stages = 30;
    settings.network.latency_min = 10'000, settings.network.latency_max = 90'000;
    settings.faults = {loss(0.05)};
    return settings;
  }
  Verdict create(Rank routers) {
    GroupDefinition definition;
    definition.name = "flood";
    definition.members.add_run({0, kParticipants + kRouters});
    definition.routers = routers;
    const Asked asked = cluster_.create(0, definition);
    if (asked.admission != Admission::kTaken) return Verdict::kRefused;
    cluster_.run_until(kNever, [&] { return cluster_.answer(asked.cookie) != nullptr; });
    return cluster_.answer(asked.cookie)->event.done.verdict;
  }
  Asked call(Rank rank, Operation operation, Generation generation, const AlgorithmChoice& choice = {}, Rank root = 0) {
    Call c;
    c.group = cluster_.open(rank, "flood").group;
    c.operation = operation, c.choice = choice, c.root = root, c.generation = generation;
    c.deadline = cluster_.now() + 20'000'000'000;
    if (combines(operation)) c.type = ElementType::kUint64, c.op = CombineOperator::kSum;
    const std::uint64_t value = rank + 1;
    const bool brings = operation != Operation::kBarrier && (!is_push(operation) || rank == root);
    if (brings) c.payload = *cluster_.node(rank).put_payload(std::as_bytes(std::span(&value, 1)));
    return cluster_.call(rank, c);
  }
  // All participants call; the answers by rank.
  std::vector<const Answer*> run(Operation operation, const AlgorithmChoice& choice = {}, Rank root = 0) {
    std::vector<std::uint64_t> cookies;
    for (Rank rank = 0; rank < kParticipants; ++rank) {
      const Asked asked = call(rank, operation, generation_, choice, root);
      EXPECT_EQ(asked.admission, Admission::kTaken) << "rank " << rank;
      cookies.push_back(asked.cookie);
    }
    ++generation_;
    const auto all = [&] {
      return std::ranges::all_of(cookies, [&](std::uint64_t c) { return cluster_.answer(c) != nullptr; });
    };
    EXPECT_TRUE(cluster_.run_until(cluster_.now() + 60'000'000'000, all));
    std::vector<const Answer*> answers;
    for (const std::uint64_t cookie : cookies) answers.push_back(cluster_.answer(cookie));
    return answers;
  }
  void floods() {
    for (const Answer* a : run(Operation::kAllgather, {Algorithm::kFlooding})) {
      ASSERT_EQ(a->event.done.verdict, Verdict::kOk);
      ASSERT_EQ(a->payload.size(), kParticipants * 8u);
      for (std::uint64_t i = 0; i < kParticipants; ++i) {
        std::uint64_t value = 0;
        std::memcpy(&value, a->payload.data() + i * 8, 8);
        EXPECT_EQ(value, i + 1);
      }
    }
  }

  VirtualCluster cluster_;
  Generation generation_ = 0;
};

TEST_F(Routers, PassAFloodOnAndAreLeftAloneOtherwise) {
  ASSERT_EQ(create(kRouters), Verdict::kOk);
  for (int round = 0; round < 3; ++round) {
    floods();
    for (Rank root = 0; root < kParticipants; ++root) {
      for (const Answer* a : run(Operation::kMulticast, {}, root)) ASSERT_EQ(a->event.done.verdict, Verdict::kOk);
      const auto reduced = run(Operation::kReduce, {}, root);
      ASSERT_EQ(reduced[root]->event.done.verdict, Verdict::kOk);
      std::uint64_t sum = 0;
      std::memcpy(&sum, reduced[root]->payload.data(), 8);
      EXPECT_EQ(sum, 15u);
      for (const Answer* a : run(Operation::kBarrier)) ASSERT_EQ(a->event.done.verdict, Verdict::kOk);
    }
  }
}

TEST_F(Routers, AreNeverAmongThoseWhoAreMissing) {
  ASSERT_EQ(create(kRouters), Verdict::kOk);
  for (const AlgorithmChoice& choice : {AlgorithmChoice{}, AlgorithmChoice{Algorithm::kFlooding}}) {
    std::vector<Asked> asked;
    for (Rank rank = 0; rank < kParticipants; ++rank)
      if (rank != 3) asked.push_back(call(rank, Operation::kAllgather, generation_, choice));
    ++generation_;
    const auto all = [&] {
      return std::ranges::all_of(asked, [&](const Asked& a) { return cluster_.answer(a.cookie) != nullptr; });
    };
    ASSERT_TRUE(cluster_.run_until(cluster_.now() + 60'000'000'000, all));
    for (const Asked& a : asked) {
      const CallDone& done = cluster_.answer(a.cookie)->event.done;
      EXPECT_EQ(done.verdict, Verdict::kDeadlineExceeded);
      ASSERT_EQ(done.ranks.size(), 1u);
      EXPECT_EQ(done.ranks.at(0), 3u);
    }
  }
  call(3, Operation::kAllgather, 0);  // it passes: its generations are over
  call(3, Operation::kAllgather, 1, {Algorithm::kFlooding});
  floods();
}

TEST_F(Routers, CannotCall) {
  ASSERT_EQ(create(kRouters), Verdict::kOk);
  EXPECT_EQ(call(kParticipants, Operation::kBarrier, 0).admission, Admission::kBadRank);
  EXPECT_EQ(call(0, Operation::kMulticast, 0, {}, kParticipants).admission, Admission::kBadRank);
}

TEST_F(Routers, AFloodAmongNNeedsOneLessThanN) {
  ASSERT_EQ(create(kRouters - 2), Verdict::kOk);
  EXPECT_EQ(call(0, Operation::kAllgather, 0, {Algorithm::kFlooding}).admission, Admission::kBadOperation);
  EXPECT_EQ(create(kParticipants + kRouters), Verdict::kRefused);  // nobody would be left
}

}  // namespace
}  // namespace fibocast
