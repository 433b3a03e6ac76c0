// Applications that die in an operation: the others are told who it was, and the next generation works.
#include <gtest/gtest.h>
#include <signal.h>

#include "tests/end_to_end/programs.h"

namespace fibocast {
namespace {

class Application : public testing::Test {
 protected:
  void up(const std::string& grace_ms) {
    cluster_.up({"-n", "4", "--settings", "operations.client_grace_ms=" + grace_ms});
  }
  Running barrier(NodeId rank, const std::string& label) {
    return cluster_.start(
        {"barrier", "gate", "--rank", std::to_string(rank), "--deadline", "60s", "--label", label, "--json"});
  }
  std::uint64_t counter(NodeId rank, const std::string& name) {
    return cluster_.client(rank)->status()->counters[name];
  }
  bool waits(NodeId rank) { return counter(rank, "now_requests") > 0; }
  // Starts a barrier at each of these ranks and waits until it is there.
  std::vector<Running> wait_in_barrier(const std::vector<NodeId>& ranks) {
    std::vector<Running> shells;
    for (const NodeId rank : ranks) {
      shells.push_back(barrier(rank, "of rank " + std::to_string(rank)));
      EXPECT_TRUE(eventually([&] { return waits(rank); }));
    }
    return shells;
  }
  void expect_next_one_works() {
    std::vector<Running> shells;
    for (NodeId rank = 0; rank < 4; ++rank) shells.push_back(barrier(rank, "next"));
    for (Running& shell : shells) EXPECT_EQ(shell.wait().exit_code, 0);
  }
  TestCluster cluster_;
};

TEST_F(Application, ThatIsKilledInABarrierIsNamedToAll) {
  up("50");
  std::vector<Running> shells = wait_in_barrier({0, 1, 2});
  kill(shells[1].pid(), SIGKILL);
  for (const std::size_t i : {0, 2}) {
    const Ended ended = shells[i].wait();
    EXPECT_EQ(ended.exit_code, 4) << ended.out;
    const Json json = ended.json();
    EXPECT_EQ(json["status"], "PEER_LOST");
    EXPECT_EQ(json["ranks"], Json({1}));
    EXPECT_EQ(json["sentence"], "barrier 'gate' (generation 0, label 'of rank " + std::to_string(i) +
                                    "'): an application on rank 1 (label 'of rank 1') died in it; start it again and "
                                    "repeat the operation");
  }
  expect_next_one_works();
  EXPECT_EQ(counter(1, "node_callers_lost"), 1u);
}

TEST_F(Application, ThatIsStartedAgainInTimeIsNotLost) {
  up("3600000");
  std::vector<Running> shells = wait_in_barrier({0, 1, 2});
  kill(shells[1].pid(), SIGKILL);
  shells[1].wait();
  Running again = barrier(1, "again");
  ASSERT_TRUE(eventually([&] { return counter(1, "node_callers_back") == 1; }));
  Running last = barrier(3, "last");
  for (const std::size_t i : {0, 2}) EXPECT_EQ(shells[i].wait().exit_code, 0);
  EXPECT_EQ(again.wait().exit_code, 0);
  EXPECT_EQ(last.wait().exit_code, 0);
  expect_next_one_works();
  EXPECT_EQ(counter(1, "node_callers_lost"), 0u);
}

}  // namespace
}  // namespace fibocast
