// predict() gives what the papers derive on paper: each test is a statement of our notes, by its number there.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <string>
#include <vector>

#include "collectives/algorithm_catalog.h"
#include "collectives/exchange_steps.h"
#include "collectives/predict.h"
#include "collectives/tree_view.h"
#include "tests/collectives/golden.h"
#include "tests/collectives/machines.h"

namespace fibocast {
namespace {

using test::kBothPorts;

constexpr LatencyRatio kRatios[] = {{1, 3}, {1, 1}, {27, 88}, {20, 4}, {3, 1}};

// All of r occupies the receiver (A30), or all of it is wire: the postal model.
CostModel occupied(const LatencyRatio& l, Ports ports) {
  return {.send = l.s, .latency = 0, .occupancy = l.r, .ports = ports};
}
CostModel postal(const LatencyRatio& l) {
  return {.send = l.s, .latency = l.r, .occupancy = 0, .ports = Ports::kIndependent};
}

OperationShape shape_of(Operation operation, Rank ranks, const std::string& algorithm, std::uint64_t bytes = 0) {
  std::string error;
  OperationShape shape{.operation = operation, .ranks = ranks, .total_bytes = bytes};
  shape.choice = choose_algorithm(operation, algorithm, error).value();
  if (combines(operation)) shape.type = ElementType::kInt64, shape.op = CombineOperator::kSum;
  return shape;
}

// Both trees are those for the model.
std::uint64_t predicted(const OperationShape& shape, const CostModel& model) {
  return predict(build_schedule(fibo_plan(model), shape).value(), model).value().completion;
}

std::uint64_t shortest(Rank ranks, std::uint64_t s, std::uint64_t r) {
  return static_cast<std::uint64_t>(distribution_latency(ranks, s, r));
}

std::uint64_t ceil_log(std::uint64_t base, std::uint64_t p) {
  std::uint64_t rounds = 0;
  for (std::uint64_t reached = 1; reached < p; reached *= base) ++rounds;
  return rounds;
}

TEST(ClosedForms, A19SequentialMulticast) {
  for (const LatencyRatio& l : kRatios)
    for (const Ports ports : kBothPorts)
      for (Rank p = 2; p <= 100; ++p)
        EXPECT_EQ(predicted(shape_of(Operation::kMulticast, p, "sequential"), occupied(l, ports)), (p - 1) * l.s + l.r);
  EXPECT_EQ(predicted(shape_of(Operation::kMulticast, 1, "sequential"), occupied({1, 3}, Ports::kShared)), 0u);
}

TEST(ClosedForms, A20CompleteTreesInHeapOrder) {
  for (const LatencyRatio& l : kRatios)
    for (const Ports ports : kBothPorts)
      for (const std::uint64_t n : {1, 2, 3, 8}) {
        std::uint64_t p = 1, row = 1;
        for (std::uint64_t levels = 0; p <= 1000 && levels < 30; ++levels, row *= n, p += row)
          EXPECT_EQ(predicted(shape_of(Operation::kMulticast, static_cast<Rank>(p), "kary:" + std::to_string(n)),
                              occupied(l, ports)),
                    levels * (n * l.s + l.r));
      }
}

TEST(ClosedForms, A21BinomialMulticast) {
  for (const LatencyRatio& l : kRatios)
    for (const Ports ports : kBothPorts)
      for (Rank levels = 0; levels <= 10; ++levels)
        EXPECT_EQ(predicted(shape_of(Operation::kMulticast, Rank{1} << levels, "binomial"), occupied(l, ports)),
                  levels * (l.s + l.r));
  EXPECT_EQ(predicted(shape_of(Operation::kMulticast, 19, "binomial"), occupied({27, 88}, Ports::kShared)), 460u);
}

TEST(ClosedForms, A6FiboMulticastsTakeT) {
  for (const LatencyRatio& l : kRatios)
    for (const Ports ports : kBothPorts)
      for (Rank p = 1; p <= 200; ++p)
        ASSERT_EQ(predicted(shape_of(Operation::kMulticast, p, "fibo"), occupied(l, ports)), shortest(p, l.s, l.r));
}

// Reducing along the mirror tree takes T with s and r exchanged, and no other tree is faster.
TEST(ClosedForms, A30ReductionsAndBarriers) {
  for (const LatencyRatio& l : kRatios)
    for (const Ports ports : kBothPorts)
      for (Rank p = 1; p <= 100; ++p) {
        const CostModel model = occupied(l, ports);
        const std::uint64_t up = shortest(p, l.r, l.s), down = shortest(p, l.s, l.r);
        ASSERT_EQ(predicted(shape_of(Operation::kReduce, p, "fibo"), model), up);
        ASSERT_EQ(predicted(shape_of(Operation::kBarrier, p, "fibo"), model), up + down);
        ASSERT_EQ(predicted(shape_of(Operation::kAllreduce, p, "fibo"), model), up + down);
        for (const char* other : {"binomial", "sequential", "kary:2", "kary:4"})
          ASSERT_GE(predicted(shape_of(Operation::kReduce, p, other), model), up) << other;
      }
  EXPECT_EQ(predicted(shape_of(Operation::kBarrier, 19, "fibo"), occupied({27, 88}, Ports::kShared)), 805u);
  EXPECT_EQ(predicted(shape_of(Operation::kBarrier, 19, "binomial"), occupied({27, 88}, Ports::kShared)), 954u);
}

// A distribution sees l + o only; a fan-in queues for o, so that the reduction's mirror tree is that of (o, s + l).
TEST(ClosedForms, A31WireAndOccupancy) {
  for (const Ports ports : kBothPorts)
    for (std::uint64_t o = 1; o <= 88; o += 29)
      for (Rank p = 2; p <= 100; ++p) {
        const CostModel model{.send = 27, .latency = 88 - o, .occupancy = o, .ports = ports};
        const std::uint64_t up = shortest(p, o, 27 + 88 - o);
        ASSERT_EQ(predicted(shape_of(Operation::kMulticast, p, "fibo"), model), shortest(p, 27, 88));
        ASSERT_EQ(predicted(shape_of(Operation::kReduce, p, "sequential"), model), 27 + (88 - o) + (p - 1) * o);
        ASSERT_EQ(predicted(shape_of(Operation::kReduce, p, "fibo"), model), up);
        ASSERT_EQ(predicted(shape_of(Operation::kBarrier, p, "fibo"), model), up + shortest(p, 27, 88));
      }
}

// T_fibo(s, r, p) = s T_lambda(p), lambda = 1 + r / s; the golden T_lambda are in ticks of 1 / s.
TEST(ClosedForms, F1FiboAndPostalTimes) {
  for (const auto& entry : test::golden("postal.json", "T")) {
    const LatencyRatio l = latencies_of_lambda(test::rational(entry["lam"])).value();
    for (std::size_t i = 0; i < entry["n"].size(); ++i) {
      const Rank n = entry["n"][i];
      if (n > 1000) continue;
      const std::uint64_t ticks = entry["T_ticks"][i];
      EXPECT_EQ(predicted(shape_of(Operation::kMulticast, n, "fibo"), postal({l.s, l.r})), ticks);
      for (const Ports ports : kBothPorts)
        EXPECT_EQ(predicted(shape_of(Operation::kMulticast, n, "fibo"), occupied({7 * l.s, 7 * l.r}, ports)),
                  7 * ticks);
    }
  }
}

TEST(ClosedForms, F4PostalCombineTakesAsManyRoundsAsABroadcast) {
  for (std::uint64_t lambda = 1; lambda <= 8; ++lambda)
    for (Rank n = 1; n <= 64; n += FIBOCAST_SANITIZED ? 5 : 1)
      for (const char* algorithm : {"combine_delay_receive", "combine_delay_send", "combine_eager"})
        for (const Operation operation : {Operation::kBarrier, Operation::kAllreduce})
          ASSERT_EQ(predicted(shape_of(operation, n, algorithm), postal({1, lambda - 1})), shortest(n, 1, lambda - 1))
              << lambda << ' ' << n << ' ' << algorithm;
}

// lambda = a / b as a cost model whose ticks are short enough that a round of delay-send is a whole number of them.
struct Rounds {
  std::uint64_t floor, ceil;  // of lambda
  LatencyRatio ticks;
};
Rounds rounds_of(const Rational& lambda) {
  const LatencyRatio l = latencies_of_lambda(lambda).value();
  const std::uint64_t floor = (l.s + l.r) / l.s;
  return {floor, (l.s + l.r + l.s - 1) / l.s, {l.s * floor, l.r * floor}};
}

constexpr const char* kLambdaTexts[] = {"1", "1.44", "1.5", "2", "2.5", "2.7", "3", "9/5"};

// T' = T of lambda rounded up; T'' = lambda / m times T of m, lambda rounded down.
TEST(ClosedForms, B26B27BothDelays) {
  for (const char* lambda : kLambdaTexts) {
    const Rounds l = rounds_of(parse_quantity(lambda)->value);
    for (Rank n = 1; n <= 64; ++n) {
      const std::uint64_t receive = l.ticks.s * shortest(n, 1, l.ceil - 1);
      const std::uint64_t send = (l.ticks.s + l.ticks.r) / l.floor * shortest(n, 1, l.floor - 1);
      const auto barrier = [&](const char* algorithm) {
        return predicted(shape_of(Operation::kBarrier, n, algorithm), postal(l.ticks));
      };
      ASSERT_EQ(barrier("combine_delay_receive"), receive) << lambda << ' ' << n;
      ASSERT_EQ(barrier("combine_delay_send"), send) << lambda << ' ' << n;
      ASSERT_LE(barrier("combine_eager"), std::min(receive, send)) << lambda << ' ' << n;
      ASSERT_GE(barrier("combine_eager"), shortest(n, l.ticks.s, l.ticks.r)) << lambda << ' ' << n;
    }
  }
}

TEST(ClosedForms, B30GoldenTimesOfBothDelays) {
  for (const auto& entry : test::golden("postal.json", "noninteger")) {
    const Rank n = entry["n"];
    if (n > 100) continue;
    const Rounds l = rounds_of(test::rational(entry["lam"]));
    const Rational unit(l.ticks.s);
    const auto barrier = [&](const char* algorithm) {
      return Rational(predicted(shape_of(Operation::kBarrier, n, algorithm), postal(l.ticks))) / unit;
    };
    EXPECT_EQ(barrier("combine_delay_receive"), test::rational(entry["T_recv"]));
    EXPECT_EQ(barrier("combine_delay_send"), test::rational(entry["T_send"]));
  }
}

// 2 (p - 1) steps, in each of which everybody sends one block on.
TEST(ClosedForms, RingAllreduce) {
  for (const LatencyRatio& l : kRatios)
    for (const Rank p : {2u, 3u, 4u, 5u, 7u, 8u, 13u, 16u, 31u, 64u, 100u})
      for (const Ports ports : kBothPorts)
        ASSERT_EQ(predicted(shape_of(Operation::kAllreduce, p, "ring"), occupied(l, ports)), 2 * (p - 1) * (l.s + l.r));
}

TEST(ClosedForms, RingAllreduceSendsEveryByteAlmostTwice) {
  CostModel model = postal({10, 5});
  model.send_per_byte = 3;
  for (const Rank p : {2u, 5u, 16u})
    EXPECT_EQ(predicted(shape_of(Operation::kAllreduce, p, "ring", 80 * p), model), 2 * (p - 1) * (10 + 80 * 3 + 5));
}

TEST(ClosedForms, BruckRounds) {
  for (const LatencyRatio& l : kRatios)
    for (Rank p = 1; p <= 130; ++p)
      for (const Operation operation : {Operation::kAllgather, Operation::kAlltoall})
        ASSERT_EQ(predicted(shape_of(operation, p, "bruck"), postal(l)), ceil_log(2, p) * (l.s + l.r)) << p;
}

// ceil(log_k p) rounds; a round takes as many sends as there are distances j k^i below p.
TEST(ClosedForms, DisseminationRounds) {
  for (const std::uint64_t k : {2, 3, 4, 7})
    for (Rank p = 1; p <= 130; ++p) {
      std::uint64_t sends = 0;
      for (std::uint64_t step = 1; step < p; step *= k) sends += std::min<std::uint64_t>(k - 1, (p - 1) / step);
      const OperationShape shape = shape_of(Operation::kBarrier, p, "dissemination:" + std::to_string(k));
      const Schedule schedule = build_schedule({}, shape).value();
      ASSERT_EQ(schedule.ranks[0].stages.size(), 1 + ceil_log(k, p));
      ASSERT_EQ(predict(schedule, postal({27, 88}))->completion, sends * 27 + ceil_log(k, p) * 88) << k << ' ' << p;
    }
}

TEST(ClosedForms, SequentialScatterAndGather) {
  constexpr std::uint64_t kBytes = 1000, kSent = 27 + 2 * kBytes, kReceived = 58 + 3 * kBytes;
  for (const Ports ports : kBothPorts)
    for (Rank p = 2; p <= 60; ++p) {
      CostModel model{.send = 27, .latency = 30, .occupancy = 58, .send_per_byte = 2, .occupancy_per_byte = 3};
      model.ports = ports;
      ASSERT_EQ(predicted(shape_of(Operation::kScatter, p, "sequential", kBytes), model),
                (p - 1) * kSent + 30 + kReceived);
      ASSERT_EQ(predicted(shape_of(Operation::kGather, p, "sequential", kBytes), model),
                kSent + 30 + (p - 1) * kReceived);
    }
}

// The k-th message of a rank is sent at k s and comes p - 1 - k messages before the last: the slower port decides.
TEST(ClosedForms, PairwiseAlltoall) {
  for (const LatencyRatio& l : {LatencyRatio{27, 88}, {88, 27}, {1, 0}})
    for (Rank p = 2; p <= 60; ++p)
      ASSERT_EQ(predicted(shape_of(Operation::kAlltoall, p, "pairwise"), occupied(l, Ports::kIndependent)),
                l.s + l.r + (p - 2) * std::max(l.s, l.r));
}

std::vector<Nanoseconds> starts_of_sends(const RankPart& part) {
  std::vector<Nanoseconds> starts;
  for (const Stage& stage : part.stages)
    if (stage.sends > 0) starts.push_back(stage.not_before);
  return starts;
}

// A stage carries the time of its step, (step - 1) s, so that no two packets need one link at a time.
TEST(ClosedForms, E11E12E16PhasedExchangesKeepTheSteps) {
  const std::pair<const char*, ExchangeKind> kinds[] = {{"phased_constant", ExchangeKind::kConstant},
                                                        {"phased_exponential", ExchangeKind::kExponential},
                                                        {"phased_xor", ExchangeKind::kExponentialXor}};
  for (const auto& [name, kind] : kinds)
    for (Rank n = 2; n <= 64; n *= 2) {
      const Schedule schedule =
          build_schedule(fibo_plan(postal({27, 88})), shape_of(Operation::kAlltoall, n, name)).value();
      std::uint32_t last = 0;
      for (Rank me = 0; me < n; ++me) {
        std::vector<Nanoseconds> expected;
        for (std::uint32_t i = 0; i < exchange_step_count(kind, n); ++i) {
          const std::uint32_t step = exchange_step(kind, n, me, i).step;
          expected.push_back((step - 1) * Nanoseconds{27});
          last = std::max(last, step);
        }
        ASSERT_EQ(starts_of_sends(schedule.ranks[me]), expected) << name << ' ' << me;
      }
      EXPECT_EQ(predict(schedule, postal({27, 88}))->completion, last * 27u + 88) << name << ' ' << n;
    }
}

// The last packets of both go to the next leaf, which has them one step later: (n^2 - 1) / 3 + 2 L - 1 and n + 2 L - 2.
TEST(ClosedForms, E13StepsOfTheTotalExchange) {
  for (Rank levels = 1; levels <= 6; ++levels) {
    const Rank n = Rank{1} << levels;
    EXPECT_EQ(predicted(shape_of(Operation::kAlltoall, n, "phased_constant"), postal({1, 1})),
              (std::uint64_t{n} * n - 1) / 3 + 2 * levels - 1);
    EXPECT_EQ(predicted(shape_of(Operation::kAlltoall, n, "phased_exponential"), postal({1, 1})), n + 2 * levels - 2);
  }
}

TEST(ClosedForms, E6GatherDepartures) {
  for (const auto& entry : test::golden("fattree.json", "gather")) {
    if (entry["dst"] != 0) continue;
    const Rank n = entry["n"];
    const Schedule schedule =
        build_schedule(fibo_plan(postal({27, 88})), shape_of(Operation::kGather, n, "furthest_first")).value();
    for (Rank leaf = 1; leaf < n; ++leaf)
      EXPECT_EQ(starts_of_sends(schedule.ranks[leaf]),
                std::vector<Nanoseconds>{(entry["depart"][leaf].get<Nanoseconds>() - 1) * 27});
  }
}

}  // namespace
}  // namespace fibocast
