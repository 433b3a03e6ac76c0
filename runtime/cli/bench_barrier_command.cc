#include <algorithm>
#include <chrono>
#include <iostream>

#include "runtime/cli/bench_cluster.h"
#include "runtime/cli/bench_raw.h"
#include "runtime/cli/commands.h"

namespace fibocast {
namespace {

struct BarrierBench {
  std::string dir, socket, raw;
  std::uint32_t repetitions = 1000;
  std::uint32_t warmup = 10;
};

struct Samples {
  std::vector<Nanoseconds> total;    // from the first call to the last return, as the clients see it
  std::vector<Nanoseconds> network;  // from the last arrival to the last activation, as the daemons see it
};

Nanoseconds percentile(std::vector<Nanoseconds>& sorted, std::size_t percent) {
  return sorted[std::min(sorted.size() - 1, sorted.size() * percent / 100)];
}

Status measure(BenchCluster& cluster, const BarrierBench& bench, RawValues& raw, Samples& samples) {
  auto members = cluster.open_group("all");
  if (!members.ok()) return members.status();
  for (std::uint32_t i = 0; i < bench.warmup + bench.repetitions; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    const auto outcomes = cluster.barrier(*members, std::chrono::seconds(30), {});
    const std::chrono::nanoseconds total = std::chrono::steady_clock::now() - begin;
    if (Status status = worst_of(outcomes); !status.ok()) return status;
    if (i < bench.warmup) continue;
    Nanoseconds arrived = 0, activated = 0;
    for (const Outcome& outcome : outcomes) {
      arrived = std::max(arrived, outcome.arrived_at);
      activated = std::max(activated, outcome.activated_at);
    }
    samples.total.push_back(total.count());
    samples.network.push_back(activated - arrived);
    raw.write({{"repetition", i - bench.warmup}, {"measured_ns", total.count()}, {"network_ns", activated - arrived}});
  }
  return {};
}

int bench(const Command& command, const BarrierBench& options) {
  BenchCluster cluster;
  Samples samples;
  RawValues raw;
  Status status = raw.open(options.raw);
  if (status.ok()) status = cluster.connect(options.dir, options.socket);
  if (status.ok()) status = measure(cluster, options, raw, samples);
  if (!status.ok()) return report(command, status);
  std::sort(samples.total.begin(), samples.total.end());
  std::sort(samples.network.begin(), samples.network.end());
  const Json json{{"operation", "barrier"},
                  {"ranks", cluster.size()},
                  {"repetitions", options.repetitions},
                  {"median_ns", percentile(samples.total, 50)},
                  {"p99_ns", percentile(samples.total, 99)},
                  {"network_median_ns", percentile(samples.network, 50)},
                  {"network_p99_ns", percentile(samples.network, 99)}};
  if (command.json)
    print_json(json);
  else
    std::cout << options.repetitions << " barriers of " << cluster.size() << " daemons: median "
              << percentile(samples.total, 50) / 1000 << " us, 99 % below " << percentile(samples.total, 99) / 1000
              << " us; from the last arrival to the last activation: median " << percentile(samples.network, 50) / 1000
              << " us" << std::endl;
  return 0;
}

}  // namespace

void add_bench_barrier_command(CLI::App& parent, Command& command) {
  auto options = std::make_shared<BarrierBench>();
  CLI::App* sub = add_subcommand(parent, command, "barrier", "A loop of barriers of the whole local cluster",
                                 "fibocast bench barrier --repetitions 10000",
                                 [&command, options] { return bench(command, *options); });
  sub->add_option("--repetitions", options->repetitions, "barriers that are measured")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  sub->add_option("--warmup", options->warmup, "barriers before")->capture_default_str();
  add_raw_option(*sub, options->raw);
  add_cluster_options(*sub, options->dir, options->socket);
}

}  // namespace fibocast
