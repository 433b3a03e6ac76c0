// The answer to GET /metrics.
#pragma once

#include <string>

#include "runtime/daemon/metrics/metric_families.h"
#include "runtime/daemon/metrics/metrics_sources.h"

namespace fibocast {

// In Prometheus' text format.
std::string metrics_text(const MetricsSources& sources);

// metrics_counters.cc: what the node, its channels, its transport and its clients have counted, as in `fibocast
// status`.
void add_status_counters(const client::NodeStatus& status, MetricFamilies& out);
// The process itself: processor time, memory, how often it was woken.
void add_process(double started_at, MetricFamilies& out);

}  // namespace fibocast
