#include "collectives/models/workstations.h"

#include <algorithm>

#include "collectives/check.h"

namespace fibocast {

WorkstationType slow_workstation() { return {"slow", 90, Rational(18, 100), 140, Rational(8, 100)}; }
WorkstationType fast_workstation() { return {"fast", 60, Rational(5, 100), 110, Rational(3, 100)}; }

WorkstationLink workstation_link(WorkstationPreset preset) {
  const Rational per_byte(8, 100);  // 12.5 bytes in a microsecond
  return {preset == WorkstationPreset::kLiteral ? Rational(16) : Rational(0), per_byte};
}

std::optional<WorkstationPreset> parse_workstation_preset(std::string_view name) {
  if (name == "literal") return WorkstationPreset::kLiteral;
  if (name == "folded") return WorkstationPreset::kFolded;
  return {};
}

std::optional<WorkstationCluster> workstations_of_letters(std::string_view letters, WorkstationPreset preset,
                                                          std::string& error) {
  WorkstationCluster cluster{{fast_workstation(), slow_workstation()}, {}, workstation_link(preset)};
  for (const char letter : letters) {
    if (letter != 'F' && letter != 'S') break;
    cluster.nodes.push_back(letter == 'F' ? 0 : 1);
  }
  if (!letters.empty() && cluster.nodes.size() == letters.size()) return cluster;
  error = "a configuration is one letter per node, F for a fast and S for a slow one: \"FFSS\"";
  return {};
}

Rational send_time(const WorkstationType& type, std::uint64_t bytes) {
  return type.send + type.send_per_byte * Rational(bytes);
}

Rational receive_time(const WorkstationType& type, std::uint64_t bytes) {
  return type.receive + type.receive_per_byte * Rational(bytes);
}

Rational link_time(const WorkstationLink& link, std::uint64_t bytes) {
  return link.latency + link.per_byte * Rational(bytes);
}

Rational point_to_point_time(const WorkstationType& sender, const WorkstationType& receiver,
                             const WorkstationLink& link, std::uint64_t bytes) {
  return send_time(sender, bytes) + link_time(link, bytes) + receive_time(receiver, bytes);
}

TickedWorkstations workstations_in_ticks(const WorkstationCluster& cluster, std::uint64_t bytes) {
  const std::size_t types = cluster.types.size();
  std::vector<bool> is_used(types, false);
  for (const std::uint32_t type : cluster.nodes) {
    check(type < types);
    is_used[type] = true;
  }
  std::vector<Rational> times = {link_time(cluster.link, bytes)};
  for (std::size_t i = 0; i < types; ++i) {
    times.push_back(is_used[i] ? send_time(cluster.types[i], bytes) : Rational(0));
    times.push_back(is_used[i] ? receive_time(cluster.types[i], bytes) : Rational(0));
  }
  const CommonTicks common = to_common_ticks(times);
  TickedWorkstations ticked{{{}, common.ticks[0]}, common.unit};
  for (const std::uint32_t type : cluster.nodes)
    ticked.costs.nodes.push_back({common.ticks[1 + 2 * type], common.ticks[2 + 2 * type]});
  check_times_fit(ticked.costs);
  return ticked;
}

std::vector<std::uint64_t> scatter_times(const HeterogeneousCosts& costs, Rank root) {
  check(root < costs.nodes.size());
  std::vector<std::uint64_t> time(costs.nodes.size(), 0);
  std::uint64_t sent = 0;
  for (Rank v = 0; v < time.size(); ++v) {
    if (v == root) continue;
    sent += costs.nodes[root].send;
    time[v] = sent + costs.link + costs.nodes[v].receive;
  }
  return time;
}

GatherTimes gather_times(const HeterogeneousCosts& costs, Rank root, GatherModel model) {
  check(root < costs.nodes.size());
  std::vector<std::uint64_t> send;
  for (Rank v = 0; v < costs.nodes.size(); ++v)
    if (v != root) send.push_back(costs.nodes[v].send);
  std::ranges::sort(send);
  GatherTimes times;
  std::uint64_t arrived = 0;
  std::uint64_t received = 0;
  for (std::size_t i = 0; i < send.size(); ++i) {
    arrived = model == GatherModel::kLiteral ? send[i] + (i + 1) * costs.link : std::max(arrived, send[i]) + costs.link;
    received = std::max(received, arrived) + costs.nodes[root].receive;
    times.arrive.push_back(arrived);
    times.receive.push_back(received);
  }
  return times;
}

}  // namespace fibocast
