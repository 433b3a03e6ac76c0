// Metrics of one answer in Prometheus' text format: made, written, thrown away. The values are kept elsewhere, so there
// is no registry that would have to follow them.
#pragma once

#include <prometheus/metric_family.h>

#include <string>
#include <vector>

#include "runtime/daemon/metrics/latency_histogram.h"

namespace fibocast {

using MetricLabels = std::vector<prometheus::ClientMetric::Label>;

class MetricFamilies {
 public:
  // The family that the next values belong to. Names begin with fibocast_, which is put before `name`.
  void counters(const std::string& name, const std::string& help);
  void gauges(const std::string& name, const std::string& help);
  void histograms(const std::string& name, const std::string& help);
  // A value of it, of the kind of the family.
  void add(double value, MetricLabels labels = {});
  void add(const LatencyHistogram& histogram, MetricLabels labels);
  // All of them; families without a value are left out.
  std::string text() const;

 private:
  void begin(const std::string& name, const std::string& help, prometheus::MetricType type);
  std::vector<prometheus::MetricFamily> families_;
};

}  // namespace fibocast
