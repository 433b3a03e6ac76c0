// The measured loops: what they print is what the laboratory reads. No number is compared with a clock.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <set>
#include <sstream>

#include "tests/end_to_end/programs.h"

namespace fibocast {
namespace {

std::vector<Json> lines_of(const std::string& text) {
  std::vector<Json> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(Json::parse(line));
  return lines;
}

TEST(Bench, DistributionOfSeveralCasesOnAnEmulatedMachine) {
  TestCluster cluster;
  cluster.up({"-n", "5", "--machine", "manna", "--scale", "20"});
  const std::string cases =
      R"({"p":5,"tree":"fibo","s":27,"r":88,"repetitions":3})"
      "\n"
      R"({"p":3,"tree":"sequential","repetitions":2})"
      "\n"
      R"({"p":4,"tree":"fibo","s":27,"r":88,"reduction":{"tree":"fibo","s":88,"r":27},"mode":"barrier","repetitions":2})"
      "\n";
  const Ended bench = cluster.run({"bench", "distribution", "--cases", "-", "--seed", "3"}, cases);
  ASSERT_EQ(bench.exit_code, 0) << bench.err;
  EXPECT_EQ(bench.err, "");
  const auto lines = lines_of(bench.out);
  ASSERT_EQ(lines.size(), 8u);
  std::multiset<int> seen;
  for (std::size_t i = 0; i < 7; ++i) {
    seen.insert(lines[i]["case"].get<int>());
    EXPECT_EQ(lines[i]["order"], i);
    EXPECT_GE(lines[i]["lateness_ns"], 0);
  }
  EXPECT_EQ(seen, (std::multiset<int>{0, 0, 0, 1, 1, 2, 2}));
  EXPECT_TRUE(lines[7]["summary"]);
  // The emulated network is never faster than the machine: two sends of s and one r, 20 times longer.
  for (const Json& line : lines) {
    const bool of_three = line.contains("p") && line["p"] == 3;
    EXPECT_TRUE(!of_three || line["measured_ns"] >= 20 * (2 * 27'000 + 88'000)) << line;
  }
}

TEST(Bench, ScatterGatherAndTheAnswerOfTheLastInTheGivenOrderToAFile) {
  TestCluster cluster;
  cluster.up({"-n", "4", "--machine", "manna", "--scale", "20"});
  const std::string cases = R"({"p":4,"mode":"scatter","algorithm":"sequential","repetitions":2})"
                            "\n"
                            R"({"p":4,"mode":"gather","algorithm":"sequential","bytes":2000,"repetitions":1})"
                            "\n"
                            R"({"p":4,"mode":"answer","tree":"sequential","repetitions":1})"
                            "\n"
                            R"({"p":2,"mode":"answer","tree":"sequential","repetitions":1})"
                            "\n";
  const std::string raw = cluster.file("raw.jsonl");
  const Ended bench =
      cluster.run({"bench", "distribution", "--cases", "-", "--order", "given", "--raw", raw, "--json"}, cases);
  ASSERT_EQ(bench.exit_code, 0) << bench.err;
  EXPECT_FALSE(bench.json().contains("repetitions"));
  std::ifstream file(raw);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  std::vector<int> order, predicted;
  for (const Json& line : lines_of(text)) {
    order.push_back(line["case"].get<int>());
    predicted.push_back(line["predicted_ns"].get<int>() / 20'000);
    EXPECT_GE(line["measured_ns"], line["predicted_ns"]) << line;  // the emulated network is never early
  }
  EXPECT_EQ(order, (std::vector<int>{0, 0, 1, 2, 3}));
  // s = 27 us, r = 88 us: 3 s + r; s + 3 o; 3 s + r + s + r (PAPERS B16); 2 (s + r).
  EXPECT_EQ(predicted, (std::vector<int>{169, 169, 291, 284, 230}));
}

TEST(Bench, OneCaseByOptionsAsOneDocument) {
  TestCluster cluster;
  cluster.up({"-n", "3"});
  const Ended bench = cluster.run({"bench", "distribution", "--ranks", "3", "--tree", "fibo", "--s", "27us", "--r",
                                   "88us", "--repetitions", "2", "--json"});
  ASSERT_EQ(bench.exit_code, 0) << bench.err;
  EXPECT_EQ(bench.json()["repetitions"].size(), 2u);
  EXPECT_TRUE(cluster.run({"group", "list", "--rank", "0", "--json"}).json()["groups"].empty());
  EXPECT_EQ(cluster.run({"bench", "distribution", "--ranks", "4", "--tree", "fibo"}).exit_code, 2);
  for (const std::vector<std::string>& wrong :
       std::vector<std::vector<std::string>>{{"--tree", "oak"},
                                             {"--mode", "gather", "--algorithm", "oak"},
                                             {"--mode", "oak", "--tree", "fibo"},
                                             {"--tree", "fibo", "--bytes", "1048577"},
                                             {"--tree", "fibo", "--raw", "/none/x"}}) {
    std::vector<std::string> words{"bench", "distribution", "--ranks", "3"};
    words.insert(words.end(), wrong.begin(), wrong.end());
    EXPECT_EQ(cluster.run(words).exit_code, 2) << wrong.back();
  }
}

TEST(Bench, Barrier) {
  TestCluster cluster;
  cluster.up({"-n", "3"});
  const Json bench = cluster.run({"bench", "barrier", "--repetitions", "50", "--json"}).json();
  EXPECT_EQ(bench["ranks"], 3);
  EXPECT_GT(bench["median_ns"], 0);
  EXPECT_GE(bench["p99_ns"], bench["median_ns"]);
}

}  // namespace
}  // namespace fibocast
