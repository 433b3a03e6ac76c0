// Divide and conquer as their users call them: from a program and from the shell.
#include <gtest/gtest.h>

#include <latch>
#include <thread>

#include "tests/end_to_end/programs.h"

namespace fibocast {
namespace {

using std::chrono::seconds;

// A share of the wrong length, an overlap without an operator and a fraction that is none never leave the caller.
TEST(Shares, ThatDoNotFitAreSentences) {
  TestCluster cluster;
  cluster.up({"-n", "2"});
  auto group = cluster.client(1)->open("all");
  ASSERT_TRUE(group.ok()) << group.status().sentence;
  OperationOptions options;
  options.algorithm = "share:0.7";
  auto mine = group->share(0, 10, options);
  ASSERT_TRUE(mine.ok());
  EXPECT_EQ(*mine, (Share{3, 7}));
  const std::vector<std::int64_t> six(6, 1);
  const Combination sum{ElementType::kInt64, CombineOperator::kSum};
  const auto bytes = std::as_bytes(std::span(six));
  const Outcome shorter = group->conquer(0, 10, bytes, sum, seconds(10), options);
  EXPECT_EQ(shorter.status.code, Code::kInvalid);
  EXPECT_NE(shorter.status.sentence.find("7 from number 3 on, 56 bytes, not 48"), std::string::npos)
      << shorter.status.sentence;
  const Outcome without = group->conquer(0, 6, bytes, {ElementType::kInt64, {}}, seconds(10), options);
  EXPECT_NE(without.status.sentence.find("needs an operator"), std::string::npos) << without.status.sentence;
  const Outcome huge = group->conquer(0, UINT64_MAX, bytes, sum, seconds(10), options);
  EXPECT_NE(huge.status.sentence.find("too many"), std::string::npos) << huge.status.sentence;
  EXPECT_EQ(group->conquer(2, 10, bytes, sum, seconds(10), options).status.code, Code::kInvalid);
  EXPECT_FALSE(group->share(2, 10).ok());
  options.algorithm = "share:1.2";
  EXPECT_NE(group->divide(1, bytes, ElementType::kInt64, seconds(10), options).status.sentence.find("4 decimals"),
            std::string::npos);
  EXPECT_FALSE(group->share(0, 10, options).ok());
}

// Members that disagree on the whole vector or on alpha would join what does not fit. Who has sent its share and waits
// for nobody may be through before the root has seen that.
TEST(Shares, OfDifferentVectorsAreAMismatchAndLeaveTheGroupUsable) {
  TestCluster cluster;
  cluster.up({"-n", "2"});
  std::latch all_open(2);
  const auto member = [&](NodeId rank) {
    auto group = cluster.client(rank)->open("all");
    ASSERT_TRUE(group.ok()) << group.status().sentence;
    all_open.arrive_and_wait();
    const Combination sum{ElementType::kInt64, CombineOperator::kSum};
    const auto conquer = [&](std::uint64_t elements, const char* alpha) {
      OperationOptions options;
      options.algorithm = alpha;
      const std::vector<std::int64_t> mine(group->share(0, elements, options)->count, 1);
      return group->conquer(0, elements, std::as_bytes(std::span(mine)), sum, seconds(10), options);
    };
    const Code vectors = conquer(10 + rank, "share:0.5").status.code;
    EXPECT_TRUE(vectors == Code::kMismatch || (rank == 1 && vectors == Code::kOk)) << rank;
    const Code alphas = conquer(10, rank == 0 ? "share:0.5" : "share:0.7").status.code;
    EXPECT_TRUE(alphas == Code::kMismatch || (rank == 1 && alphas == Code::kOk)) << rank;
    const Outcome good = conquer(2, "share:1");
    ASSERT_TRUE(good.ok()) << good.status.sentence;
    EXPECT_EQ(good.values<std::int64_t>(), std::vector<std::int64_t>(rank == 0 ? 2 : 0, 2));
  };
  std::thread other(member, 1);
  member(0);
  other.join();
}

TEST(Shares, FromTheShell) {
  TestCluster cluster;
  cluster.up({"-n", "3"});
  std::vector<Running> others;
  for (const char* rank : {"1", "2"}) others.push_back(cluster.start({"divide", "all", "--rank", rank}));
  const Ended mine = cluster.run({"divide", "all", "10", "20", "30", "40", "--rank", "0", "--json"});
  EXPECT_EQ(mine.exit_code, 0) << mine.err;
  EXPECT_EQ(mine.json()["values"], Json({10}));
  EXPECT_EQ(others[0].wait().out, "20\n");
  EXPECT_EQ(others[1].wait().out, "30\n40\n");
  others.clear();
  for (const char* rank : {"1", "2"})
    others.push_back(cluster.start({"conquer", "all", "--elements", "2", "--alpha", "1", "5", rank, "--rank", rank}));
  const Ended root = cluster.run({"conquer", "all", "--elements", "2", "--alpha", "1", "4", "7", "--rank", "0"});
  EXPECT_EQ(root.out, "14\n10\n") << root.err;
  for (Running& other : others) EXPECT_EQ(other.wait().out, "");
  const Ended wrong = cluster.run({"divide", "all", "1", "2", "--alpha", "1.5", "--rank", "0"});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_NE(wrong.err.find("share:1.5"), std::string::npos) << wrong.err;
}

}  // namespace
}  // namespace fibocast
