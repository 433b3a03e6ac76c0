// Node with the emulated NIC of MANNA (s = 27 us, o = 88 us, 19 nodes): in virtual time nothing disturbs, so that
// the papers' numbers come out to the nanosecond (Cordsen et al. 1997, table of p = 19, A27 and A30).
#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "tests/runtime/node/team.h"

namespace fibocast {
namespace {

constexpr std::uint32_t kNodes = 19;

struct MannaCase {
  std::string name;
  TreeSpec reduction;
  TreeSpec distribution;
  Nanoseconds distribution_us;
  Nanoseconds barrier_us;
};

class Manna : public testing::TestWithParam<MannaCase> {
 protected:
  static ClusterSettings settings() {
    ClusterSettings c = cluster_of(kNodes);
    c.node.plan = {GetParam().reduction, GetParam().distribution, 0};
    c.node.nic.enabled = true;
    c.node.nic.send = 27 * kMicrosecond;
    c.node.nic.receive = 88 * kMicrosecond;
    return c;
  }
  // All call at the same instant, the multicast from rank 0.
  static std::vector<std::uint64_t> call_all(Team& team, Operation operation, Generation generation,
                                             Nanoseconds start) {
    std::vector<std::uint64_t> cookies;
    for (NodeId id : team.up) {
      Call c;
      c.group = team.group;
      c.operation = operation;
      c.generation = generation;
      c.deadline = team.in(10 * kSecond);
      c.not_before = start;
      if (operation == Operation::kMulticast && id == 0) c.payload = *team.cluster.node(0).put_payload({});
      const Asked asked = team.cluster.call(id, c);
      EXPECT_EQ(asked.admission, Admission::kTaken);
      cookies.push_back(asked.cookie);
    }
    return cookies;
  }
  static Nanoseconds last_activation(const Team& team, const std::vector<std::uint64_t>& cookies) {
    Nanoseconds last = 0;
    for (std::uint64_t cookie : cookies) last = std::max(last, team.done(cookie).activated_at);
    return last;
  }
};

TEST_P(Manna, BarrierTakesWhatThePapersSay) {
  Team team(settings());
  for (Generation g = 0; g < 3; ++g) {
    const Nanoseconds start = team.in(10 * kMillisecond);
    const auto cookies = call_all(team, Operation::kBarrier, g, start);
    ASSERT_TRUE(team.wait(cookies));
    team.expect_all(cookies, Verdict::kOk);
    const Nanoseconds last = last_activation(team, cookies);
    if (GetParam().barrier_us > 0) {
      EXPECT_EQ(last - start, GetParam().barrier_us * kMicrosecond);
    }
    EXPECT_EQ(last - team.done(cookies[0]).first_send_at, GetParam().distribution_us * kMicrosecond);
    for (std::uint64_t cookie : cookies) EXPECT_EQ(team.done(cookie).lateness, 0);
  }
}

TEST_P(Manna, MulticastTakesWhatThePapersSay) {
  Team team(settings());
  const Nanoseconds start = team.in(10 * kMillisecond);
  const auto cookies = call_all(team, Operation::kMulticast, 0, start);
  ASSERT_TRUE(team.wait(cookies));
  team.expect_all(cookies, Verdict::kOk);
  EXPECT_EQ(team.done(cookies[0]).first_send_at, start);
  EXPECT_EQ(last_activation(team, cookies) - start, GetParam().distribution_us * kMicrosecond);
}

const TreeSpec kSequentialTree{.kind = TreeKind::kSequential};
const TreeSpec kBinomialTree{.kind = TreeKind::kBinomial};
const TreeSpec kFiboTree{.kind = TreeKind::kFibo, .s = 27, .r = 88};
const TreeSpec kMirrorTree{.kind = TreeKind::kFibo, .s = 88, .r = 27};

INSTANTIATE_TEST_SUITE_P(Trees, Manna,
                         testing::Values(MannaCase{"sequential", kSequentialTree, kSequentialTree, 574, 0},
                                         MannaCase{"binomial", kBinomialTree, kBinomialTree, 460, 954},
                                         MannaCase{"one_fibo_tree", kFiboTree, kFiboTree, 311, 1042},
                                         MannaCase{"fibo_and_mirror", kMirrorTree, kFiboTree, 311, 805}),
                         [](const auto& info) { return info.param.name; });

// What waits for the card leaves as it was when it was asked for, whatever comes in meanwhile.
class MannaData : public testing::TestWithParam<std::tuple<Operation, AlgorithmChoice, std::size_t>> {};

std::vector<std::byte> bytes_of(const std::vector<std::int64_t>& values) {
  const auto bytes = std::as_bytes(std::span(values));
  return {bytes.begin(), bytes.end()};
}

TEST_P(MannaData, IsRightHoweverUnevenlyRanksArrive) {
  const auto [operation, choice, elements] = GetParam();
  constexpr std::uint32_t kRanks = 8;
  ClusterSettings settings = cluster_of(kRanks);
  settings.node.nic = {.enabled = true, .send = 27 * kMicrosecond, .receive = 88 * kMicrosecond};
  Team team(settings);
  const bool sums = operation == Operation::kAllreduce;
  for (Generation generation = 0; generation < 20; ++generation) {
    std::vector<std::uint64_t> cookies;
    for (NodeId id = 0; id < kRanks; ++id) {
      Call call;
      call.group = team.group, call.operation = operation, call.generation = generation, call.choice = choice;
      call.deadline = team.in(10 * kSecond);
      call.not_before = team.in(kMillisecond + (generation * 37 + id * 53) % 400 * kMicrosecond);
      if (sums) call.type = ElementType::kInt64, call.op = CombineOperator::kSum;
      std::vector<std::int64_t> values(elements * (sums ? 1 : kRanks));
      for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = 1000 * (id + 1) + static_cast<std::int64_t>(i / elements);
      call.payload = *team.cluster.node(id).put_payload(bytes_of(values));
      const Asked asked = team.cluster.call(id, call);
      ASSERT_EQ(asked.admission, Admission::kTaken);
      cookies.push_back(asked.cookie);
    }
    ASSERT_TRUE(team.wait(cookies));
    team.expect_all(cookies, Verdict::kOk);
    for (NodeId id = 0; id < kRanks; ++id) {
      std::vector<std::int64_t> expected(elements * (sums ? 1 : kRanks), 1000 * kRanks * (kRanks + 1) / 2);
      for (std::size_t i = 0; !sums && i < expected.size(); ++i)
        expected[i] = 1000 * static_cast<std::int64_t>(i / elements + 1) + id;
      ASSERT_EQ(team.cluster.answer(cookies[id])->payload, bytes_of(expected)) << "rank " << id << " of " << generation;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Algorithms, MannaData,
                         testing::Combine(testing::Values(Operation::kAllreduce),
                                          testing::Values(AlgorithmChoice{Algorithm::kDoubling},
                                                          AlgorithmChoice{Algorithm::kHalving},
                                                          AlgorithmChoice{Algorithm::kTrees}),
                                          testing::Values(1, 2000)));
INSTANTIATE_TEST_SUITE_P(Blocks, MannaData,
                         testing::Combine(testing::Values(Operation::kAlltoall),
                                          testing::Values(AlgorithmChoice{Algorithm::kBruck}),
                                          testing::Values(1, 300)));

}  // namespace
}  // namespace fibocast
