// What the tests of Node share: a cluster in virtual time whose nodes are connected and have opened one group.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "firmware_sim/virtual_cluster.h"

namespace fibocast {

inline constexpr std::uint64_t kTag = 9;  // of messages between applications

inline ClusterSettings cluster_of(std::uint32_t nodes) {
  ClusterSettings settings;
  settings.nodes = nodes;
  return settings;
}

class Team {
 public:
  explicit Team(const ClusterSettings& settings, std::vector<NodeId> down = {}) : cluster(settings) {
    for (NodeId id = 0; id < cluster.size(); ++id)
      if (std::find(down.begin(), down.end(), id) == down.end()) up.push_back(id);
    for (NodeId id : up) cluster.node(id).start();
    const bool connected = cluster.run_until(10 * kSecond, [this] {
      for (NodeId id : up)
        if (cluster.node(id).node().connected_peers() + 1 < up.size()) return false;
      return true;
    });
    EXPECT_TRUE(connected);
    for (NodeId id : up) open(id);
  }

  void open(NodeId id) {
    const Membership m = cluster.open(id, "all");
    EXPECT_EQ(m.admission, Admission::kTaken);
    group = m.group;
  }
  Nanoseconds in(Nanoseconds duration) const { return cluster.now() + duration; }

  // The cookie of a barrier called now.
  std::uint64_t barrier(NodeId id, std::optional<Generation> generation, Nanoseconds deadline) {
    const Asked asked = cluster.barrier(id, group, generation, deadline);
    EXPECT_EQ(asked.admission, Admission::kTaken) << "node " << id;
    return asked.cookie;
  }
  std::vector<std::uint64_t> barrier_everywhere(Generation generation, Nanoseconds deadline) {
    std::vector<std::uint64_t> cookies;
    for (NodeId id : up) cookies.push_back(barrier(id, generation, deadline));
    return cookies;
  }
  std::uint64_t receive_multicast(NodeId id, Rank root, Generation generation) {
    const Asked asked = cluster.receive_multicast(id, group, root, generation, in(60 * kSecond));
    EXPECT_EQ(asked.admission, Admission::kTaken) << "node " << id;
    return asked.cookie;
  }
  std::uint64_t send_multicast(NodeId root, Generation generation, std::span<const std::byte> bytes) {
    const Asked asked = cluster.send_multicast(root, group, root, generation, in(60 * kSecond), bytes);
    EXPECT_EQ(asked.admission, Admission::kTaken);
    return asked.cookie;
  }

  // Lets time pass until all are answered. False: not within `duration`.
  bool wait(const std::vector<std::uint64_t>& cookies, Nanoseconds duration = 60 * kSecond) {
    return cluster.run_until(in(duration), [&] {
      for (std::uint64_t cookie : cookies)
        if (!cluster.answer(cookie)) return false;
      return true;
    });
  }
  // Precondition: answered.
  const CallDone& done(std::uint64_t cookie) const { return cluster.answer(cookie)->event.done; }
  Verdict verdict(std::uint64_t cookie) const {
    return cluster.answer(cookie) ? done(cookie).verdict : Verdict::kPending;
  }
  void expect_all(const std::vector<std::uint64_t>& cookies, Verdict verdict_wanted) {
    for (std::uint64_t cookie : cookies)
      EXPECT_EQ(static_cast<int>(verdict(cookie)), static_cast<int>(verdict_wanted)) << "answer " << cookie;
  }
  // Everything that was reserved has been given back.
  void expect_nothing_held() {
    cluster.run_until(in(5 * kSecond));
    for (NodeId id : up) {
      EXPECT_EQ(cluster.node(id).node().payload_bytes_used(), 0u) << "node " << id;
      EXPECT_EQ(cluster.node(id).buffers_held(), 0u) << "node " << id;
      EXPECT_FALSE(cluster.node(id).stuck()) << "node " << id;
    }
  }

  VirtualCluster cluster;
  std::vector<NodeId> up;
  GroupId group = 0;
};

inline RankSet only(Rank rank) {
  RankSet set;
  set.add(rank);
  return set;
}

}  // namespace fibocast
