#include "runtime/cli/distribution_bench.h"

#include <unistd.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "runtime/cli/bench_repetition.h"

namespace fibocast {
namespace {

constexpr std::size_t kCasesAtATime = 60;  // of up to two groups: a daemon knows at most 128

struct Repetition {
  std::size_t case_index;
  std::uint32_t number;  // counted from 0 without the warm-up
  bool warmup;
};

std::string group_name(std::size_t case_index) {
  return "bench-" + std::to_string(getpid()) + "-" + std::to_string(case_index);
}

class DistributionBench {
 public:
  DistributionBench(BenchCluster& cluster, const std::vector<BenchCase>& cases, const BenchPlan& plan,
                    const OnMeasurement& on_measurement)
      : cluster_(cluster), cases_(cases), plan_(plan), on_measurement_(on_measurement), random_(plan.seed) {
    for (const BenchCase& c : cases_) all_ += c.repetitions;
  }

  Status run() {
    for (std::size_t first = 0; first < cases_.size(); first += kCasesAtATime) {
      const std::size_t end = std::min(first + kCasesAtATime, cases_.size());
      Status status = run_batch(first, end);
      for (const std::string& name : created_) cluster_.remove_group(name);
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
    for (const Repetition& repetition : in_order(first, end))
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
    if (Status status = create(request, groups_[c].members); !status.ok()) return status;
    if (cases_[c].mode != BenchMode::kAnswer) return {};
    GroupRequest answer;
    answer.name = request.name + "-answer";
    answer.nodes = {0, cases_[c].ranks - 1};
    return create(answer, groups_[c].answer);
  }

  Status create(const GroupRequest& request, BenchCluster::Members& made) {
    auto members = cluster_.create_group(request);
    if (!members.ok()) return members.status();
    created_.push_back(request.name);
    made = *members;
    return {};
  }

  std::vector<Repetition> in_order(std::size_t first, std::size_t end) {
    std::vector<Repetition> order;
    for (std::size_t c = first; c < end; ++c)
      for (std::uint32_t i = 0; i < cases_[c].repetitions; ++i) order.push_back({c, i, false});
    if (plan_.shuffled) std::shuffle(order.begin(), order.end(), random_);
    std::vector<Repetition> warmup;
    for (std::size_t c = first; c < end; ++c) warmup.insert(warmup.end(), plan_.warmup, {c, 0, true});
    order.insert(order.begin(), warmup.begin(), warmup.end());
    return order;
  }

  Status run_one(const Repetition& repetition) {
    const std::size_t c = repetition.case_index;
    auto timed = run_repetition(cluster_, cases_[c], groups_[c], plan_.deadline);
    if (!timed.ok()) return timed.status();
    if (repetition.warmup) return {};
    const Measurement taken{c, repetition.number, done_, timed->measured, timed->lateness};
    on_measurement_(taken, ++done_, all_);
    return {};
  }

  BenchCluster& cluster_;
  const std::vector<BenchCase>& cases_;
  const BenchPlan& plan_;
  const OnMeasurement& on_measurement_;
  std::mt19937_64 random_;
  std::vector<BenchGroups> groups_;  // by case
  std::vector<std::string> created_;
  std::uint32_t done_ = 0;
  std::size_t all_ = 0;
};

}  // namespace

Status run_distribution_bench(BenchCluster& cluster, const std::vector<BenchCase>& cases, const BenchPlan& plan,
                              const OnMeasurement& on_measurement) {
  return DistributionBench(cluster, cases, plan, on_measurement).run();
}

}  // namespace fibocast
