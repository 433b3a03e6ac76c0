#include "runtime/cli/calibration/host_fit.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "collectives/predict_hosts.h"

namespace fibocast {
namespace {

constexpr int kResamplesOfFit = 40;
constexpr double kFirstStep = 2, kLastStep = 1.03;  // factors by which a cost is tried larger and smaller
constexpr double kStepAgain = 1.2;                  // ... when only the sample is another

enum Cost : std::size_t { kWake, kSend, kOccupancy, kLatency, kPerByte, kCosts };
using Costs5 = std::array<double, kCosts>;
constexpr Costs5 kStart = {20'000, 5'000, 5'000, 5'000, 1};  // ns

// Per-byte costs are no whole numbers of ns: times are in thousandths.
constexpr double kTicks = 1000;

CostModel model_of_costs(const Costs5& costs) {
  const auto ticks = [](double ns) { return static_cast<std::uint64_t>(std::llround(ns * kTicks)); };
  CostModel model;
  model.wake = ticks(costs[kWake]);
  model.send = ticks(costs[kSend]);
  model.occupancy = ticks(costs[kOccupancy]);
  model.latency = ticks(costs[kLatency]);
  model.send_per_byte = model.occupancy_per_byte = ticks(costs[kPerByte] / 2);
  return model;
}

class HostSearch {
 public:
  HostSearch(std::span<const HostExperiment> experiments, const HostSharing& hosts)
      : experiments_(experiments), hosts_(hosts) {}

  // The mean of |log(predicted / measured)|: one experiment that a busy host disturbed does not draw all costs to it.
  // Those of a few nodes count less: it is whole groups that are planned for.
  double error(const Costs5& costs, std::span<const double> measured) const {
    const CostModel model = model_of_costs(costs);
    double sum = 0, weights = 0;
    for (std::size_t i = 0; i < experiments_.size(); ++i) {
      const auto predicted = predict_on_hosts(experiments_[i].schedule, model, hosts_);
      const double ratio = predicted ? static_cast<double>(*predicted) / kTicks / measured[i] : 0;
      const auto weight = static_cast<double>(experiments_[i].schedule.ranks.size());
      sum += weight * (ratio > 0 ? std::abs(std::log(ratio)) : 100);
      weights += weight;
    }
    return sum / weights;
  }

  // One cost after the other larger and smaller as long as that helps, then in finer steps (pattern search, Hooke and
  // Jeeves 1961).
  Costs5 best(Costs5 costs, double step, std::span<const double> measured) const {
    double least = error(costs, measured);
    while (step > kLastStep) {
      bool better = false;
      for (std::size_t i = 0; i < kCosts; ++i)
        for (const double factor : {step, 1 / step}) {
          Costs5 tried = costs;
          tried[i] *= factor;
          const double of_tried = error(tried, measured);
          if (of_tried < least) least = of_tried, costs = tried, better = true;
        }
      if (!better) step = std::sqrt(step);
    }
    return costs;
  }

 private:
  std::span<const HostExperiment> experiments_;
  HostSharing hosts_;
};

std::vector<double> medians(std::span<const Sample> samples) {
  std::vector<double> out;
  for (const Sample& sample : samples) out.push_back(median(sample));
  return out;
}

}  // namespace

HostFit fit_host(std::span<const HostExperiment> experiments, Rank colocated) {
  std::vector<Sample> samples;
  for (const HostExperiment& experiment : experiments) samples.push_back(experiment.taken);
  const std::vector<double> measured = medians(samples);
  HostFit fit;
  Costs5 costs = kStart;
  double least = HUGE_VAL;
  for (std::uint32_t processors = 1; processors <= colocated; processors *= 2) {
    const HostSearch search(experiments, {.nodes = colocated, .processors = processors});
    const Costs5 found = search.best(kStart, kFirstStep, measured);
    const double error = search.error(found, measured);
    if (error >= least) break;
    least = error, costs = found, fit.processors = processors;
  }
  fit.error = least;
  const HostSearch search(experiments, {.nodes = colocated, .processors = fit.processors});
  const auto costs_of = [&](std::span<const Sample> drawn) {
    const Costs5 found = search.best(costs, kStepAgain, medians(drawn));
    return std::vector<double>(found.begin(), found.end());
  };
  const std::vector<Estimate> e = estimates(samples, costs_of, kResamplesOfFit);
  fit.wake = e[kWake], fit.send = e[kSend], fit.occupancy = e[kOccupancy], fit.latency = e[kLatency];
  fit.per_byte = e[kPerByte];
  return fit;
}

}  // namespace fibocast
