// What the status page shows of this node, and of each other one: JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "runtime/daemon/metrics/metrics_sources.h"

namespace fibocast {

// The answer to GET /status.json.
std::string status_json(const MetricsSources& sources);

// What a node's status says of it in a view of the whole cluster: {rank, address, state, links: one letter for each
// rank, round_trip_us: of each rank, ...}.
nlohmann::ordered_json cluster_node_json(const client::NodeStatus& status, const std::string& address);

// tree_json.cc: the trees that the group's small operations go along now, and the algorithm of each operation.
nlohmann::ordered_json group_plan_json(const Node::GroupInfo& group);

}  // namespace fibocast
