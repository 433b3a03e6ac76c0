#include "runtime/cli/bench_loop.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iostream>
#include <random>

#include "runtime/cli/bench_prediction.h"
#include "runtime/cli/bench_raw.h"

namespace fibocast {
namespace {

struct Samples {
  std::vector<Nanoseconds> total;    // from the first call to the last return, as the clients see it
  std::vector<Nanoseconds> network;  // to the last activation, as the daemons see it
};

Nanoseconds percentile(const std::vector<Nanoseconds>& sorted, std::size_t percent) {
  return sorted[std::min(sorted.size() - 1, sorted.size() * percent / 100)];
}

Nanoseconds network_time(const std::vector<Outcome>& outcomes, bool one_way) {
  Nanoseconds begin = 0, end = 0;
  for (const Outcome& outcome : outcomes) {
    begin = std::max(begin, one_way ? 0 : outcome.arrived_at);
    end = std::max(end, outcome.activated_at);
  }
  if (!one_way) return end - begin;
  for (const Outcome& outcome : outcomes)
    if (outcome.first_send_at != 0 && (begin == 0 || outcome.first_send_at < begin)) begin = outcome.first_send_at;
  return begin == 0 ? 0 : end - begin;  // a root alone sends nothing
}

class LoopRun {
 public:
  LoopRun(const BenchLoop& loop, LoopedOperation& operation) : loop_(loop), operation_(operation), random_(loop.seed) {}

  Status run() {
    if (Status status = raw_.open(loop_.raw); !status.ok()) return status;
    if (Status status = cluster_.connect(loop_.dir, loop_.socket); !status.ok()) return status;
    if (Status status = open_group(); !status.ok()) return status;
    for (std::uint32_t i = 0; i < loop_.warmup + loop_.repetitions; ++i)
      if (Status status = repeat(i); !status.ok()) return status;
    if (Status status = raw_.status(); !status.ok()) return status;
    std::sort(samples_.total.begin(), samples_.total.end());
    std::sort(samples_.network.begin(), samples_.network.end());
    return {};
  }

  std::size_t ranks() const { return members_.size(); }
  const Samples& samples() const { return samples_; }

 private:
  Status open_group() {
    auto members = cluster_.open_group(loop_.group);
    if (!members.ok()) return members.status();
    members_ = std::move(*members);
    if (const auto participants = members_.front().group.info().participants; participants > 1)
      return invalid("group '" + loop_.group + "' has " + std::to_string(participants) +
                     " participants at each node, and bench is one; name a group of one each");
    return {};
  }

  Status repeat(std::uint32_t i) {
    operation_.prepare(i, static_cast<Rank>(members_.size()));
    if (loop_.order == "shuffled") std::shuffle(members_.begin(), members_.end(), random_);
    const auto begin = std::chrono::steady_clock::now();
    const auto outcomes = cluster_.run(
        members_, [this](BenchCluster::Member& member, auto done) { operation_.start(member, std::move(done)); });
    const std::chrono::nanoseconds total = std::chrono::steady_clock::now() - begin;
    if (Status status = worst_of(outcomes); !status.ok()) return status;
    if (Status status = check(i, outcomes); !status.ok()) return status;
    if (i < loop_.warmup) return {};
    const Nanoseconds network = network_time(outcomes, operation_.is_one_way());
    samples_.total.push_back(total.count());
    samples_.network.push_back(network);
    raw_.write({{"repetition", i - loop_.warmup}, {"measured_ns", total.count()}, {"network_ns", network}});
    return {};
  }

  Status check(std::uint32_t i, const std::vector<Outcome>& outcomes) const {
    for (std::size_t member = 0; member < outcomes.size(); ++member) {
      Status status = operation_.check(members_[member].group.rank(), outcomes[member]);
      if (status.ok()) continue;
      status.sentence = operation_.name() + " " + std::to_string(i) + " of seed " + std::to_string(loop_.seed) + ": " +
                        status.sentence + "; keep what `fibocast trace` shows and report it";
      return status;
    }
    return {};
  }

  const BenchLoop& loop_;
  LoopedOperation& operation_;
  std::mt19937_64 random_;
  RawValues raw_;
  BenchCluster cluster_;
  BenchCluster::Members members_;
  Samples samples_;
};

Json to_json(const BenchLoop& loop, const LoopedOperation& operation, const LoopRun& run, double scale) {
  Json json{{"operation", operation.name()}, {"ranks", run.ranks()}};
  json.update(operation.details());
  json.update({{"repetitions", loop.repetitions},
               {"seed", loop.seed},
               {"scale", scale},
               {"median_ns", percentile(run.samples().total, 50)},
               {"p99_ns", percentile(run.samples().total, 99)},
               {"network_median_ns", percentile(run.samples().network, 50)},
               {"network_p99_ns", percentile(run.samples().network, 99)}});
  return json;
}

void print(const BenchLoop& loop, const LoopedOperation& operation, const LoopRun& run, double scale) {
  const Samples& samples = run.samples();
  const Nanoseconds network = percentile(samples.network, 50);
  std::cout << loop.repetitions << " " << operation.plural() << " of " << run.ranks() << " daemons: median "
            << percentile(samples.total, 50) / 1000 << " us, 99 % below " << percentile(samples.total, 99) / 1000
            << " us; from the " << (operation.is_one_way() ? "first send" : "last arrival")
            << " to the last activation: median " << network / 1000 << " us";
  if (scale != 1)
    std::cout << ", which is " << std::llround(static_cast<double>(network) / scale) / 1000
              << " us on the machine, emulated " << scale << " times slower";
  std::cout << std::endl;
}

}  // namespace

void add_bench_loop_options(CLI::App& app, BenchLoop& loop, const std::string& what) {
  app.add_option("name", loop.group, "a group of one participant at each node; one that nobody created is all nodes")
      ->capture_default_str();
  app.add_option("--repetitions", loop.repetitions, what + " that are measured")
      ->check(positive_number())
      ->capture_default_str();
  app.add_option("--warmup", loop.warmup, what + " before")->capture_default_str();
  app.add_option("--order", loop.order, "in which the ranks call: given: from the first on, or shuffled each time")
      ->check(CLI::IsMember({"given", "shuffled"}))
      ->capture_default_str();
  app.add_option("--seed", loop.seed, "of the shuffled order and of contents")->capture_default_str();
  add_scale_option(app, loop.scale);
  add_raw_option(app, loop.raw);
  add_cluster_options(app, loop.dir, loop.socket);
}

int run_bench_loop(const Command& command, const BenchLoop& loop, LoopedOperation& operation) {
  LoopRun run(loop, operation);
  if (const Status status = run.run(); !status.ok()) return report(command, status);
  const double scale = emulation_of(loop.dir, loop.socket, loop.scale).scale;
  if (command.json)
    print_json(to_json(loop, operation, run, scale));
  else
    print(loop, operation, run, scale);
  return 0;
}

}  // namespace fibocast
