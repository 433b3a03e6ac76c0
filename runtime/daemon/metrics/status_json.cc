#include "runtime/daemon/metrics/status_json.h"

#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "collectives/algorithm_catalog.h"
#include "collectives/schedule.h"

namespace fibocast {
namespace {

using PageJson = nlohmann::ordered_json;

constexpr std::size_t kGroupsWithTrees = 32;

// Two decimals.
double to_us(Nanoseconds time) {
  const Nanoseconds hundredths = time / 10;
  return static_cast<double>(hundredths) / 100;
}

std::string text_of(const PageJson& json) { return json.dump(-1, ' ', false, PageJson::error_handler_t::replace); }

PageJson peer_json(const client::PeerStatus& peer) {
  return {{"rank", peer.rank()},        {"address", peer.address()},
          {"state", peer.state()},      {"round_trip_us", to_us(peer.round_trip_ns())},
          {"sent", peer.frames_sent()}, {"received", peer.frames_received()},
          {"resends", peer.resends()},  {"duplicates", peer.duplicates()},
          {"restarts", peer.restarts()}};
}

PageJson recent_json(const OperationMetrics::Row& row) {
  PageJson recent = PageJson::array();  // oldest first
  for (std::uint32_t i = 0; i < row.recent_used; ++i) {
    const std::size_t at = (row.recent_next + row.recent.size() - row.recent_used + i) % row.recent.size();
    recent.push_back(static_cast<double>(std::llround(row.recent[at] * 10)) / 10);
  }
  return recent;
}

PageJson row_json(const OperationMetrics::RowKey& key, const OperationMetrics::Row& row,
                  std::optional<Nanoseconds> predicted) {
  PageJson json = {{"operation", operation_name(key.operation)},
                   {"algorithm", algorithm_name(key.operation, row.choice)},
                   {"size", size_class_name(key.size_class)},
                   {"bytes", row.bytes},
                   {"count", row.calls},
                   {"p50_us", to_us(row.network.quantile(0.5))},
                   {"p99_us", to_us(row.network.quantile(0.99))},
                   {"recent_us", recent_json(row)},
                   {"recent_median_us", std::llround(row.recent_median() * 10) / 10.0}};
  if (predicted) json["predicted_us"] = to_us(*predicted);
  return json;
}

PageJson slowest_json(const client::Group& group) {
  PageJson slowest = PageJson::array();
  for (const client::SlowRank& row : group.slowest())
    slowest.push_back({{"rank", row.rank()},
                       {"times", row.times()},
                       {"total_us", to_us(row.total_ns())},
                       {"largest_us", to_us(row.largest_ns())}});
  return slowest;
}

PageJson operations_json(const MetricsSources& sources, const Node::GroupInfo& info) {
  PageJson operations = PageJson::array();
  for (const auto& [key, row] : sources.operations.rows().entries())
    if (key.group == info.id)
      operations.push_back(row_json(key, row, sources.predictions.of(info, key.operation, row)));
  return operations;
}

// `group` and `info` are the same group.
PageJson group_json(const MetricsSources& sources, const client::Group& group, const Node::GroupInfo& info,
                    bool with_trees) {
  PageJson json = {{"name", group.name()},           {"rank", group.rank()},
                   {"members", group.ranks()},       {"participants", group.participants()},
                   {"routers", group.routers()},     {"policy", group.policy()},
                   {"epoch", group.epoch()},         {"live", group.live()},
                   {"outside", group.outside()},     {"generations", group.next_generation()},
                   {"slowest", slowest_json(group)}, {"operations", operations_json(sources, info)}};
  if (with_trees) json["plan"] = group_plan_json(info);
  return json;
}

PageJson groups_json(const MetricsSources& sources, const client::NodeStatus& status) {
  PageJson groups = PageJson::array();
  sources.predictions.begin_answer();
  const Node& node = sources.host.node();
  const auto count = std::min<std::size_t>(status.groups_size(), metrics_limits::kShownGroups);
  for (std::size_t i = 0; i < count && i < node.group_count(); ++i)
    groups.push_back(group_json(sources, status.groups(static_cast<int>(i)), node.group_info(i), i < kGroupsWithTrees));
  return groups;
}

PageJson ended_json(const OperationMetrics& metrics) {
  std::map<std::string, std::uint64_t> outcomes;
  for (std::size_t i = 1; i <= kOperations; ++i)
    for (std::size_t v = 1; v < OperationMetrics::kVerdicts; ++v)
      if (const auto n = metrics.ended(static_cast<Operation>(i), static_cast<Verdict>(v)))
        outcomes[outcome_name(static_cast<Verdict>(v))] += n;
  return outcomes;
}

PageJson process_json() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto us = [](const timeval& time) { return time.tv_sec * 1'000'000 + time.tv_usec; };
  return {{"cpu_us", us(usage.ru_utime) + us(usage.ru_stime)}, {"wakeups", usage.ru_nvcsw}};
}

}  // namespace

std::string status_json(const MetricsSources& sources) {
  client::NodeStatus status;
  sources.fill_status(status);
  const OperationMetrics::Peaks& peaks = sources.operations.peaks();
  PageJson json = {{"time", std::time(nullptr)},
                   {"started_at", sources.started_at},
                   {"rank", status.rank()},
                   {"size", status.size()},
                   {"cluster", status.cluster()},
                   {"address", sources.settings.cluster.nodes[status.rank()]},
                   {"transport", status.transport()},
                   {"version", status.version()},
                   {"pid", status.pid()},
                   {"security", status.security()},
                   {"emulated", nic_settings(sources.settings).enabled},
                   {"connected", status.connected()},
                   {"clients", status.clients()},
                   {"ended", ended_json(sources.operations)},
                   {"payload",
                    {{"used", status.payload_bytes_used()},
                     {"peak", peaks.payload_bytes},
                     {"limit", sources.settings.limits.payload_bytes}}},
                   {"peak_requests", peaks.requests},
                   {"process", process_json()}};
  json["peers"] = PageJson::array();
  for (const client::PeerStatus& peer : status.peers()) json["peers"].push_back(peer_json(peer));
  json["groups"] = groups_json(sources, status);
  json["counters"] = std::map<std::string, std::uint64_t>(status.counters().begin(), status.counters().end());
  return text_of(json);
}

nlohmann::ordered_json cluster_node_json(const client::NodeStatus& status, const std::string& address) {
  std::string links(status.size(), '-');
  std::vector<std::int64_t> round_trips(status.size(), 0);
  for (const client::PeerStatus& peer : status.peers()) {
    if (peer.rank() >= links.size()) continue;
    // connected, n: connecting, lost, refused; -: closed, or the node itself
    links[peer.rank()] = peer.state() == "connecting" ? 'n' : peer.state() == "closed" ? '-' : peer.state()[0];
    round_trips[peer.rank()] = peer.round_trip_ns() / 1000;
  }
  std::uint64_t resends = 0;
  for (const client::PeerStatus& peer : status.peers()) resends += peer.resends();
  return {{"rank", status.rank()},
          {"address", address},
          {"state", "answers"},
          {"version", status.version()},
          {"connected", status.connected()},
          {"clients", status.clients()},
          {"groups", status.groups_size()},
          {"resends", resends},
          {"links", links},
          {"round_trip_us", round_trips}};
}

}  // namespace fibocast
