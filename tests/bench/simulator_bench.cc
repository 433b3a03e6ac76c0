// How fast the multicomputer runs on one core. The targets: 3 million events per second in barriers on the ideal
// machine, a multicast to a million ranks in 2 s and 1 GiB (`peak_MiB`, of the whole program so far), a barrier of
// 10,000 ranks in 0.2 s. Whole nodes have none: they must be affordable up to 10,000. Building the schedules counts,
// but in `barrier_events`.
#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <numeric>

#include "collectives/cost_model.h"
#include "firmware_sim/full_nodes.h"
#include "firmware_sim/multicomputer.h"
#include "firmware_sim/networks/ideal_network.h"

namespace fibocast {
namespace {

constexpr CostModel kManna{.send = 27'000, .latency = 0, .occupancy = 88'000};

double peak_mib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

void simulate(benchmark::State& state, const OperationShape& shape) {
  const Workload workload = workload_of(fibo_plan(kManna), shape);
  std::uint64_t events = 0;
  std::string error;
  for (auto _ : state) {
    IdealNetwork network(shape.ranks, kManna.latency);
    const auto run = simulate_machine(workload, {.kinds = {{kManna.send, kManna.occupancy}}}, network, {}, error);
    if (!run) return state.SkipWithError(error.c_str());
    events += run->events;
  }
  state.counters["events_per_second"] = benchmark::Counter(static_cast<double>(events), benchmark::Counter::kIsRate);
  state.counters["peak_MiB"] = peak_mib();
}

// The events alone, along the same tree.
void barrier_events(benchmark::State& state) {
  const OperationShape shape{.ranks = static_cast<Rank>(state.range(0)), .choice = {Algorithm::kTrees}};
  const auto programs = RankPrograms::build(workload_of(fibo_plan(kManna), shape));
  std::uint64_t events = 0;
  std::string error;
  for (auto _ : state) {
    IdealNetwork network(shape.ranks, kManna.latency);
    const auto run =
        simulate_programs(shape, *programs, {.kinds = {{kManna.send, kManna.occupancy}}}, network, {}, error);
    if (!run) return state.SkipWithError(error.c_str());
    events += run->events;
  }
  state.counters["events_per_second"] = benchmark::Counter(static_cast<double>(events), benchmark::Counter::kIsRate);
}

// Whole nodes, with a first run that makes their channels.
void full_nodes(benchmark::State& state) {
  const OperationShape shape{.ranks = static_cast<Rank>(state.range(0)), .choice = {Algorithm::kTrees}};
  FullNodesQuestion question{.plan = fibo_plan(kManna), .shape = shape, .nodes = {.kinds = {{27, 88}}}, .node_of = {}};
  question.node_of.resize(shape.ranks);
  std::iota(question.node_of.begin(), question.node_of.end(), 0);
  std::string error;
  for (auto _ : state) {
    IdealNetwork network(shape.ranks, 0);
    if (!simulate_full_nodes(question, network, error)) return state.SkipWithError(error.c_str());
  }
  state.counters["peak_MiB"] = peak_mib();
}

void barrier(benchmark::State& state) { simulate(state, {.ranks = static_cast<Rank>(state.range(0))}); }
void multicast(benchmark::State& state) {
  simulate(state, {.operation = Operation::kMulticast, .ranks = static_cast<Rank>(state.range(0))});
}
void binomial_barrier(benchmark::State& state) {
  simulate(state, {.ranks = static_cast<Rank>(state.range(0)), .choice = {Algorithm::kTrees, TreeKind::kBinomial}});
}
void dissemination(benchmark::State& state) {
  simulate(state, {.ranks = static_cast<Rank>(state.range(0)), .choice = {Algorithm::kDissemination, {}, 2}});
}

BENCHMARK(barrier_events)->Arg(1000)->Arg(10'000)->Arg(100'000)->Unit(benchmark::kMillisecond);
BENCHMARK(full_nodes)->Arg(1000)->Arg(10'000)->Unit(benchmark::kMillisecond);
BENCHMARK(barrier)->Arg(1000)->Arg(10'000)->Arg(100'000)->Unit(benchmark::kMillisecond);
BENCHMARK(binomial_barrier)->Arg(1000)->Arg(10'000)->Arg(100'000)->Unit(benchmark::kMillisecond);
BENCHMARK(dissemination)->Arg(1000)->Arg(10'000)->Unit(benchmark::kMillisecond);
BENCHMARK(multicast)->Arg(1'000'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace fibocast
