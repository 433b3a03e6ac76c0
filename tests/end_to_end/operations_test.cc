// Every operation by every algorithm on real daemons, over UDP and over TCP, in groups of 1 to 32 ranks: the right
// values at every rank, the same from all algorithms, floats with the same bits everywhere and every time.
#include <gtest/gtest.h>

#include <cstring>
#include <latch>
#include <thread>

#include "collectives/algorithm_catalog.h"
#include "collectives/element_names.h"
#include "collectives/schedule.h"
#include "tests/collectives/share_reference.h"
#include "tests/end_to_end/programs.h"

namespace fibocast {
namespace {

using Bytes = std::vector<std::byte>;
using std::chrono::seconds;

constexpr Rank kRanks[] = {1, 2, 3, 5, 8, 13, 16, 19, 32};
constexpr NodeId kNodes = 32;

std::int64_t value(Rank rank, std::uint64_t i) { return (rank + 1) * 1'000'003ll - static_cast<std::int64_t>(i) * 77; }

Bytes values(Rank rank, std::uint64_t count, std::uint64_t first = 0) {
  Bytes out(count * 8);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::int64_t v = value(rank, first + i);
    std::memcpy(out.data() + i * 8, &v, 8);
  }
  return out;
}

// One rank's call, and what must come of it.
struct Expected {
  bool brings = true;
  Bytes input;
  Bytes output;
};

Bytes sum(Rank ranks, std::uint64_t count) {
  Bytes out(count * 8);
  for (std::uint64_t i = 0; i < count; ++i) {
    std::int64_t total = 0;
    for (Rank r = 0; r < ranks; ++r) total += value(r, i);
    std::memcpy(out.data() + i * 8, &total, 8);
  }
  return out;
}

Bytes joined(Rank ranks, const std::function<Bytes(Rank)>& of) {
  Bytes out;
  for (Rank r = 0; r < ranks; ++r) {
    const Bytes bytes = of(r);
    out.insert(out.end(), bytes.begin(), bytes.end());
  }
  return out;
}

// Of a divide or conquer of `count` elements in all.
Expected expected_share(Operation operation, Rank me, Rank ranks, Rank root, std::uint64_t count, std::uint16_t alpha) {
  const std::vector<Share> shares = shares_by_phases(ranks, count, alpha);
  const Share& mine = shares[(me + ranks - root) % ranks];
  const bool is_root = me == root;
  if (operation == Operation::kDivide) {
    const Bytes all = values(root, count);
    return {is_root, all, {all.begin() + mine.first * 8, all.begin() + mine.end() * 8}};
  }
  const auto sums =
      joined_sum<std::int64_t>(shares, count, [&](Rank v, std::uint32_t i) { return value((v + root) % ranks, i); });
  Bytes joined(is_root ? count * 8 : 0);
  if (!joined.empty()) std::memcpy(joined.data(), sums.data(), joined.size());
  return {true, values(me, mine.count), joined};
}

Expected expected(Operation operation, Rank me, Rank ranks, Rank root, std::uint64_t count,
                  const AlgorithmChoice& choice) {
  const Bytes own = values(me, count);
  switch (operation) {
    case Operation::kBarrier: return {false, {}, {}};
    case Operation::kMulticast: return {me == root, values(root, count), me == root ? Bytes() : values(root, count)};
    case Operation::kReduce: return {true, own, me == root ? sum(ranks, count) : Bytes()};
    case Operation::kAllreduce: return {true, own, sum(ranks, count)};
    case Operation::kScatter: return {me == root, values(root, count * ranks), values(root, count, me * count)};
    case Operation::kGather:
      return {true, own, me == root ? joined(ranks, [&](Rank r) { return values(r, count); }) : Bytes()};
    case Operation::kAllgather: return {true, own, joined(ranks, [&](Rank r) { return values(r, count); })};
    case Operation::kAlltoall:
      return {true, values(me, count * ranks), joined(ranks, [&](Rank r) { return values(r, count, me * count); })};
    case Operation::kDivide:
    case Operation::kConquer: return expected_share(operation, me, ranks, root, count, choice.parameter);
  }
  return {};
}

Outcome call(Group& group, Operation operation, Rank root, std::span<const std::byte> bytes, const std::string& name,
             std::uint64_t count) {
  OperationOptions options;
  options.algorithm = name;
  const Combination sum_of_int64{ElementType::kInt64, CombineOperator::kSum};
  switch (operation) {
    case Operation::kBarrier: return group.barrier(seconds(60), options);
    case Operation::kMulticast: return group.multicast(root, bytes, seconds(60), options);
    case Operation::kReduce: return group.reduce(root, bytes, sum_of_int64, seconds(60), options);
    case Operation::kAllreduce: return group.allreduce(bytes, sum_of_int64, seconds(60), options);
    case Operation::kScatter: return group.scatter(root, bytes, seconds(60), options);
    case Operation::kGather: return group.gather(root, bytes, seconds(60), options);
    case Operation::kAllgather: return group.allgather(bytes, seconds(60), options);
    case Operation::kAlltoall: return group.alltoall(bytes, seconds(60), options);
    case Operation::kDivide: return group.divide(root, bytes, ElementType::kInt64, seconds(60), options);
    case Operation::kConquer: return group.conquer(root, count, bytes, sum_of_int64, seconds(60), options);
  }
  return {};
}

// Not by operator+: GCC 12 sees an overlap there that is none.
std::string group_name(std::string name, Rank ranks) { return name.append(std::to_string(ranks)); }

// The entry by its own parameter; shares that leave a gap, touch, overlap and are whole.
std::vector<AlgorithmChoice> choices_of(const AlgorithmEntry& entry) {
  if (!is_of_shares(entry.operation)) return {entry.choice};
  std::vector<AlgorithmChoice> choices;
  for (const std::uint16_t alpha : {3000, 5000, 7000, 10'000})
    choices.push_back({Algorithm::kBinomialShares, {}, alpha});
  return choices;
}

Rank root_for(Operation operation, Rank participants) {
  const bool rooted = is_push(operation) || operation == Operation::kReduce || operation == Operation::kGather ||
                      operation == Operation::kConquer;
  return rooted ? participants / 2 : 0;
}

void call_and_compare(Group& group, Operation operation, const AlgorithmChoice& choice, Rank participants,
                      std::uint64_t count) {
  const Rank me = group.rank(), root = root_for(operation, participants);
  const std::string name = algorithm_name(operation, choice);
  const Expected e = expected(operation, me, participants, root, count, choice);
  const Outcome outcome =
      call(group, operation, root, e.brings ? std::span<const std::byte>(e.input) : std::span<const std::byte>(), name,
           count);
  ASSERT_TRUE(outcome.ok()) << "rank " << me << ": " << outcome.status.sentence;
  ASSERT_EQ(outcome.payload, e.output) << "rank " << me << " of " << participants << ": " << operation_name(operation)
                                       << " " << name << " " << count;
}

// One rank goes through the whole catalogue; all ranks do the same in the same order.
void go_through_catalog(Group group, Rank participants) {
  const bool has_routers = group.size() != participants;
  for (const AlgorithmEntry& entry : algorithm_catalog()) {
    if ((entry.choice.algorithm == Algorithm::kFlooding) != has_routers) continue;
    for (const AlgorithmChoice& choice : choices_of(entry))
      for (const std::uint64_t count : {0ull, 3ull, 700ull}) {
        if (entry.operation == Operation::kBarrier && count > 0) continue;
        call_and_compare(group, entry.operation, choice, participants, count);
        if (testing::Test::HasFatalFailure()) return;
      }
  }
}

class OperationsOver : public testing::TestWithParam<const char*> {
 protected:
  // Runs `work` at each rank of a group of these nodes.
  template <class Work>
  void at_each_rank(TestCluster& cluster, Rank ranks, const std::string& name, Rank callers, Work work) {
    std::vector<NodeId> nodes(ranks);
    for (NodeId n = 0; n < ranks; ++n) nodes[n] = n;
    const Status created = cluster.client(0)->create_group({.name = name, .nodes = nodes});
    ASSERT_TRUE(created.ok()) << created.sentence;
    std::vector<std::thread> threads;
    for (Rank rank = 0; rank < callers; ++rank)
      threads.emplace_back([&, rank] {
        auto group = cluster.client(rank)->open(name);
        ASSERT_TRUE(group.ok()) << group.status().sentence;
        work(*group);
      });
    for (std::thread& t : threads) t.join();
  }

  // What each rank gets, three times the same.
  std::vector<Bytes> results_of_floats(TestCluster& cluster, Rank members, const char* algorithm, CombineOperator op) {
    std::vector<Bytes> results(members);
    const std::string name = std::string("floats-") + algorithm + std::string(combine_operator_name(op));
    at_each_rank(cluster, members, name, members, [&](Group& group) {
      std::vector<double> mine(100);
      for (std::size_t i = 0; i < mine.size(); ++i) mine[i] = 1.0 / (3.0 + group.rank() * 7.0 + static_cast<double>(i));
      mine.back() = group.rank() % 2 == 0 ? 0.0 : -0.0;  // the lesser of both is what stands on the left
      OperationOptions options;
      options.algorithm = algorithm;
      for (int repetition = 0; repetition < 3; ++repetition) {
        const Outcome outcome = group.allreduce<double>(mine, op, seconds(30), options);
        ASSERT_TRUE(outcome.ok()) << outcome.status.sentence;
        Bytes& known = results[group.rank()];
        EXPECT_TRUE(repetition == 0 || outcome.payload == known) << algorithm << " repetition " << repetition;
        known = outcome.payload;
      }
    });
    return results;
  }
};

TEST_P(OperationsOver, EveryAlgorithmGivesTheRightValuesAtEveryRank) {
  TestCluster cluster;
  cluster.up(up_over(GetParam(), kNodes));
  for (const Rank ranks : kRanks) {
    at_each_rank(cluster, ranks, group_name("p", ranks), ranks,
                 [&](Group& group) { go_through_catalog(group, ranks); });
    const Rank with_routers = 2 * ranks - 1;
    if (with_routers > kNodes || ranks == 1) continue;
    at_each_rank(cluster, with_routers, group_name("flood", ranks), ranks,
                 [&](Group& group) { go_through_catalog(group, ranks); });
    ASSERT_FALSE(HasFailure());
  }
}

TEST_P(OperationsOver, FloatsGiveTheSameBitsAtEveryRankEveryTime) {
  constexpr Rank kMembers = 13;
  TestCluster cluster;
  cluster.up(up_over(GetParam(), kMembers));
  for (const char* algorithm : {"fibo", "binomial", "lambda:2.5", "ring", "halving", "doubling", "pairwise"})
    for (const CombineOperator op : {CombineOperator::kSum, CombineOperator::kMin}) {
      const std::vector<Bytes> results = results_of_floats(cluster, kMembers, algorithm, op);
      for (Rank r = 1; r < kMembers; ++r) EXPECT_EQ(results[r], results[0]) << algorithm << " rank " << r;
    }
}

INSTANTIATE_TEST_SUITE_P(Transports, OperationsOver, testing::Values("udp", "tcp", "memory"),
                         [](const auto& info) { return std::string(info.param); });

TEST(Operations, AnOperatorOfOnesOwnNeedNotCommute) {
  constexpr Rank kMembers = 4;
  TestCluster cluster;
  cluster.up({"-n", std::to_string(kMembers)});
  // 2 x 2 matrices: their product is associative and does not commute.
  const Combine multiply = [](std::span<std::byte> left, std::span<const std::byte> right) {
    std::int64_t a[4], b[4], c[4];
    std::memcpy(a, left.data(), sizeof a), std::memcpy(b, right.data(), sizeof b);
    for (int i = 0; i < 2; ++i)
      for (int j = 0; j < 2; ++j) c[2 * i + j] = a[2 * i] * b[j] + a[2 * i + 1] * b[2 + j];
    std::memcpy(left.data(), c, sizeof c);
  };
  std::vector<std::thread> members;
  for (NodeId rank = 0; rank < kMembers; ++rank)
    members.emplace_back([&, rank] {
      auto group = cluster.client(rank)->open("all");
      ASSERT_TRUE(group.ok()) << group.status().sentence;
      const std::int64_t r = rank + 1, mine[4] = {1, r, 0, r};
      const Outcome all = group->allreduce_with(std::as_bytes(std::span(mine)), multiply, seconds(30));
      ASSERT_TRUE(all.ok()) << all.status.sentence;
      // (1 1; 0 1)(1 2; 0 2)(1 3; 0 3)(1 4; 0 4) = (1 64; 0 24)
      EXPECT_EQ(all.values<std::int64_t>(), (std::vector<std::int64_t>{1, 64, 0, 24}));
      const Outcome one = group->reduce_with(2, std::as_bytes(std::span(mine)), multiply, seconds(30));
      ASSERT_TRUE(one.ok()) << one.status.sentence;
      EXPECT_EQ(one.values<std::int64_t>().size(), rank == 2 ? 4u : 0u);
    });
  for (std::thread& member : members) member.join();
}

// Each mistake is one sentence on every node concerned, and the group goes on.
TEST(Operations, MistakesAreSentencesAndLeaveTheGroupUsable) {
  constexpr Rank kMembers = 3;
  TestCluster cluster;
  cluster.up({"-n", std::to_string(kMembers)});
  std::vector<std::thread> members;
  std::latch all_open(kMembers);  // who opens a group after a mismatch begins with the generation behind it
  for (NodeId rank = 0; rank < kMembers; ++rank)
    members.emplace_back([&, rank] {
      auto group = cluster.client(rank)->open("all");
      ASSERT_TRUE(group.ok()) << group.status().sentence;
      all_open.arrive_and_wait();
      const std::vector<std::int64_t> mine(rank == 1 ? 2 : 3, 1);  // another length at rank 1
      const Outcome lengths = group->allreduce<std::int64_t>(mine, CombineOperator::kSum, seconds(10));
      EXPECT_EQ(lengths.status.code, Code::kMismatch) << rank << ": " << lengths.status.sentence;
      EXPECT_NE(lengths.status.sentence.find("size"), std::string::npos) << lengths.status.sentence;
      const Outcome operations = rank == 2 ? group->barrier(seconds(10))
                                           : group->allreduce<std::int64_t>(mine, CombineOperator::kSum, seconds(10));
      EXPECT_EQ(operations.status.code, Code::kMismatch) << rank << ": " << operations.status.sentence;
      OperationOptions unknown;
      unknown.algorithm = "quantum";
      EXPECT_EQ(group->barrier(seconds(10), unknown).status.code, Code::kInvalid);
      OperationOptions eager;
      eager.algorithm = "combine_eager";
      const double number = 0.5;
      const Outcome floats = group->allreduce<double>(std::span(&number, 1), CombineOperator::kSum, seconds(10), eager);
      EXPECT_EQ(floats.status.code, Code::kInvalid) << floats.status.sentence;
      EXPECT_EQ(group->alltoall(std::as_bytes(std::span("four", 4)), seconds(10)).status.code, Code::kInvalid);
      const std::int64_t one = 1;
      const Outcome good = group->allreduce<std::int64_t>(std::span(&one, 1), CombineOperator::kSum, seconds(10));
      ASSERT_TRUE(good.ok()) << good.status.sentence;
      EXPECT_EQ(good.values<std::int64_t>(), std::vector<std::int64_t>{kMembers});
    });
  for (std::thread& member : members) member.join();
}

TEST(Operations, FromTheShell) {
  TestCluster cluster;
  cluster.up({"-n", "3"});
  std::vector<Running> others;
  for (const char* rank : {"1", "2"})
    others.push_back(cluster.start({"allreduce", "all", "5", rank, "--operator", "max", "--rank", rank}));
  const Ended mine = cluster.run({"allreduce", "all", "4", "7", "--operator", "max", "--rank", "0", "--json"});
  EXPECT_EQ(mine.exit_code, 0) << mine.err;
  EXPECT_EQ(mine.json()["values"], Json({5, 7}));
  for (Running& other : others) EXPECT_EQ(other.wait().out, "5\n7\n");
  const Ended wrong = cluster.run({"allreduce", "all", "4", "--operator", "median", "--rank", "0"});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_NE(wrong.err.find("median"), std::string::npos) << wrong.err;
}

}  // namespace
}  // namespace fibocast
