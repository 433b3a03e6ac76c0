#include "runtime/cli/calibration/estimate.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

namespace fibocast {
namespace {

constexpr int kResamples = 300;
constexpr double kTail = 0.025;      // at each end
constexpr double kFar = 5 * 1.4826;  // 1.4826 MAD are one standard deviation of a normal distribution

double quantile(const Sample& sorted, double share) {
  return sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1) + 0.5)];
}

}  // namespace

double median(Sample values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

double middle_mean(Sample values) {
  std::ranges::sort(values);
  const auto quarter = static_cast<std::ptrdiff_t>(values.size() / 4);
  const double sum = std::accumulate(values.begin() + quarter, values.end() - quarter, 0.0);
  return sum / static_cast<double>(values.size() - 2 * static_cast<std::size_t>(quarter));
}

std::vector<Estimate> estimates(std::span<const Sample> samples,
                                const std::function<std::vector<double>(std::span<const Sample>)>& statistics,
                                int resamples) {
  std::mt19937 random(1);
  std::vector<Sample> drawn(samples.begin(), samples.end());
  const std::vector<double> values = statistics(samples);
  std::vector<Sample> again(values.size());
  for (int i = 0; i < resamples; ++i) {
    for (std::size_t s = 0; s < samples.size(); ++s)
      for (double& value : drawn[s]) value = samples[s][random() % samples[s].size()];
    const std::vector<double> of_drawn = statistics(drawn);
    for (std::size_t v = 0; v < values.size(); ++v) again[v].push_back(of_drawn[v]);
  }
  std::vector<Estimate> out;
  for (std::size_t v = 0; v < values.size(); ++v) {
    std::ranges::sort(again[v]);
    out.push_back({values[v], quantile(again[v], kTail), quantile(again[v], 1 - kTail)});
  }
  return out;
}

Estimate estimate(std::span<const Sample> samples, const Statistic& statistic) {
  return estimates(
             samples, [&](std::span<const Sample> drawn) { return std::vector<double>{statistic(drawn)}; }, kResamples)
      .front();
}

Estimate median_estimate(const Sample& sample) {
  return estimate({&sample, 1}, [](std::span<const Sample> drawn) { return median(drawn[0]); });
}

std::size_t outliers(const Sample& sample) {
  if (sample.empty()) return 0;
  const double middle = median(sample);
  Sample distances;
  for (const double value : sample) distances.push_back(std::abs(value - middle));
  const double far = kFar * median(distances);
  return static_cast<std::size_t>(std::ranges::count_if(distances, [&](double d) { return far > 0 && d > far; }));
}

Line line_through(std::span<const double> x, std::span<const Sample> samples) {
  Sample y, slopes, intercepts;
  for (const Sample& sample : samples) y.push_back(median(sample));
  for (std::size_t i = 0; i < y.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (x[i] != x[j]) slopes.push_back((y[i] - y[j]) / (x[i] - x[j]));
  Line line;
  line.slope = median(slopes);
  for (std::size_t i = 0; i < y.size(); ++i) intercepts.push_back(y[i] - line.slope * x[i]);
  line.intercept = median(intercepts);
  return line;
}

}  // namespace fibocast
