#include "tests/end_to_end/members.h"

#include <signal.h>

#include <thread>

namespace fibocast {

void Members::up(const std::string& transport, Words options) {
  Words words = up_over(transport, kNodes);
  words.insert(words.end(), options.begin(), options.end());
  cluster_.up(words);
  for (NodeId rank = 0; rank < kNodes; ++rank) connect(rank);
}

void Members::connect(NodeId rank) {
  clients_[rank] = cluster_.client(rank);
  auto group = clients_[rank]->open("all");
  ASSERT_TRUE(group.ok()) << group.status().sentence;
  groups_[rank] = std::make_unique<Group>(std::move(*group));
  pids_[rank] = cluster_.run({"status", "--rank", std::to_string(rank), "--json"}).json()["pid"].get<pid_t>();
}

std::vector<Status> Members::together(NodeId absent, const Part& part, const std::function<void()>& meanwhile) {
  std::vector<Status> ends(kNodes);
  std::vector<std::thread> ranks;
  for (NodeId rank = 0; rank < kNodes; ++rank)
    if (rank != absent) ranks.emplace_back([&, rank] { ends[rank] = part(*groups_[rank]); });
  meanwhile();
  for (std::thread& rank : ranks) rank.join();
  return ends;
}

std::vector<Status> Members::barrier(NodeId absent, const std::function<void()>& meanwhile) {
  return together(
      absent, [](Group& group) { return group.barrier(kPatience).status; }, meanwhile);
}

bool Members::all_connected() {
  const Json all = cluster_.run({"status", "--json"}).json();
  for (const Json& node : all["nodes"]) {
    if (!node.contains("connected") || node["connected"] != kNodes - 1) return false;
    for (const Json& peer : node["peers"])
      if (peer["state"] != "connected") return false;
  }
  return true;
}

std::uint64_t Members::sum_of(const std::string& counter) {
  std::uint64_t sum = 0;
  const Json all = cluster_.run({"status", "--json"}).json();
  for (const Json& node : all["nodes"]) sum += node["counters"][counter].get<std::uint64_t>();
  return sum;
}

void Members::send_signal(NodeId rank, int signal) const { ASSERT_EQ(kill(pids_[rank], signal), 0); }

}  // namespace fibocast
