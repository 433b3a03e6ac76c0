// Trees that are no formula, on real daemons: made for different nodes, from a file, of a mesh, given by a program.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <thread>

#include "tests/end_to_end/programs.h"

namespace fibocast {
namespace {

using std::chrono::minutes;
using Values = std::vector<std::int64_t>;

constexpr Rank kRanks = 9;

// Rank 3 is the root; its children are 8, 0 and 5, in this order.
constexpr const char* kTreeFile = "3 0 8 - 8 3 5 6 3\norder 3 8 0 5 2 4 1 6 7\n";

std::span<const std::byte> bytes_of(const Values& values) { return std::as_bytes(std::span(values)); }

Values values_of(Rank rank, std::size_t count) {
  Values values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<std::int64_t>(rank * 1'000 + i);
  return values;
}

Values sum_of_all(std::size_t count) {
  Values sum(count, 0);
  for (Rank v = 0; v < kRanks; ++v) {
    const Values one = values_of(v, count);
    for (std::size_t i = 0; i < count; ++i) sum[i] += one[i];
  }
  return sum;
}

// One member's calls; all members make the same ones. `count` elements: few travel with messages, many are streamed.
void use(Group group, Rank root, std::size_t count) {
  const Rank me = group.rank();
  const Values mine = values_of(me, count);
  ASSERT_TRUE(group.barrier(minutes(1)).ok());
  const Outcome cast = group.multicast(root, me == root ? bytes_of(mine) : std::span<const std::byte>(), minutes(1));
  ASSERT_TRUE(cast.ok()) << cast.status.sentence;
  EXPECT_EQ(cast.values<std::int64_t>(), me == root ? Values() : values_of(root, count)) << "rank " << me;
  const Outcome one = group.reduce<std::int64_t>(root, mine, CombineOperator::kSum, minutes(1));
  ASSERT_TRUE(one.ok()) << one.status.sentence;
  EXPECT_EQ(one.values<std::int64_t>(), me == root ? sum_of_all(count) : Values()) << "rank " << me;
  const Outcome all = group.allreduce<std::int64_t>(mine, CombineOperator::kSum, minutes(1));
  ASSERT_TRUE(all.ok()) << all.status.sentence;
  EXPECT_EQ(all.values<std::int64_t>(), sum_of_all(count)) << "rank " << me;
  const Outcome gathered = group.gather(root, bytes_of(mine), minutes(1));
  ASSERT_TRUE(gathered.ok()) << gathered.status.sentence;
  EXPECT_EQ(gathered.payload.size(), me == root ? kRanks * count * sizeof(std::int64_t) : 0);
}

void use_everywhere(TestCluster& cluster, const std::string& name) {
  std::vector<std::thread> members;
  for (NodeId rank = 0; rank < kRanks; ++rank)
    members.emplace_back([&cluster, &name, rank] {
      auto group = cluster.client(rank)->open(name);
      ASSERT_TRUE(group.ok()) << group.status().sentence;
      for (const Rank root : {3u, 0u, 8u})
        for (const std::size_t count : {3u, 5'000u}) ASSERT_NO_FATAL_FAILURE(use(*group, root, count));
    });
  for (std::thread& member : members) member.join();
}

class GivenTreesOver : public testing::TestWithParam<const char*> {};

TEST_P(GivenTreesOver, AreCreatedByTheCommandAndUsedByEveryOperation) {
  TestCluster cluster;
  cluster.up(up_over(GetParam(), 9));
  std::ofstream(cluster.file("nodes")) << "nodes fast 2\nnodes slow 4\nnodes fast 3\n";
  std::ofstream(cluster.file("tree")) << kTreeFile;
  const std::vector<Words> trees = {{"--tree", "heterogeneous", "--nodes", cluster.file("nodes")},
                                    {"--tree", "hierarchical", "--nodes", cluster.file("nodes"), "--bytes", "1000"},
                                    {"--tree", "file:" + cluster.file("tree")},
                                    {"--tree", "file:" + cluster.file("tree"), "--reduction-tree", "binomial"}};
  for (std::size_t i = 0; i < trees.size(); ++i) {
    const std::string name = std::string("odd-").append(std::to_string(i));
    Words words = {"group", "create", name, "--ranks", "0-8", "--rank", "2"};
    words.insert(words.end(), trees[i].begin(), trees[i].end());
    const Ended created = cluster.run(words);
    ASSERT_EQ(created.exit_code, 0) << created.err;
    use_everywhere(cluster, name);
    ASSERT_FALSE(HasFailure()) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(Transports, GivenTreesOver, testing::Values("udp", "tcp", "memory"),
                         [](const auto& info) { return std::string(info.param); });

// On an emulated machine nothing is faster than the model: along a chain each rank waits for all before it.
TEST(GivenTrees, MessagesReallyGoAlongThem) {
  TestCluster cluster;
  cluster.up({"-n", "4", "--machine", "manna", "--scale", "20"});
  std::ofstream(cluster.file("chain")) << "- 0 1 2\n";
  const Ended bench = cluster.run({"bench", "distribution", "--ranks", "4", "--tree", "file:" + cluster.file("chain"),
                                   "--repetitions", "3", "--json"});
  ASSERT_EQ(bench.exit_code, 0) << bench.err;
  constexpr std::int64_t kChain = 20 * 3 * (27'000 + 88'000);
  for (const Json& line : bench.json()["repetitions"]) {
    EXPECT_EQ(line["predicted_ns"], kChain);
    EXPECT_GE(line["measured_ns"], kChain);
  }
  EXPECT_EQ(cluster.run({"bench", "distribution", "--ranks", "4", "--tree", "mesh", "--repetitions", "1"}).exit_code,
            0);
}

TEST(GivenTrees, OfAProgramAreCheckedByTheDaemon) {
  TestCluster cluster;
  cluster.up({"-n", "3"});
  auto client = cluster.client(0);
  const auto create = [&](std::string name, GivenTree tree) {
    return client->create_group({.name = std::move(name), .nodes = {0, 1, 2}, .tree = std::move(tree)});
  };
  EXPECT_TRUE(create("good", {.parents = {2, 2, kNoRank}, .order = {1, 0}}).ok());
  const Status circle = create("bad", {.parents = {kNoRank, 2, 1}, .order = {}});
  EXPECT_EQ(circle.code, Code::kInvalid);
  EXPECT_NE(circle.sentence.find("circle"), std::string::npos) << circle.sentence;
  EXPECT_EQ(create("bad", {.parents = {kNoRank, 0}, .order = {}}).code, Code::kInvalid);
  EXPECT_EQ(create("bad", {.parents = {kNoRank, 0, kNoRank}, .order = {}}).code, Code::kInvalid);
  EXPECT_EQ(create("bad", {.parents = {kNoRank, 0, 7}, .order = {}}).code, Code::kInvalid);
}

// The mistake is found before a daemon is asked: there is none here.
TEST(GivenTrees, BadInputIsOneSentence) {
  TestCluster cluster;
  const auto write = [&](const std::string& name, const std::string& text) {
    std::ofstream(cluster.file(name)) << text;
    return "file:" + cluster.file(name);
  };
  std::ofstream(cluster.file("nodes")) << "nodes fast 3\n";
  const std::vector<Words> mistakes = {{"--tree", "file:" + cluster.file("missing")},
                                       {"--tree", write("few", "- 0 0")},
                                       {"--tree", write("roots", "- 0 - 0")},
                                       {"--tree", write("circle", "- 2 3 1")},
                                       {"--tree", write("words", "once upon a time")},
                                       {"--tree", "heterogeneous"},
                                       {"--tree", "hierarchical", "--nodes", cluster.file("nodes")},
                                       {"--tree", "heterogeneous", "--nodes", cluster.file("missing")},
                                       {"--tree", "fibo", "--reduction-tree", write("good", "- 0 0 0")}};
  for (const Words& words : mistakes) {
    Words all = {"group", "create", "bad", "--ranks", "0-3", "--rank", "0"};
    all.insert(all.end(), words.begin(), words.end());
    const Ended ended = cluster.run(all);
    EXPECT_EQ(ended.exit_code, 2) << words[1];
    EXPECT_EQ(std::count(ended.err.begin(), ended.err.end(), '\n'), 1) << ended.err;
    EXPECT_EQ(ended.out, "");
  }
}

}  // namespace
}  // namespace fibocast
