// An operation that misses its deadline costs nothing afterwards.
#include <gtest/gtest.h>

#include <barrier>
#include <fstream>
#include <map>
#include <string>
#include <thread>

#include "tests/end_to_end/programs.h"

namespace fibocast {
namespace {

constexpr NodeId kNodes = 3;
constexpr NodeId kAbsent = 2;  // its daemon runs, its application does not call
constexpr int kMissed = 1000;

// The payloads and table entries that are taken, by daemon and name.
using Taken = std::map<std::string, std::uint64_t>;

Taken taken(TestCluster& cluster) {
  Taken now;
  const Json all = cluster.run({"status", "--json"}).json();
  for (const Json& node : all["nodes"]) {
    const std::string rank = "rank " + std::to_string(node["rank"].get<NodeId>()) + ": ";
    now[rank + "payload_bytes_used"] = node["payload_bytes_used"];
    for (const char* table : {"now_requests", "now_operations", "now_buffers"})
      now[rank + table] = node["counters"][table];
  }
  return now;
}

std::uint64_t resident_kib(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/status");
  for (std::string word; file >> word;)
    if (word == "VmRSS:") return file >> word, std::stoull(word);
  return 0;
}

std::uint64_t resident_kib(TestCluster& cluster) {
  std::uint64_t sum = 0;
  const Json all = cluster.run({"status", "--json"}).json();
  for (const Json& node : all["nodes"]) sum += resident_kib(node["pid"].get<pid_t>());
  return sum;
}

class Deadlines : public testing::Test {
 protected:
  void SetUp() override {
    cluster_.up({"-n", std::to_string(kNodes), "--settings", "operations.client_grace_ms=0"});
    for (NodeId rank = 0; rank < kAbsent; ++rank) {
      auto group = cluster_.client(rank)->open("all");
      ASSERT_TRUE(group.ok()) << group.status().sentence;
      groups_.push_back(std::move(*group));
    }
  }
  // Barriers and allgathers of some thousand bytes, all but kAbsent; each ends with its deadline. In step: to who is
  // many generations behind, because its thread did not run, a node rightly says that it has forgotten how they ended.
  void miss(int operations) {
    std::vector<std::thread> members;
    std::barrier in_step(kAbsent);
    for (NodeId rank = 0; rank < kAbsent; ++rank)
      members.emplace_back([this, rank, operations, &in_step] {
        Group& group = groups_[rank];
        const std::vector<std::byte> bytes(5'000, std::byte{7});
        const Duration deadline = std::chrono::milliseconds(1);
        for (int i = 0; i < operations && !HasFailure(); ++i) {
          in_step.arrive_and_wait();
          const Outcome outcome = i % 2 == 0 ? group.barrier(deadline) : group.allgather(bytes, deadline);
          EXPECT_EQ(outcome.status.code, Code::kDeadlineExceeded) << i << ": " << outcome.status.sentence;
        }
        in_step.arrive_and_drop();
      });
    for (std::thread& member : members) member.join();
  }
  TestCluster cluster_;
  std::vector<Group> groups_;
};

TEST_F(Deadlines, CostNothingAfterwards) {
  const Taken before = taken(cluster_);
  miss(kMissed / 5);  // what is made at first use is there
  EXPECT_TRUE(eventually([&] { return taken(cluster_) == before || HasFailure(); }));
  const std::uint64_t kib = resident_kib(cluster_);
  miss(kMissed);
  EXPECT_TRUE(eventually([&] { return taken(cluster_) == before || HasFailure(); }));
  const Taken after = taken(cluster_);
  for (const auto& [what, count] : before) EXPECT_EQ(after.at(what), count) << what;
  // Of each daemon's flight recorder up to a mebibyte is touched as it fills; nothing else may stay.
  EXPECT_LE(resident_kib(cluster_), kib + kNodes * 1024);
  std::vector<std::thread> members;
  for (NodeId rank = 0; rank < kNodes; ++rank)
    members.emplace_back([this, rank] {
      auto group = cluster_.client(rank)->open("all");
      EXPECT_EQ(group->barrier(std::chrono::minutes(1)).status.sentence, "");
    });
  for (std::thread& member : members) member.join();
}

}  // namespace
}  // namespace fibocast
