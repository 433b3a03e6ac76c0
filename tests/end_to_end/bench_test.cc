// The measured loops: what they print is what the laboratory reads. No number is compared with a clock.
#include <gtest/gtest.h>
#include <signal.h>

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

// A daemon knows at most 128 groups: nobody else could make any after some such ends.
TEST(Bench, InterruptedItLeavesNoGroups) {
  TestCluster cluster;
  cluster.up({"-n", "3"});
  const auto client = cluster.client(0);
  const Words bench{"bench", "distribution", "--ranks", "3", "--tree", "fibo", "--repetitions", "200000"};
  const Words calibrate{"calibrate", "--repetitions", "10000"};
  for (const auto& [words, signal] : {std::pair(bench, SIGINT), {bench, SIGTERM}, {calibrate, SIGINT}}) {
    Running running = cluster.start(words);
    ASSERT_TRUE(eventually([&] { return !client->status()->groups.empty(); }));
    kill(running.pid(), signal);
    const Ended ended = running.wait();
    EXPECT_EQ(ended.exit_code, 1) << words[0];
    EXPECT_NE(ended.err.find("interrupted"), std::string::npos) << ended.err;
    EXPECT_TRUE(eventually([&] { return client->status()->groups.empty(); })) << words[0];
  }
}

std::vector<Json> lines_of_file(const std::string& path) {
  std::ifstream file(path);
  return lines_of(std::string(std::istreambuf_iterator<char>(file), {}));
}

TEST(BenchLoop, AnswersAndRawValuesAreAlikeForAllOperations) {
  TestCluster cluster;
  cluster.up({"-n", "3"});
  for (const Words& operation : std::vector<Words>{
           {"barrier"}, {"multicast", "--bytes", "70001", "--root", "2"}, {"allreduce", "--elements", "100"}}) {
    const std::string raw = cluster.file("raw-" + operation.front());
    Words words = {"bench", "--repetitions", "50", "--warmup", "2", "--order", "shuffled", "--raw", raw, "--json"};
    words.insert(words.begin() + 1, operation.begin(), operation.end());
    const Ended ended = cluster.run(words);
    ASSERT_EQ(ended.exit_code, 0) << ended.out << ended.err;
    const Json bench = ended.json();
    EXPECT_EQ(bench["operation"], operation.front());
    EXPECT_EQ(bench["ranks"], 3);
    EXPECT_EQ(bench["repetitions"], 50);
    EXPECT_EQ(bench["seed"], 1);
    EXPECT_GT(bench["median_ns"], 0);
    EXPECT_GE(bench["p99_ns"], bench["median_ns"]);
    EXPECT_GE(bench["network_p99_ns"], bench["network_median_ns"]);
    const auto lines = lines_of_file(raw);
    ASSERT_EQ(lines.size(), 50u);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      EXPECT_EQ(lines[i]["repetition"], i);
      EXPECT_GE(lines[i]["network_ns"], 0) << operation.front();
      EXPECT_GE(lines[i]["measured_ns"], lines[i]["network_ns"]) << operation.front();
    }
  }
}

TEST(BenchLoop, SaysWhatWasSentAndAdded) {
  TestCluster cluster;
  cluster.up({"-n", "4", "--transport", "tcp"});
  const Json sent =
      cluster.run({"bench", "multicast", "--bytes", "100", "--root", "3", "--repetitions", "5", "--json"}).json();
  EXPECT_EQ(sent["bytes"], 100);
  EXPECT_EQ(sent["root"], 3);
  for (const std::string type : {"int32", "int64", "uint64", "float", "double"}) {
    const Ended ended =
        cluster.run({"bench", "allreduce", "--bytes", "8000", "--type", type, "--repetitions", "5", "--json"});
    ASSERT_EQ(ended.exit_code, 0) << ended.out << ended.err;
    EXPECT_EQ(ended.json()["bytes"], 8000);
    EXPECT_EQ(ended.json()["elements"], type == "int32" || type == "float" ? 2000 : 1000);
    EXPECT_EQ(ended.json()["type"], type);
  }
  const Ended text = cluster.run({"bench", "allreduce", "--repetitions", "5"});
  EXPECT_EQ(text.out.rfind("5 sums by allreduce of 4 daemons: median ", 0), 0u) << text.out;
}

TEST(BenchLoop, OfAGroupOfSomeNodes) {
  TestCluster cluster;
  cluster.up({"-n", "4"});
  ASSERT_EQ(cluster.run({"group", "create", "pair", "--ranks", "3,1", "--rank", "1"}).exit_code, 0);
  ASSERT_EQ(cluster.run({"group", "create", "crowd", "--ranks", "0-3", "--participants", "2", "--rank", "1"}).exit_code,
            0);
  for (const std::string operation : {"barrier", "multicast", "allreduce"}) {
    const Ended ended = cluster.run({"bench", operation, "pair", "--repetitions", "5", "--json"});
    ASSERT_EQ(ended.exit_code, 0) << ended.out << ended.err;
    EXPECT_EQ(ended.json()["ranks"], 2) << operation;
  }
  const Ended crowd = cluster.run({"bench", "barrier", "crowd"});
  EXPECT_EQ(crowd.exit_code, 2);
  EXPECT_NE(crowd.err.find("2 participants"), std::string::npos) << crowd.err;
}

TEST(BenchLoop, AnEmulatedMachineIsSaidWithItsScale) {
  TestCluster cluster;
  cluster.up({"-n", "2", "--machine", "manna", "--scale", "5"});
  const Words words = {"bench", "multicast", "--repetitions", "3", "--warmup", "0"};
  const Ended text = cluster.run(words);
  EXPECT_NE(text.out.find("emulated 5 times slower"), std::string::npos) << text.out << text.err;
  Words json = words;
  json.insert(json.end(), {"--scale", "20", "--json"});
  const Json bench = cluster.run(json).json();
  EXPECT_EQ(bench["scale"], 20);
  const Ended sums = cluster.run({"bench", "allreduce", "--repetitions", "50", "--quiet"});
  EXPECT_EQ(sums.exit_code, 0) << "what waited for the card was overwritten: " << sums.err;
  EXPECT_GE(bench["network_median_ns"], 5 * (27'000 + 88'000));  // one send of s, one receive of r
}

TEST(BenchLoop, WhatCannotBeIsRefusedWithTheRemedy) {
  TestCluster cluster;
  EXPECT_EQ(cluster.run({"bench", "multicast"}).exit_code, 5);
  cluster.up({"-n", "2"});
  const std::vector<std::pair<Words, std::string>> mistakes = {
      {{"multicast", "--root", "2"}, "no such rank"},
      {{"multicast", "--bytes", "99999999999"}, "--bytes"},
      {{"allreduce", "--bytes", "12", "--type", "double"}, "give a multiple"},
      {{"allreduce", "--bytes", "8", "--elements", "1"}, "--elements"},
      {{"allreduce", "--elements", "999999999999"}, "at most 8388608"},
      {{"allreduce", "--type", "bytes"}, "double"},
      {{"barrier", "--order", "random"}, "shuffled"},
      {{"barrier", "--raw", "/none/x"}, "/none/x"}};
  for (const auto& [words, said] : mistakes) {
    Words all = {"bench"};
    all.insert(all.end(), words.begin(), words.end());
    const Ended ended = cluster.run(all);
    EXPECT_EQ(ended.exit_code, 2) << ended.out;
    EXPECT_NE(ended.err.find(said), std::string::npos) << ended.err;
  }
}

}  // namespace
}  // namespace fibocast
