// fibocast trace on real daemons: what they did is in the file, whole and in the right order.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <thread>

#include "tests/end_to_end/programs.h"

namespace fibocast {
namespace {

constexpr int kDaemons = 4, kBarriers = 3;

void expect_whole(const TestCluster& cluster, const Ended& trace) {
  ASSERT_EQ(trace.exit_code, 0) << trace.err;
  EXPECT_EQ(trace.json()["daemons"], kDaemons);
  EXPECT_EQ(trace.json()["whole_operations"], kBarriers);
  std::ifstream in(cluster.file("trace.json"));
  const Json file = Json::parse(in);
  int slices = 0;
  for (const Json& event : file["traceEvents"]) slices += event["ph"] == "X" ? 1 : 0;
  EXPECT_EQ(slices, kDaemons * kBarriers);
  for (const Json& operation : file["fibocast"]["operations"]) {
    EXPECT_EQ(operation["operation"], "barrier");
    const auto last_call = std::ranges::max(operation["called_ns"].get<std::vector<std::int64_t>>());
    const auto activations = operation["activated_ns"].get<std::vector<std::int64_t>>();
    EXPECT_EQ(activations.size(), std::size_t{kDaemons});
    for (const std::int64_t activated : activations) EXPECT_GE(activated, last_call);  // one host, one clock
  }
}

TEST(Trace, HoldsEveryOperationOfEveryDaemon) {
  TestCluster cluster;
  cluster.up({"-n", std::to_string(kDaemons)});
  std::vector<std::thread> threads;
  for (NodeId rank = 0; rank < kDaemons; ++rank) {
    threads.emplace_back([&cluster, rank] {
      auto group = cluster.client(rank)->open("all");
      for (int i = 0; i < kBarriers; ++i) EXPECT_TRUE(group->barrier(std::chrono::seconds(20)).ok());
    });
  }
  for (std::thread& thread : threads) thread.join();
  const std::string one = cluster.dir() + "/node-1.sock";  // the others through it
  for (const Words& where : {Words{"--socket", one}, Words{}}) {
    Words words{"trace", "--output", cluster.file("trace.json"), "--json"};
    words.insert(words.end(), where.begin(), where.end());
    expect_whole(cluster, cluster.run(words));
  }
}

TEST(Trace, OfNoClusterIsASentence) {
  TestCluster cluster;
  const Ended trace = cluster.run({"trace"});
  EXPECT_EQ(trace.exit_code, 5);
  EXPECT_NE(trace.err.find("no local cluster is up"), std::string::npos) << trace.err;
}

}  // namespace
}  // namespace fibocast
