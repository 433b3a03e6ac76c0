// Divide and conquer (Lo et al. 1992): the schedules are those of the paper's tree B(n), by the numbers of its
// definitions, they do what is promised for any number of ranks, and they take the time that one can work out by hand.
#include "collectives/divide.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>

#include "collectives/algorithm_catalog.h"
#include "collectives/lower_bound.h"
#include "collectives/predict.h"
#include "collectives/validate.h"
#include "tests/collectives/share_reference.h"

namespace fibocast {
namespace {

constexpr std::uint16_t kAlphas[] = {1, 3000, 4999, 5000, 5001, 7000, 9500, 9990, 10'000};
constexpr Operation kBoth[] = {Operation::kDivide, Operation::kConquer};

OperationShape shape_of(Operation operation, Rank ranks, std::uint64_t elements, std::uint16_t alpha) {
  OperationShape shape{.operation = operation, .ranks = ranks, .total_bytes = elements * 8};
  shape.choice = {Algorithm::kBinomialShares, {}, alpha};
  shape.type = ElementType::kInt64;
  if (operation == Operation::kConquer) shape.op = CombineOperator::kSum;
  return shape;
}

Schedule schedule_of(const OperationShape& shape) { return build_schedule(Plan{}, shape).value(); }

// Every message of a divide.
struct Edge {
  Rank from = 0, to = 0;
  std::uint32_t first = 0, count = 0;
  auto operator<=>(const Edge&) const = default;
};

std::vector<Edge> edges_of(const Schedule& schedule) {
  std::vector<Edge> edges;
  for (Rank rank = 0; rank < schedule.shape.ranks; ++rank) {
    const RankSchedule view = schedule.ranks[rank].view();
    for (const Stage& stage : view.stages)
      for (const Transfer& t : view.sends(stage)) edges.push_back({rank, t.peer, t.first_block, t.blocks});
  }
  return edges;
}

Rank label(unsigned n, Rank rank) { return (Rank{1} << n) - 1 - rank; }

// The phase of the edge that clears bit j of a label is n - j (D2).
unsigned phase_of(unsigned n, const Edge& edge) {
  return n - static_cast<unsigned>(std::countr_zero(label(n, edge.from) ^ label(n, edge.to)));
}

TEST(Divide, EveryRankGetsItsShareForAllSmallNumbersOfRanks) {
  for (const Operation operation : kBoth)
    for (Rank ranks = 1; ranks <= 64; ranks += FIBOCAST_SANITIZED ? 5 : 1)
      for (const std::uint16_t alpha : kAlphas)
        for (const std::uint64_t elements : {0, 1, 2, 5, 64, 97}) {
          const Validation v = validate(schedule_of(shape_of(operation, ranks, elements, alpha)));
          ASSERT_TRUE(v.ok) << operation_name(operation) << " p " << ranks << " alpha " << alpha << " L " << elements
                            << ": " << v.message;
        }
}

TEST(Divide, SharesAreThoseOfThePhases) {
  for (Rank ranks = 1; ranks <= 64; ++ranks)
    for (const std::uint16_t alpha : kAlphas)
      for (const std::uint64_t elements : {0ull, 3ull, 1000ull, 4'294'967'295ull}) {
        const OperationShape shape = shape_of(Operation::kDivide, ranks, elements, alpha);
        const std::vector<Share> expected = shares_by_phases(ranks, elements, alpha);
        for (Rank rank = 0; rank < ranks; ++rank)
          ASSERT_EQ(final_share(shape, rank), expected[rank]) << "p " << ranks << " alpha " << alpha << " v " << rank;
      }
}

// D1: the children of b clear bit j, j = k - 1 .. 0, where b has k trailing ones.
TEST(Divide, D1ChildrenAreThoseOfTheBinomialTree) {
  for (unsigned n = 0; n <= 7; ++n) {
    const Schedule schedule = schedule_of(shape_of(Operation::kDivide, Rank{1} << n, 1000, 7000));
    for (Rank rank = 0; rank < schedule.shape.ranks; ++rank) {
      const RankSchedule view = schedule.ranks[rank].view();
      const Rank b = label(n, rank);
      unsigned bit = static_cast<unsigned>(std::countr_one(b));
      EXPECT_EQ(view.sends(view.stages[0]).size(), bit);
      for (const Transfer& t : view.sends(view.stages[0])) EXPECT_EQ(label(n, t.peer), b & ~(Rank{1} << --bit));
    }
  }
}

// D2: 2^(i - 1) edges are active in phase i, and each carries alpha^i of the vector.
TEST(Divide, D2EdgesOfAPhaseCarryTheSameShare) {
  struct Exact {
    std::uint16_t alpha;
    std::uint64_t numerator, denominator;  // of alpha; L = denominator^n
  };
  for (const Exact& e : {Exact{5000, 1, 2}, {7000, 7, 10}, {3000, 3, 10}, {9500, 19, 20}, {10'000, 1, 1}})
    for (unsigned n = 1; n <= 6; ++n) {
      std::vector<std::uint64_t> weight(n + 1, 1);  // of phase i
      for (unsigned i = 0; i <= n; ++i)
        for (unsigned k = 0; k < n; ++k) weight[i] *= k < i ? e.numerator : e.denominator;
      std::vector<std::uint64_t> count(n + 1, 0);
      for (const Edge& edge : edges_of(schedule_of(shape_of(Operation::kDivide, Rank{1} << n, weight[0], e.alpha)))) {
        const unsigned i = phase_of(n, edge);
        ASSERT_EQ(edge.count, weight[i]) << "alpha " << e.alpha << " n " << n << " phase " << i;
        ++count[i];
      }
      for (unsigned i = 1; i <= n; ++i) EXPECT_EQ(count[i], std::uint64_t{1} << (i - 1));
    }
}

TEST(Divide, ConquerIsTheSameEdgesReversed) {
  for (Rank ranks = 1; ranks <= 33; ++ranks) {
    const Schedule down = schedule_of(shape_of(Operation::kDivide, ranks, 1000, 7000));
    const Schedule up = schedule_of(shape_of(Operation::kConquer, ranks, 1000, 7000));
    std::vector<Edge> sent = edges_of(down), back = edges_of(up);
    for (Edge& edge : back) std::swap(edge.from, edge.to);
    std::ranges::sort(sent), std::ranges::sort(back);
    EXPECT_EQ(sent, back);
    const RankSchedule root = down.ranks[0].view(), joined = up.ranks[0].view();
    const auto first = root.sends(root.stages[0]), last = joined.receives(joined.stages[0]);
    ASSERT_EQ(first.size(), last.size());
    for (std::size_t i = 0; i < first.size(); ++i) EXPECT_EQ(Rank{first[i].peer}, Rank{last[last.size() - 1 - i].peer});
  }
}

TEST(Divide, OneHalfIsAScatterAndOneAMulticast) {
  for (unsigned n = 0; n <= 6; ++n) {
    const Rank ranks = Rank{1} << n;
    OperationShape scatter{.operation = Operation::kScatter, .ranks = ranks, .total_bytes = 8};
    scatter.choice = {Algorithm::kTrees, TreeKind::kBinomial};
    EXPECT_EQ(edges_of(schedule_of(shape_of(Operation::kDivide, ranks, ranks, 5000))), edges_of(schedule_of(scatter)));
    for (const Edge& edge : edges_of(schedule_of(shape_of(Operation::kDivide, ranks, 100, 10'000))))
      EXPECT_EQ(edge.count, 100u);
  }
}

// The last rank waits for a message of each phase, one after the other, and nobody else longer; a conquer is that in
// reverse: n (s + l + o) + (c + d) L sum alpha^i, D11's sum with b = c + d.
TEST(Divide, D11PredictedTimesAreTheClosedForm) {
  for (const Ports ports : {Ports::kShared, Ports::kIndependent}) {
    const CostModel m{
        .send = 27, .latency = 5, .occupancy = 88, .send_per_byte = 2, .occupancy_per_byte = 3, .ports = ports};
    for (unsigned n = 0; n <= 6; ++n)
      for (const std::uint64_t tenths : {3, 5, 7, 10}) {
        std::uint64_t elements = 1, sum = 0;
        for (unsigned i = 0; i < n; ++i) elements *= 10;
        std::uint64_t share = elements;
        for (unsigned i = 1; i <= n; ++i) share = share / 10 * tenths, sum += share;
        const std::uint64_t expected = n * (27 + 5 + 88) + (2 + 3) * 8 * sum;
        for (const Operation operation : kBoth) {
          const auto alpha = static_cast<std::uint16_t>(tenths * 1000);
          const auto p = predict(schedule_of(shape_of(operation, Rank{1} << n, elements, alpha)), m);
          ASSERT_TRUE(p);
          EXPECT_EQ(p->completion, expected) << operation_name(operation) << " n " << n << " alpha " << alpha;
          EXPECT_EQ(p->rounds, n);
        }
      }
  }
}

TEST(Divide, NoScheduleIsFasterThanItsBounds) {
  const CostModel machines[] = {
      {27, 61, 27, 1, 2, Ports::kShared}, {5, 0, 4, 3, 1, Ports::kIndependent}, {1, 0, 0, 1, 0}};
  for (const CostModel& m : machines)
    for (const Operation operation : kBoth)
      for (const std::uint16_t alpha : kAlphas)
        for (const Rank ranks : {1u, 2u, 3u, 7u, 8u, 19u, 33u})
          for (const std::uint64_t elements : {0ull, 1ull, 1000ull}) {
            const OperationShape shape = shape_of(operation, ranks, elements, alpha);
            const LowerBound bound = strongest_bound(shape, m, {});
            EXPECT_GE(predict(schedule_of(shape), m)->completion, bound.ticks)
                << operation_name(operation) << " p " << ranks << " alpha " << alpha << ": " << bound.formula;
          }
}

// Between two ranks the bound is the time.
TEST(Divide, TwoRanksMeetTheirBound) {
  const CostModel m{.send = 27, .latency = 5, .occupancy = 88, .send_per_byte = 2};
  for (const std::uint16_t alpha : kAlphas) {
    const OperationShape shape = shape_of(Operation::kDivide, 2, 10'000, alpha);
    EXPECT_EQ(strongest_bound(shape, m, {}).ticks, 27 + 5 + 88 + 2 * 8 * std::uint64_t{alpha});
    EXPECT_EQ(predict(schedule_of(shape), m)->completion, strongest_bound(shape, m, {}).ticks);
  }
}

TEST(Divide, TheValidatorSeesWhatIsWrong) {
  Schedule stored = schedule_of(shape_of(Operation::kConquer, 4, 10, 7000));
  for (Transfer& t : stored.ranks[0].transfers) t.on_receive = OnReceive::kStore;
  EXPECT_NE(validate(stored).message.find("another block"), std::string::npos);
  Schedule longer = schedule_of(shape_of(Operation::kDivide, 2, 10, 7000));
  longer.ranks[0].transfers[0].first_block = 0;
  EXPECT_FALSE(validate(longer).ok);
  Schedule lost = schedule_of(shape_of(Operation::kConquer, 2, 10, 5000));
  lost.ranks[0].transfers[0].blocks = lost.ranks[1].transfers[0].blocks = 4;
  EXPECT_NE(validate(lost).message.find("element 9"), std::string::npos) << validate(lost).message;
}

TEST(Divide, TheTextFormKeepsShareAndType) {
  for (const Operation operation : kBoth) {
    const Schedule schedule = schedule_of(shape_of(operation, 5, 20, 7000));
    std::string error;
    const auto read = parse_schedule(to_text(schedule), error);
    ASSERT_TRUE(read) << error;
    EXPECT_EQ(to_text(*read), to_text(schedule));
    EXPECT_TRUE(validate(*read).ok);
  }
}

TEST(Divide, WhatCannotBeIsOneSentence) {
  OperationShape shape = shape_of(Operation::kDivide, 4, 1, 5000);
  shape.total_bytes = 12;
  EXPECT_NE(objection(shape).find("whole elements"), std::string::npos);
  shape.total_bytes = std::uint64_t{8} << 32;
  EXPECT_NE(objection(shape).find("too many"), std::string::npos);
  EXPECT_FALSE(is_possible(shape));
  EXPECT_FALSE(build_rank_part(Plan{}, shape, 0));
  shape = shape_of(Operation::kConquer, 4, 8, 7000);
  EXPECT_EQ(objection(shape), "");
  shape.op = CombineOperator::kNone;
  EXPECT_NE(objection(shape).find("needs an operator"), std::string::npos);
  shape.choice.parameter = 5000;
  EXPECT_EQ(objection(shape), "");  // nothing overlaps
  shape.op = CombineOperator::kAnd, shape.type = ElementType::kDouble;
  EXPECT_NE(objection(shape).find("not defined"), std::string::npos);
  std::string error;
  for (const char* wrong : {"share:0", "share:1.5", "share:0.12345", "share:", "share:x"}) {
    EXPECT_FALSE(choose_algorithm(Operation::kDivide, wrong, error)) << wrong;
    EXPECT_NE(error.find("at most 4 decimals"), std::string::npos) << error;
  }
  EXPECT_EQ(choose_algorithm(Operation::kConquer, "share", error)->parameter, 5000);
  EXPECT_FALSE(choose_algorithm(Operation::kScatter, "share:0.5", error));
  for (const std::uint16_t parts : {0, 10'001}) {
    shape = shape_of(Operation::kDivide, 4, 8, parts);
    EXPECT_FALSE(is_possible(shape)) << parts;
  }
}

}  // namespace
}  // namespace fibocast
