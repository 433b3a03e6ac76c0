// Groups with a tree that is no formula, in virtual time on a network that loses, doubles and reorders: defined in
// pieces while that happens, then used by every operation, several generations in a row and from several roots.
#include "collectives/given_tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "firmware_sim/virtual_cluster.h"

namespace fibocast {
namespace {

using Bytes = std::vector<std::byte>;

constexpr std::uint64_t kElement = sizeof(std::uint64_t);

// Each rank below one that was placed before it, in a random order.
Tree random_tree(Rank ranks, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<Rank> order(ranks), parents(ranks, kNoRank);
  for (Rank v = 0; v < ranks; ++v) order[v] = v;
  std::ranges::shuffle(order, random);
  for (Rank i = 1; i < ranks; ++i) parents[order[i]] = order[random() % i];
  return Tree::from_parents(parents, order);
}

Bytes numbers(std::uint64_t first, std::uint64_t count) {
  Bytes bytes(count * kElement);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t value = first * 1'000'003 + i;
    std::memcpy(bytes.data() + i * kElement, &value, kElement);
  }
  return bytes;
}

// All members' vectors of numbers(rank + generation, count) added up.
Bytes sum(Rank ranks, std::uint64_t generation, std::uint64_t count) {
  Bytes bytes(count * kElement);
  for (std::uint64_t i = 0; i < count; ++i) {
    std::uint64_t value = 0;
    for (Rank v = 0; v < ranks; ++v) value += (v + generation) * 1'000'003 + i;
    std::memcpy(bytes.data() + i * kElement, &value, kElement);
  }
  return bytes;
}

class Members {
 public:
  Members(Rank ranks, double loss, std::uint64_t seed) : ranks_(ranks) {
    ClusterSettings settings;
    settings.nodes = ranks;
    settings.seed = seed;
    settings.limits.nodes = ranks, settings.limits.transfers = 4 * ranks, settings.limits.stages = 255;
    settings.limits.small_window = 3, settings.limits.bulk_streams = 8, settings.limits.bulk_window = 64;
    settings.network.latency_min = 10'000, settings.network.latency_max = 60'000, settings.network.jitter = 20'000;
    cluster_ = std::make_unique<VirtualCluster>(settings);
    cluster_->start_all();
    EXPECT_TRUE(cluster_->connect_all());
    faults_ = {fibocast::loss(loss), duplicates(loss)};
    for (const Fault& fault : faults_) cluster_->begin(fault);
  }

  bool create(const Tree& tree, NodeId at) {
    const auto entries = table_of(tree);
    GroupDefinition d;
    d.name = "odd";
    d.members.add_run({0, ranks_});
    d.plan.reduction.kind = d.plan.distribution.kind = TreeKind::kGiven;
    d.plan.segment_bytes = 9'000;
    d.plan.given = TreeTable(entries);
    const Asked asked = cluster_->create(at, d);
    wait({asked.cookie});
    const Answer* answer = cluster_->answer(asked.cookie);
    return answer && answer->event.done.verdict == Verdict::kOk;
  }

  // One operation of all; what each rank gets.
  std::vector<Bytes> run(Operation operation, Rank root, Generation generation, std::uint64_t count) {
    std::vector<std::uint64_t> cookies;
    for (NodeId id = 0; id < ranks_; ++id) cookies.push_back(call(id, operation, root, generation, count));
    wait(cookies);
    std::vector<Bytes> results;
    for (const std::uint64_t cookie : cookies) {
      const Answer* answer = cluster_->answer(cookie);
      EXPECT_TRUE(answer && answer->event.done.verdict == Verdict::kOk);
      if (answer) results.push_back(answer->payload);
    }
    return results;
  }

 private:
  std::uint64_t call(NodeId id, Operation operation, Rank root, Generation generation, std::uint64_t count) {
    Call c;
    c.group = cluster_->open(id, "odd").group;
    c.operation = operation, c.root = root, c.generation = generation, c.deadline = cluster_->now() + 60 * kSecond;
    if (combines(operation)) c.type = ElementType::kUint64, c.op = CombineOperator::kSum;
    const bool brings = operation != Operation::kBarrier && (!is_push(operation) || id == root);
    if (brings) c.payload = cluster_->node(id).put_payload(numbers(id + generation, count)).value();
    const Asked asked = cluster_->call(id, c);
    EXPECT_EQ(asked.admission, Admission::kTaken);
    return asked.cookie;
  }
  void wait(const std::vector<std::uint64_t>& cookies) {
    cluster_->run_until(cluster_->now() + 60 * kSecond, [&] {
      return std::ranges::all_of(cookies, [&](std::uint64_t c) { return cluster_->answer(c) != nullptr; });
    });
  }

  Rank ranks_;
  std::vector<Fault> faults_;
  std::unique_ptr<VirtualCluster> cluster_;
};

// Small data travels with the messages, large data is streamed in segments.
void run_all_operations(Members& members, Rank ranks) {
  Generation g = 0;
  for (const Rank root : {Rank{0}, ranks / 2, ranks - 1})
    for (const std::uint64_t count : {3ull, 4'000ull}) {
      members.run(Operation::kBarrier, 0, g++, 0);
      const auto cast = members.run(Operation::kMulticast, root, g, count);
      ASSERT_EQ(cast.size(), ranks);
      for (NodeId id = 0; id < ranks; ++id) ASSERT_EQ(cast[id], id == root ? Bytes{} : numbers(root + g, count));
      const auto reduced = members.run(Operation::kReduce, root, ++g, count);
      ASSERT_EQ(reduced.size(), ranks);
      ASSERT_EQ(reduced[root], sum(ranks, g, count));
      const auto all = members.run(Operation::kAllreduce, 0, ++g, count);
      ASSERT_EQ(all.size(), ranks);
      for (const Bytes& bytes : all) ASSERT_EQ(bytes, sum(ranks, g, count));
      const auto gathered = members.run(Operation::kGather, root, ++g, 3);
      ASSERT_EQ(gathered.size(), ranks);
      ASSERT_EQ(gathered[root].size(), ranks * 3 * kElement);
      ++g;
    }
}

TEST(GivenTree, EveryOperationUnderFaults) {
  for (const Rank ranks : {2u, 3u, 7u, 19u})
    for (const double loss : {0.0, 0.1}) {
      Members members(ranks, loss, ranks);
      ASSERT_TRUE(members.create(random_tree(ranks, ranks), ranks - 1)) << ranks;
      ASSERT_NO_FATAL_FAILURE(run_all_operations(members, ranks)) << ranks << " ranks, loss " << loss;
    }
}

TEST(GivenTree, OfSeveralPiecesUnderFaults) {
  constexpr Rank kRanks = 64;
  Members members(kRanks, 0.1, 1);
  ASSERT_TRUE(members.create(random_tree(kRanks, 1), 9));
  ASSERT_NO_FATAL_FAILURE(run_all_operations(members, kRanks));
}

}  // namespace
}  // namespace fibocast
