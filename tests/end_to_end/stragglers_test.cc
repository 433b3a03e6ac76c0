// Who came last, as the user of the command line and of the library is told.
#include <gtest/gtest.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "tests/end_to_end/programs.h"

namespace fibocast {
namespace {

// Rank 0 of two comes last: rank 1 calls, and rank 0 once the word of rank 1 is there.
class Stragglers : public testing::Test {
 protected:
  Stragglers() { cluster_.up({"-n", "2"}); }
  void wait_for_word(std::uint64_t words) {
    auto client = cluster_.client(0);
    ASSERT_TRUE(eventually([&] { return client->status()->counters.at("node_early") == words; }));
  }
  // How rank 1 and then rank 0 are answered.
  std::pair<Ended, Ended> barrier(std::uint64_t nth, const Words& options) {
    Words first{"barrier", "gate", "--rank", "1"}, last{"barrier", "gate", "--rank", "0"};
    first.insert(first.end(), options.begin(), options.end());
    last.insert(last.end(), options.begin(), options.end());
    Running early = cluster_.start(first);
    wait_for_word(nth);
    const Ended late = cluster_.run(last);
    return {early.wait(), late};
  }
  TestCluster cluster_;
};

TEST_F(Stragglers, AreNamedByBarrierExplain) {
  const auto [early, late] = barrier(1, {"--explain"});
  for (const Ended& ended : {early, late}) {
    EXPECT_EQ(ended.exit_code, 0) << ended.err;
    EXPECT_EQ(ended.out.find("rank 0 came last, "), 0u) << ended.out;
    EXPECT_NE(ended.out.find(" after the others\n"), std::string::npos) << ended.out;
  }
  const auto [silent_early, silent_late] = barrier(2, {});
  EXPECT_EQ(silent_early.out + silent_late.out, "");
  const auto [one, other] = barrier(3, {"--explain", "--json"});
  for (const Ended& ended : {one, other}) {
    EXPECT_EQ(ended.json()["straggler"]["rank"], 0) << ended.out;
    EXPECT_GT(ended.json()["straggler"]["late_ns"], 0) << ended.out;
  }
}

TEST_F(Stragglers, AreCountedInStatus) {
  const Json first = barrier(1, {"--json"}).second.json()["straggler"];
  const Json second = barrier(2, {"--json"}).second.json()["straggler"];
  const Json status = cluster_.run({"status", "--rank", "0", "--json"}).json();
  EXPECT_EQ(status["counters"]["node_stragglers"], 2);
  const Json slowest = status["groups"][0]["slowest"];
  ASSERT_EQ(slowest.size(), 1u) << status;
  const std::int64_t one = first["late_ns"], other = second["late_ns"];
  EXPECT_EQ(slowest[0]["rank"], 0);
  EXPECT_EQ(slowest[0]["times"], 2);
  EXPECT_EQ(slowest[0]["total_late_ns"], one + other);
  EXPECT_EQ(slowest[0]["largest_late_ns"], std::max(one, other));
  for (const Words& words : {Words{"status", "--rank", "0"}, Words{"status"}})
    EXPECT_NE(cluster_.run(words).out.find("slowest ranks of group 'gate'"), std::string::npos);
}

TEST_F(Stragglers, AreInTheOutcomeOfTheLibrary) {
  std::vector<Result<Group>> groups;
  for (NodeId rank : {0u, 1u}) groups.push_back(cluster_.client(rank)->open("all"));
  std::thread early([&] {
    const Outcome outcome = groups[1]->barrier(std::chrono::minutes(1));
    EXPECT_TRUE(outcome.ok()) << outcome.status.sentence;
    EXPECT_EQ(outcome.straggler.rank, 0u);
  });
  wait_for_word(1);
  const Outcome outcome = groups[0]->barrier(std::chrono::minutes(1));
  early.join();
  EXPECT_EQ(outcome.straggler.rank, 0u);
  EXPECT_GT(outcome.straggler.late_by, 0);
}

}  // namespace
}  // namespace fibocast
