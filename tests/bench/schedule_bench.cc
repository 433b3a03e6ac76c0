// How long it takes to plan: one rank's own schedule in a large group, and a whole tree. The targets, for a million
// ranks: 5 us and 1 KiB for a rank, 50 ms for the tree. Each schedule is also compared in the same run, as the counter
// `tree_by_this`, with the whole tree: how often a rank could plan in the time of building that.
#include <benchmark/benchmark.h>

#include <array>
#include <chrono>
#include <random>
#include <vector>

#include "collectives/plan.h"
#include "collectives/tree_fibo.h"
#include "collectives/tree_view.h"

namespace fibocast {
namespace {

constexpr Rank kMillion = 1'000'000;

// s and r: the paper's ratio, MANNA as it was measured, and two with a unit of a nanosecond and no common divisor.
struct Latencies {
  std::uint64_t s, r;
};
constexpr std::array<Latencies, 4> kLatencies = {{{1, 3}, {27, 88}, {3137, 9413}, {27000, 88001}}};

void with_latencies(benchmark::internal::Benchmark* b) {
  b->ArgName("latencies")->DenseRange(0, kLatencies.size() - 1);
}

Latencies latencies(benchmark::State& state) {
  const Latencies l = kLatencies[static_cast<std::size_t>(state.range(0))];
  state.SetLabel("s " + std::to_string(l.s) + ", r " + std::to_string(l.r));
  return l;
}

Plan plan_for(const Latencies& l) {
  Plan plan;
  plan.distribution = {.s = l.s, .r = l.r};
  plan.reduction = mirror(plan.distribution);
  return plan;
}

std::vector<Rank> some_ranks(Rank ranks) {
  std::mt19937 random(1);
  std::vector<Rank> some(1024);
  for (Rank& rank : some) rank = static_cast<Rank>(random() % ranks);
  return some;
}

// One rank's schedule in memory of the caller, as a node builds it.
class Workplace {
 public:
  std::size_t build(const Plan& plan, const OperationShape& shape, Rank me) {
    ScheduleWriter out(stages_, transfers_);
    if (!build_rank_schedule(plan, shape, me, out)) std::abort();
    const RankSchedule schedule = out.schedule();
    return schedule.stages.size_bytes() + schedule.transfers.size_bytes();
  }

 private:
  std::array<Stage, 8> stages_;
  std::array<Transfer, 768> transfers_;
};

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double seconds_of_a_tree(const Latencies& l) {
  const auto start = std::chrono::steady_clock::now();
  benchmark::DoNotOptimize(tree_fibo(kMillion, l.s, l.r).size());
  return seconds_since(start);
}

// Schedules of ranks all over the group, one after the other; `bytes` is the mean size of one.
void own_schedule(benchmark::State& state, Operation operation, Rank ranks) {
  const Latencies l = latencies(state);
  const Plan plan = plan_for(l);
  const OperationShape shape{.operation = operation, .ranks = ranks};
  const std::vector<Rank> some = some_ranks(ranks);
  Workplace place;
  std::size_t next = 0;
  double bytes = 0;
  const auto start = std::chrono::steady_clock::now();
  for (auto _ : state) bytes += static_cast<double>(place.build(plan, shape, some[next++ % some.size()]));
  const auto built = static_cast<double>(state.iterations());
  state.counters["bytes"] = bytes / built;
  const double each = seconds_since(start) / built;
  state.counters["tree_by_this"] = seconds_of_a_tree(l) / each;
}

void barrier_of_a_rank(benchmark::State& state) { own_schedule(state, Operation::kBarrier, kMillion); }
void multicast_of_a_rank(benchmark::State& state) { own_schedule(state, Operation::kMulticast, kMillion); }
void barrier_of_a_rank_in_1e9(benchmark::State& state) { own_schedule(state, Operation::kBarrier, 1000 * kMillion); }

// The root has more children than anybody.
void barrier_of_the_root(benchmark::State& state) {
  const Plan plan = plan_for(latencies(state));
  Workplace place;
  std::size_t bytes = 0;
  for (auto _ : state) bytes = place.build(plan, {.ranks = kMillion}, 0);
  state.counters["bytes"] = static_cast<double>(bytes);
}

void whole_tree(benchmark::State& state) {
  const Latencies l = latencies(state);
  for (auto _ : state) benchmark::DoNotOptimize(tree_fibo(kMillion, l.s, l.r).size());
}

BENCHMARK(barrier_of_a_rank)->Apply(with_latencies)->Unit(benchmark::kMicrosecond);
BENCHMARK(multicast_of_a_rank)->Apply(with_latencies)->Unit(benchmark::kMicrosecond);
BENCHMARK(barrier_of_the_root)->Apply(with_latencies)->Unit(benchmark::kMicrosecond);
BENCHMARK(barrier_of_a_rank_in_1e9)->Apply(with_latencies)->Unit(benchmark::kMicrosecond);
BENCHMARK(whole_tree)->Apply(with_latencies)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace fibocast
