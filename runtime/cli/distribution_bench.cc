#include "runtime/cli/distribution_bench.h"

#include <unistd.h>

#include <algorithm>
#include <numeric>
#include <random>

namespace fibocast {
namespace {

constexpr std::size_t kGroupsAtATime = 100;    // a daemon knows at most 128
constexpr std::chrono::milliseconds kLead{5};  // until T0: all members have called by then

struct Repetition {
  std::size_t case_index;
  std::uint32_t number;  // counted from 0 without the warm-up
  bool warmup;
};

std::string group_name(std::size_t case_index) {
  return "bench-" + std::to_string(getpid()) + "-" + std::to_string(case_index);
}

Nanoseconds clock_now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

Nanoseconds last_activation(const std::vector<Outcome>& outcomes) {
  Nanoseconds last = 0;
  for (const Outcome& outcome : outcomes) last = std::max(last, outcome.activated_at);
  return last;
}

Nanoseconds largest_lateness(const std::vector<Outcome>& outcomes) {
  Nanoseconds largest = 0;
  for (const Outcome& outcome : outcomes) largest = std::max(largest, outcome.lateness);
  return largest;
}

class DistributionBench {
 public:
  DistributionBench(BenchCluster& cluster, const std::vector<BenchCase>& cases, const BenchPlan& plan,
                    const OnMeasurement& on_measurement)
      : cluster_(cluster), cases_(cases), plan_(plan), on_measurement_(on_measurement), random_(plan.seed) {
    for (const BenchCase& c : cases_) all_ += c.repetitions;
  }

  Status run() {
    for (std::size_t first = 0; first < cases_.size(); first += kGroupsAtATime) {
      const std::size_t end = std::min(first + kGroupsAtATime, cases_.size());
      Status status = run_batch(first, end);
      for (const std::size_t c : created_) cluster_.remove_group(group_name(c));
      created_.clear();
      if (!status.ok()) return status;
    }
    return {};
  }

 private:
  Status run_batch(std::size_t first, std::size_t end) {
    groups_.assign(cases_.size(), {});
    for (std::size_t c = first; c < end; ++c)
      if (Status status = create_group(c); !status.ok()) return status;
    for (const Repetition& repetition : shuffled(first, end))
      if (Status status = run_one(repetition); !status.ok()) return status;
    return {};
  }

  Status create_group(std::size_t c) {
    if (cases_[c].ranks > cluster_.size())
      return {Code::kInvalid,
              "p = " + std::to_string(cases_[c].ranks) + ", but the cluster has only " +
                  std::to_string(cluster_.size()) + " daemons",
              {}};
    GroupRequest request;
    request.name = group_name(c);
    request.nodes.resize(cases_[c].ranks);
    std::iota(request.nodes.begin(), request.nodes.end(), 0);
    request.tree = cases_[c].tree;
    if (!request.tree) request.distribution = cases_[c].distribution;
    request.reduction = cases_[c].reduction;
    auto members = cluster_.create_group(request);
    if (!members.ok()) return members.status();
    created_.push_back(c);
    groups_[c] = *members;
    return {};
  }

  std::vector<Repetition> shuffled(std::size_t first, std::size_t end) {
    std::vector<Repetition> order;
    for (std::size_t c = first; c < end; ++c)
      for (std::uint32_t i = 0; i < cases_[c].repetitions; ++i) order.push_back({c, i, false});
    std::shuffle(order.begin(), order.end(), random_);
    std::vector<Repetition> warmup;
    for (std::size_t c = first; c < end; ++c) warmup.insert(warmup.end(), plan_.warmup, {c, 0, true});
    order.insert(order.begin(), warmup.begin(), warmup.end());
    return order;
  }

  // All members meet in a barrier that the emulated network lets pass free; then comes what is measured.
  Status run_one(const Repetition& repetition) {
    BenchCluster::Members& members = groups_[repetition.case_index];
    OperationOptions uncharged;
    uncharged.charged = false;
    if (Status status = worst_of(cluster_.barrier(members, plan_.deadline, uncharged)); !status.ok()) return status;
    const bool barrier = cases_[repetition.case_index].mode == BenchMode::kBarrier;
    OperationOptions charged;
    if (barrier) charged.not_before = clock_now() + std::chrono::nanoseconds(kLead).count();
    const auto outcomes = barrier ? cluster_.barrier(members, plan_.deadline, charged)
                                  : cluster_.run(members, [&](BenchCluster::Member& member, auto done) {
                                      member.group.async_multicast(0, {}, plan_.deadline, std::move(done), charged);
                                    });
    if (Status status = worst_of(outcomes); !status.ok()) return status;
    if (repetition.warmup) return {};
    const Nanoseconds begin = barrier ? charged.not_before : outcomes.front().first_send_at;
    const Measurement taken{repetition.case_index, repetition.number, done_, last_activation(outcomes) - begin,
                            largest_lateness(outcomes)};
    on_measurement_(taken, ++done_, all_);
    return {};
  }

  BenchCluster& cluster_;
  const std::vector<BenchCase>& cases_;
  const BenchPlan& plan_;
  const OnMeasurement& on_measurement_;
  std::mt19937_64 random_;
  std::vector<BenchCluster::Members> groups_;  // by case
  std::vector<std::size_t> created_;
  std::uint32_t done_ = 0;
  std::size_t all_ = 0;
};

}  // namespace

Status run_distribution_bench(BenchCluster& cluster, const std::vector<BenchCase>& cases, const BenchPlan& plan,
                              const OnMeasurement& on_measurement) {
  return DistributionBench(cluster, cases, plan, on_measurement).run();
}

}  // namespace fibocast
