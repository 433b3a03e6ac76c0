// Barriers from shells and from programs: a gate that opens when all are there, and says who is not.
#include <gtest/gtest.h>

#include <thread>

#include "tests/end_to_end/programs.h"

namespace fibocast {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(Gate, OpensWhenTheLastDaemonIsUp) {
  TestCluster cluster;
  cluster.up({"-n", "4", "--hold", "2"});
  std::vector<Running> shells;
  for (const char* rank : {"0", "1", "3"})
    shells.push_back(cluster.start({"shell", "--rank", rank, "-c", "fibocast barrier gate --deadline 60s"}));
  // All three are waiting: each daemon knows the group.
  for (const char* rank : {"0", "1", "3"})
    ASSERT_TRUE(eventually([&] {
      return !cluster.run({"group", "list", "--rank", rank, "--json"}).json()["groups"].empty();
    }));
  ASSERT_EQ(cluster.run({"up", "--only", "2", "--quiet"}).exit_code, 0);
  const Ended last = cluster.run({"barrier", "gate", "--rank", "2", "--deadline", "60s"});
  EXPECT_EQ(last.exit_code, 0) << last.err;
  for (Running& shell : shells) {
    const Ended ended = shell.wait();
    EXPECT_EQ(ended.exit_code, 0) << ended.err;
  }
}

TEST(Gate, NamesTheMissingRanksAtTheDeadline) {
  TestCluster cluster;
  cluster.up({"-n", "5", "--hold", "3"});
  std::vector<Running> shells;
  for (const char* rank : {"0", "1", "2"})
    shells.push_back(cluster.start({"barrier", "gate", "--rank", rank, "--deadline", "1s", "--label", "go", "--json"}));
  for (Running& shell : shells) {
    const Ended ended = shell.wait();
    EXPECT_EQ(ended.exit_code, 3) << ended.out;
    EXPECT_EQ(ended.json()["status"], "DEADLINE_EXCEEDED");
    EXPECT_EQ(ended.json()["ranks"], Json({3, 4})) << ended.out;
    EXPECT_NE(ended.json()["sentence"].get<std::string>().find("go"), std::string::npos) << ended.out;
  }
}

TEST(Gate, SeveralParticipantsOfOneNode) {
  TestCluster cluster;
  cluster.up({"-n", "2"});
  ASSERT_EQ(cluster.run({"group", "create", "pairs", "--ranks", "0,1", "--participants", "2", "--rank", "0"}).exit_code,
            0);
  std::vector<Running> shells;
  for (const char* rank : {"0", "0", "1"}) shells.push_back(cluster.start({"barrier", "pairs", "--rank", rank}));
  EXPECT_EQ(cluster.run({"barrier", "pairs", "--rank", "1"}).exit_code, 0);
  for (Running& shell : shells) EXPECT_EQ(shell.wait().exit_code, 0);
}

// A shell has no number of its own: it takes part in whatever is open. A program has missed what is over.
TEST(Late, AShellJoinsTheNextGenerationAProgramHearsTheVerdict) {
  TestCluster cluster;
  cluster.up({"-n", "2"});
  auto late = cluster.client(1)->open("all");
  ASSERT_TRUE(late.ok()) << late.status().sentence;
  const Ended alone = cluster.run({"barrier", "all", "--rank", "0", "--deadline", "200ms"});
  EXPECT_EQ(alone.exit_code, 3) << alone.err;

  const Outcome missed = late->barrier(seconds(20));
  EXPECT_EQ(missed.status.code, Code::kDeadlineExceeded) << missed.status.sentence;

  Running first = cluster.start({"barrier", "all", "--rank", "0", "--deadline", "60s"});
  const Ended second = cluster.run({"barrier", "all", "--rank", "1", "--deadline", "60s"});
  EXPECT_EQ(second.exit_code, 0) << second.err;
  EXPECT_EQ(first.wait().exit_code, 0);
}

TEST(Groups, CreateListRemove) {
  TestCluster cluster;
  cluster.up({"-n", "4"});
  const Ended made = cluster.run({"group", "create", "some", "--ranks", "1-3", "--tree", "binomial", "--rank", "1"});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  const Json groups = cluster.run({"group", "list", "--rank", "2", "--json"}).json()["groups"];
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_EQ(groups[0]["name"], "some");
  EXPECT_EQ(groups[0]["ranks"], Json({1, 2, 3}));
  std::vector<Running> members;
  for (const char* rank : {"1", "2"}) members.push_back(cluster.start({"barrier", "some", "--rank", rank}));
  EXPECT_EQ(cluster.run({"barrier", "some", "--rank", "3"}).exit_code, 0);
  for (Running& member : members) EXPECT_EQ(member.wait().exit_code, 0);
  EXPECT_EQ(cluster.run({"group", "create", "x", "--ranks", "1-2", "--tree", "oak", "--rank", "1"}).exit_code, 2);
  EXPECT_EQ(cluster.run({"group", "remove", "some", "--rank", "1"}).exit_code, 0);
}

TEST(Loss, APeerThatDiesIsNamed) {
  TestCluster cluster;
  const Ended up = cluster.run({"up", "-n", "3", "--json", "--settings", "detector.suspicion_ms=500"});
  ASSERT_EQ(up.exit_code, 0) << up.err;
  Running waiting = cluster.start({"barrier", "all", "--rank", "0", "--deadline", "2s", "--json"});
  Running other = cluster.start({"barrier", "all", "--rank", "1", "--deadline", "2s", "--json"});
  kill(up.json()["nodes"][2]["pid"].get<pid_t>(), SIGKILL);
  for (Running* shell : {&waiting, &other}) {
    const Ended ended = shell->wait();
    EXPECT_TRUE(ended.exit_code == 3 || ended.exit_code == 4) << ended.out;
    EXPECT_EQ(ended.json()["ranks"], Json({2})) << ended.out;
  }
}

}  // namespace
}  // namespace fibocast
