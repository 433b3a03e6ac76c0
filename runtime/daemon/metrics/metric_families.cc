#include "runtime/daemon/metrics/metric_families.h"

#include <prometheus/text_serializer.h>

#include <limits>
#include <sstream>
#include <utility>

namespace fibocast {
namespace {

constexpr double kNsPerSecond = 1e9;

}  // namespace

void MetricFamilies::begin(const std::string& name, const std::string& help, prometheus::MetricType type) {
  families_.push_back({"fibocast_" + name, help, type, {}});
}

void MetricFamilies::counters(const std::string& name, const std::string& help) {
  begin(name, help, prometheus::MetricType::Counter);
}
void MetricFamilies::gauges(const std::string& name, const std::string& help) {
  begin(name, help, prometheus::MetricType::Gauge);
}
void MetricFamilies::histograms(const std::string& name, const std::string& help) {
  begin(name, help, prometheus::MetricType::Histogram);
}

void MetricFamilies::add(double value, MetricLabels labels) {
  prometheus::ClientMetric& metric = families_.back().metric.emplace_back();
  metric.label = std::move(labels);
  metric.counter.value = metric.gauge.value = value;
}

// Every other bound, which are the powers of two: who needs more looks at the status page.
void MetricFamilies::add(const LatencyHistogram& histogram, MetricLabels labels) {
  prometheus::ClientMetric& metric = families_.back().metric.emplace_back();
  metric.label = std::move(labels);
  metric.histogram.sample_count = histogram.count();
  metric.histogram.sample_sum = static_cast<double>(histogram.sum()) / kNsPerSecond;
  std::uint64_t cumulative = 0;
  for (std::size_t i = 0; i + 1 < LatencyHistogram::kBuckets; ++i) {
    cumulative += histogram.in_bucket(i);
    if (i % 2 == 0)
      metric.histogram.bucket.push_back(
          {cumulative, static_cast<double>(LatencyHistogram::upper_bound(i)) / kNsPerSecond});
  }
  metric.histogram.bucket.push_back({histogram.count(), std::numeric_limits<double>::infinity()});
}

std::string MetricFamilies::text() const {
  auto families = families_;
  std::erase_if(families, [](const prometheus::MetricFamily& family) { return family.metric.empty(); });
  std::ostringstream out;
  prometheus::TextSerializer().Serialize(out, families);
  return std::move(out).str();
}

}  // namespace fibocast
