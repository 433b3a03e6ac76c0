// What the tests of groups that are made and removed share: four nodes, and a group by one name.
#pragma once

#include <string_view>
#include <vector>

#include "tests/runtime/node/team.h"

namespace fibocast {

inline constexpr std::string_view kName = "work";

inline GroupDefinition group_of(const std::vector<NodeId>& members) {
  GroupDefinition d;
  d.name = kName;
  for (const NodeId id : members) d.members.add(id);
  return d;
}

inline ClusterSettings four() {
  ClusterSettings settings = cluster_of(4);
  settings.node.suspicion = kSecond, settings.node.group_patience = 2 * kSecond;
  settings.network.latency_min = settings.network.latency_max = kMillisecond;
  return settings;
}

// Which group of the name the node has; none: kUnknownCreation.
inline CreationId creation_at(const Team& team, NodeId id) {
  const Node& node = team.cluster.node(id).node();
  for (std::uint32_t i = 0; i < node.group_count(); ++i)
    if (node.group_info(i).id == group_id(kName)) return node.group_info(i).creation;
  return kUnknownCreation;
}

inline Verdict create(Team& team, NodeId at, const std::vector<NodeId>& members) {
  const Asked asked = team.cluster.create(at, group_of(members));
  EXPECT_EQ(asked.admission, Admission::kTaken);
  EXPECT_TRUE(team.wait({asked.cookie}));
  return team.verdict(asked.cookie);
}

inline void expect_barrier(Team& team, const std::vector<NodeId>& members, Generation generation = 0) {
  std::vector<std::uint64_t> cookies;
  for (const NodeId id : members)
    cookies.push_back(team.cluster.barrier(id, group_id(kName), generation, team.in(5 * kSecond)).cookie);
  EXPECT_TRUE(team.wait(cookies, 4 * kSecond));
  team.expect_all(cookies, Verdict::kOk);
}

}  // namespace fibocast
