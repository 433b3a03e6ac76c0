#include "runtime/daemon/metrics/metrics_text.h"

#include <map>

#include "collectives/algorithm_catalog.h"
#include "collectives/schedule.h"

namespace fibocast {
namespace {

using Metrics = OperationMetrics;

std::string operation_text(Operation operation) { return std::string(operation_name(operation)); }

void add_operations(const Metrics& metrics, MetricFamilies& out) {
  out.histograms("operation_duration_seconds",
                 "Calls that ended well, from the call of the application to its end, waiting for others included.");
  for (const auto& [key, histogram] : metrics.series().entries())
    out.add(histogram,
            {{"operation", operation_text(key.operation)}, {"algorithm", algorithm_name(key.operation, key.choice)}});
  out.counters("operations_total", "Calls of local applications that have ended, by their outcome.");
  for (std::size_t i = 1; i <= kOperations; ++i)
    for (std::size_t v = 1; v < Metrics::kVerdicts; ++v) {
      const auto operation = static_cast<Operation>(i);
      const auto verdict = static_cast<Verdict>(v);
      // Barriers and what went well are there from the start, so that a rate has a beginning.
      const std::uint64_t ended = metrics.ended(operation, verdict);
      if (ended > 0 || verdict == Verdict::kOk || operation == Operation::kBarrier)
        out.add(static_cast<double>(ended),
                {{"operation", operation_text(operation)}, {"outcome", outcome_name(verdict)}});
    }
  out.counters("operations_untracked_total", "Calls that ended well and found no row in the bounded tables.");
  out.add(static_cast<double>(metrics.untracked()));
}

void add_peaks(const Metrics::Peaks& peaks, const client::NodeStatus& status, std::uint64_t payload_limit,
               MetricFamilies& out) {
  out.gauges("peak_requests", "Most requests under way at once, as seen when calls begin.");
  out.add(peaks.requests);
  out.gauges("peak_operations", "Most generations open at once, as seen when calls begin.");
  out.add(peaks.operations);
  out.gauges("peak_buffers", "Most payload buffers in use at once, as seen when calls begin.");
  out.add(peaks.buffers);
  out.gauges("payload_bytes", "Memory of payloads in use.");
  out.add(static_cast<double>(status.payload_bytes_used()));
  out.gauges("payload_peak_bytes", "Most memory of payloads in use at once, as seen when calls begin and end.");
  out.add(static_cast<double>(peaks.payload_bytes));
  out.gauges("payload_limit_bytes", "What payloads may use: limits.payload_bytes.");
  out.add(static_cast<double>(payload_limit));
}

void add_links(const client::NodeStatus& status, MetricFamilies& out) {
  std::map<std::string, std::uint32_t> links = {
      {"connected", 0}, {"connecting", 0}, {"lost", 0}, {"refused", 0}, {"closed", 0}};
  for (const client::PeerStatus& peer : status.peers()) ++links[peer.state()];
  out.gauges("links", "Links to the other daemons, by state.");
  for (const auto& [state, count] : links) out.add(count, {{"state", state}});
  out.gauges("cluster_nodes", "Daemons that the cluster should have.");
  out.add(status.size());
  out.gauges("peers_connected", "Other daemons that are connected.");
  out.add(status.connected());
  out.gauges("clients", "Local applications that are connected.");
  out.add(static_cast<double>(status.clients()));
}

template <class Value>
void add_of_groups(const client::NodeStatus& status, MetricFamilies& out, Value value) {
  std::size_t shown = 0;
  for (const client::Group& group : status.groups())
    if (shown++ < metrics_limits::kShownGroups) out.add(value(group), {{"group", group.name()}});
}

void add_groups(const client::NodeStatus& status, MetricFamilies& out) {
  out.gauges("group_members", "Members of the group.");
  add_of_groups(status, out, [](const client::Group& group) { return group.size(); });
  out.gauges("group_live_members", "Members that the group goes on with.");
  add_of_groups(status, out, [](const client::Group& group) { return group.live(); });
  out.counters("group_generations_total", "Operations of the group that are over at this node.");
  add_of_groups(status, out, [](const client::Group& group) { return group.next_generation(); });
}

template <class Value>
void add_of_stragglers(const client::NodeStatus& status, MetricFamilies& out, Value value) {
  std::size_t shown = 0;
  for (const client::Group& group : status.groups()) {
    if (shown++ == metrics_limits::kShownGroups) return;
    for (const client::SlowRank& row : group.slowest())
      out.add(value(row), {{"group", group.name()}, {"rank", std::to_string(row.rank())}});
  }
}

// The node's own table, which has at most limits.slowest_ranks rows for each group. A rank that has dropped out of it
// and comes back counts from 0 again, which rate() takes for a restart.
void add_stragglers(const client::NodeStatus& status, MetricFamilies& out) {
  out.counters("straggler_barriers_total", "Barriers to which the rank came last, of the slowest ranks of the group.");
  add_of_stragglers(status, out, [](const client::SlowRank& row) { return row.times(); });
  out.counters("straggler_seconds_total", "How much later than the others it came, all together.");
  add_of_stragglers(status, out, [](const client::SlowRank& row) { return static_cast<double>(row.total_ns()) / 1e9; });
}

MetricLabels labels_of(std::string_view group, const Metrics::RowKey& key) {
  return {{"group", std::string(group)},
          {"operation", operation_text(key.operation)},
          {"size", size_class_name(key.size_class)}};
}

void add_predictions(const MetricsSources& sources, MetricFamilies& out) {
  struct Pair {
    MetricLabels labels;
    double measured, predicted;
  };
  std::vector<Pair> pairs;
  sources.predictions.begin_answer();
  const Node& node = sources.host.node();
  std::map<GroupId, Node::GroupInfo> groups;
  for (std::uint32_t i = 0; i < node.group_count(); ++i) groups.emplace(node.group_info(i).id, node.group_info(i));
  for (const auto& [key, row] : sources.operations.rows().entries()) {
    const auto group = groups.find(key.group);
    if (group == groups.end() || row.recent_used == 0) continue;
    const auto predicted = sources.predictions.of(group->second, key.operation, row);
    pairs.push_back({labels_of(group->second.name, key), row.recent_median() / 1e6,
                     predicted ? static_cast<double>(*predicted) / 1e9 : 0});
  }
  out.gauges("group_operation_measured_seconds",
             "Median of the last operations, without the wait for a straggler as far as it is known.");
  for (const Pair& pair : pairs) out.add(pair.measured, pair.labels);
  out.gauges("group_operation_predicted_seconds", "What the model predicts for the last one of them.");
  for (const Pair& pair : pairs)
    if (pair.predicted > 0) out.add(pair.predicted, pair.labels);
}

void add_identity(const client::NodeStatus& status, MetricFamilies& out) {
  out.gauges("build_info", "1; the labels say what runs.");
  out.add(1, {{"version", status.version()},
              {"cluster", status.cluster()},
              {"rank", std::to_string(status.rank())},
              {"transport", status.transport()}});
}

}  // namespace

const char* outcome_name(Verdict verdict) {
  switch (verdict) {
    case Verdict::kPending: return "pending";
    case Verdict::kOk: return "ok";
    case Verdict::kDeadlineExceeded: return "deadline_exceeded";
    case Verdict::kPeerLost: return "peer_lost";
    case Verdict::kCancelled: return "cancelled";
    case Verdict::kMismatch: return "mismatch";
    case Verdict::kStale: return "stale";
    case Verdict::kRefused: return "refused";
    case Verdict::kPartitioned: return "partitioned";
    case Verdict::kCallerLost: return "caller_lost";
  }
  return "unknown";
}

const char* size_class_name(std::size_t size_class) {
  constexpr const char* kNames[kSizeClasses] = {"1k", "64k", "large"};
  return size_class < kSizeClasses ? kNames[size_class] : "large";
}

std::string metrics_text(const MetricsSources& sources) {
  client::NodeStatus status;
  sources.fill_status(status);
  MetricFamilies out;
  add_identity(status, out);
  add_operations(sources.operations, out);
  add_predictions(sources, out);
  add_stragglers(status, out);
  add_groups(status, out);
  add_links(status, out);
  add_peaks(sources.operations.peaks(), status, sources.settings.limits.payload_bytes, out);
  add_status_counters(status, out);
  add_process(sources.started_at, out);
  return out.text();
}

}  // namespace fibocast
