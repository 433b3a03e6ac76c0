#include "runtime/daemon/group_planner.h"

#include <algorithm>
#include <cmath>

namespace fibocast {
namespace {

// Settings are looked at before (find_model_mistake()).
std::vector<MeasuredChoice> measured_in(const Settings& settings) {
  std::string error;
  return parse_measured_choices(settings.model.measured, error).value_or(std::vector<MeasuredChoice>());
}

constexpr double kOpen = -1;  // not given
// Where a payload leaves once for all that get it, through memory or in fan-outs, its bytes cost the sender nothing.
constexpr ByteCosts kOfLinks{1, 1}, kOfSharedPayloads{0, 0.15};

Rational thousandths(double ns) { return {static_cast<std::uint64_t>(std::llround(ns * 1000)), 1000}; }

}  // namespace

CostModel cost_model(const Settings& settings) { return ticked_cost_model(settings).model; }

TickedModel ticked_cost_model(const Settings& settings) {
  const Settings::ModelSection& m = settings.model;
  const Nanoseconds occupancy = std::min(m.o_ns, m.r());
  const ByteCosts bytes = byte_costs(settings);
  return in_ticks({.send = m.s_ns,
                   .latency = m.r() - occupancy,
                   .occupancy = occupancy,
                   .send_per_byte = thousandths(bytes.send),
                   .occupancy_per_byte = thousandths(bytes.receive),
                   .wake = m.wake_ns},
                  settings.emulation.ports == NicPorts::kShared ? Ports::kShared : Ports::kIndependent);
}

bool is_plannable(const Settings& settings) {
  const Settings::ModelSection& m = settings.model;
  if (!are_latencies_valid(m.s_ns, m.r())) return false;
  OperationShape shape{.ranks = static_cast<Rank>(settings.cluster.nodes.size())};
  shape.total_bytes = representative_bytes(kSizeClasses - 1);
  for (const Operation operation : {Operation::kMulticast, Operation::kAlltoall}) {
    shape.operation = operation;
    if (!forecast_fits(shape, cost_model(settings))) return false;
  }
  return true;
}

ByteCosts byte_costs(const Settings& settings) {
  const Settings::ModelSection& m = settings.model;
  const std::size_t nodes = settings.cluster.nodes.size();
  const bool on_one_host = nodes > 1 && shared_hosts(settings).nodes == nodes;
  const bool shares_payloads = on_one_host && (settings.cluster.local != "off" || fans_out(settings));
  const ByteCosts known = shares_payloads ? kOfSharedPayloads : kOfLinks;
  return {m.send_per_byte_ns == kOpen ? known.send : m.send_per_byte_ns,
          m.receive_per_byte_ns == kOpen ? known.receive : m.receive_per_byte_ns};
}

HostSharing shared_hosts(const Settings& settings) {
  HostSharing hosts{.nodes = 1, .processors = settings.model.processors};
  if (nic_settings(settings).enabled) return hosts;
  std::map<std::string, Rank> nodes;
  for (const std::string& node : settings.cluster.nodes)
    if (const auto at = parse_host_port(node)) hosts.nodes = std::max(hosts.nodes, ++nodes[at->host]);
  hosts.fans_out = fans_out(settings);
  return hosts;
}

GroupPlanner::GroupPlanner(const Settings& settings)
    : model_(cost_model(settings)),
      hosts_(shared_hosts(settings)),
      limits_(settings.limits),
      measured_(measured_in(settings)) {}

const Plan& GroupPlanner::plan(Rank ranks) {
  const auto known = plans_.find(ranks);
  if (known != plans_.end()) return known->second;
  return plans_.emplace(ranks, plan_for(model_, ranks, limits_, hosts_, measured_)).first->second;
}

}  // namespace fibocast
