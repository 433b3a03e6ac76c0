// What an answer over HTTP is made of: the node, its counters, what was recorded.
#pragma once

#include <functional>

#include "runtime/daemon/metrics/operation_metrics.h"
#include "runtime/daemon/metrics/operation_prediction.h"
#include "runtime/daemon/node_host.h"
#include "runtime/daemon/settings.h"
#include "runtime/wire/client.pb.h"

namespace fibocast {

struct MetricsSources {
  NodeHost& host;
  const Settings& settings;  // as they are now
  const OperationMetrics& operations;
  OperationPredictions& predictions;
  std::function<void(client::NodeStatus&)> fill_status;
  double started_at = 0;  // Unix time, seconds
};

// "ok", "deadline_exceeded", ...: an operation's outcome in metrics and on the page.
const char* outcome_name(Verdict verdict);
// "1k", "64k", "large": data up to 1 KiB, up to 64 KiB, above (plan.h).
const char* size_class_name(std::size_t size_class);

}  // namespace fibocast
