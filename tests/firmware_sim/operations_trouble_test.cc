// Operations that move data when a rank does not come: all who wait get one verdict that names it, the late call gets
// the same, the next generation works, and no memory is left behind.
#include <gtest/gtest.h>

#include "collectives/algorithm_catalog.h"
#include "collectives/schedule.h"
#include "firmware_sim/virtual_cluster.h"

namespace fibocast {
namespace {

constexpr Rank kInTrouble = 6;
constexpr Rank kMissing = 4;

struct Case {
  Operation operation;
  AlgorithmChoice choice;
  const char* name;
};

const Case kCases[] = {
    {Operation::kReduce, {Algorithm::kTrees}, "reduce"},
    {Operation::kReduce, {Algorithm::kHalving}, "reduce_halving"},
    {Operation::kReduce, {Algorithm::kPairwise}, "reduce_pairwise"},
    {Operation::kAllreduce, {Algorithm::kTrees}, "allreduce_fibo"},
    {Operation::kAllreduce, {Algorithm::kRing}, "allreduce_ring"},
    {Operation::kAllreduce, {Algorithm::kHalving}, "allreduce_halving"},
    {Operation::kAllreduce, {Algorithm::kDoubling}, "allreduce_doubling"},
    {Operation::kAllreduce, {Algorithm::kPairwise}, "allreduce_pairwise"},
    {Operation::kAllreduce, {Algorithm::kCombineEager}, "allreduce_combine"},
    {Operation::kGather, {Algorithm::kTrees}, "gather"},
    {Operation::kConquer, {Algorithm::kBinomialShares, {}, kWholeShare}, "conquer"},
    {Operation::kAllgather, {Algorithm::kBruck}, "allgather_bruck"},
    {Operation::kAllgather, {Algorithm::kRing}, "allgather_ring"},
    {Operation::kAllgather, {Algorithm::kPairwise}, "allgather_pairwise"},
    {Operation::kAlltoall, {Algorithm::kPairwise}, "alltoall_pairwise"},
    {Operation::kAlltoall, {Algorithm::kBruck}, "alltoall_bruck"},
};

class Trouble {
 public:
  Trouble(const Case& c, std::uint64_t bytes) : case_(c), bytes_(bytes), cluster_(settings()) {
    cluster_.start_all();
    EXPECT_TRUE(cluster_.connect_all());
    for (Rank r = 0; r < kInTrouble; ++r) group_ = cluster_.open(r, "all").group;
  }

  std::uint64_t call(Rank rank, Generation generation, Nanoseconds patience) {
    Call call;
    call.group = group_, call.operation = case_.operation, call.choice = case_.choice;
    call.generation = generation, call.deadline = cluster_.now() + patience;
    if (case_.operation == Operation::kConquer) call.total_bytes = bytes_;
    if (combines(case_.operation) || case_.operation == Operation::kConquer)
      call.type = ElementType::kUint64, call.op = CombineOperator::kMax;
    const std::uint64_t all = case_.operation == Operation::kAlltoall ? kInTrouble * bytes_ : bytes_;
    call.payload = *cluster_.node(rank).put_payload(std::vector<std::byte>(all));
    const Asked asked = cluster_.call(rank, call);
    EXPECT_EQ(asked.admission, Admission::kTaken);
    return asked.cookie;
  }

  const CallDone& wait(std::uint64_t cookie) {
    EXPECT_TRUE(cluster_.run_until(cluster_.now() + 20 * kSecond, [&] { return cluster_.answer(cookie) != nullptr; }));
    return cluster_.answer(cookie)->event.done;
  }

  void expect_no_memory_left() {
    cluster_.run_until(cluster_.now() + 5 * kSecond);
    for (Rank r = 0; r < kInTrouble; ++r) {
      EXPECT_EQ(cluster_.node(r).node().payload_bytes_used(), 0u) << "rank " << r;
      EXPECT_EQ(cluster_.node(r).buffers_held(), 0u) << "rank " << r;
    }
  }

  // Who needs nothing from the others is through without the missing one.
  bool may_succeed(Rank rank) const {
    return rank != 0 && (case_.operation == Operation::kReduce || case_.operation == Operation::kGather ||
                         case_.operation == Operation::kConquer);
  }

 private:
  static ClusterSettings settings() {
    ClusterSettings s;
    s.nodes = kInTrouble;
    s.limits.nodes = kInTrouble, s.limits.stages = 64, s.limits.small_window = 8, s.limits.bulk_streams = 8;
    s.node.plan.distribution = {.s = 27, .r = 88};
    s.node.plan.reduction = {.s = 88, .r = 27};
    s.node.suspicion = kSecond;
    s.network.latency_min = 10'000, s.network.latency_max = 60'000, s.network.jitter = 20'000;
    s.faults = {loss(0.05)};
    return s;
  }

  Case case_;
  std::uint64_t bytes_;
  VirtualCluster cluster_;
  GroupId group_ = 0;
};

// What the client library refuses with a sentence, a node refuses from anybody.
TEST(SharesOnNodes, OfAnotherLengthAreRefusedAtOnce) {
  ClusterSettings settings;
  settings.nodes = 2;
  VirtualCluster cluster(settings);
  cluster.start_all();
  ASSERT_TRUE(cluster.connect_all());
  Call call;
  call.group = cluster.open(1, "all").group, call.operation = Operation::kConquer;
  call.choice = {Algorithm::kBinomialShares, {}, 7000};
  call.type = ElementType::kInt64, call.op = CombineOperator::kSum;
  call.payload = *cluster.node(1).put_payload(std::vector<std::byte>(56));  // rank 1's share of 10 elements
  const auto asked = [&](std::uint64_t total_bytes) {
    call.total_bytes = total_bytes;
    return cluster.call(1, call).admission;
  };
  EXPECT_EQ(asked(0), Admission::kBadOperation);
  EXPECT_EQ(asked(96), Admission::kBadOperation);
  EXPECT_EQ(asked(84), Admission::kBadOperation);
  EXPECT_EQ(asked(std::uint64_t{1} << 40), Admission::kBadOperation);
  call.op = CombineOperator::kNone;
  EXPECT_EQ(asked(80), Admission::kBadOperation);
  call.op = CombineOperator::kSum, call.choice.parameter = 0;
  EXPECT_EQ(asked(80), Admission::kBadOperation);
  call.choice.parameter = 7000;
  EXPECT_EQ(asked(80), Admission::kTaken);
}

class WhoDoesNotCome : public testing::TestWithParam<Case> {};

TEST_P(WhoDoesNotCome, IsNamedAndLeavesNothingBehind) {
  for (const std::uint64_t bytes : {std::uint64_t{64}, std::uint64_t{48'000}}) {
    Trouble t(GetParam(), bytes);
    std::vector<std::uint64_t> cookies;
    for (Rank r = 0; r < kInTrouble; ++r)
      if (r != kMissing) cookies.push_back(t.call(r, 0, kSecond / 2));
    for (std::size_t i = 0; i < cookies.size(); ++i) {
      const CallDone& done = t.wait(cookies[i]);
      const Rank rank = static_cast<Rank>(i < kMissing ? i : i + 1);
      if (done.verdict == Verdict::kOk && t.may_succeed(rank)) continue;
      EXPECT_EQ(done.verdict, Verdict::kDeadlineExceeded) << "rank " << rank << " bytes " << bytes;
      EXPECT_NE(done.ranks.index_of(kMissing), kNoRank) << "rank " << rank;
      EXPECT_EQ(done.ranks.size(), 1u) << "rank " << rank;
    }
    const CallDone& late = t.wait(t.call(kMissing, 0, kSecond / 2));
    EXPECT_EQ(late.verdict, Verdict::kDeadlineExceeded);
    std::vector<std::uint64_t> next;
    for (Rank r = 0; r < kInTrouble; ++r) next.push_back(t.call(r, 1, 10 * kSecond));
    for (const std::uint64_t cookie : next) EXPECT_EQ(t.wait(cookie).verdict, Verdict::kOk) << bytes;
    t.expect_no_memory_left();
  }
}

INSTANTIATE_TEST_SUITE_P(Operations, WhoDoesNotCome, testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace fibocast
