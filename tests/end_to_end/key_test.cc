// Keys as an operator handles them: made, shown, replaced while barriers run.
#include <gtest/gtest.h>

#include <fstream>

#include "tests/end_to_end/programs.h"

namespace fibocast {
namespace {

class Keys : public testing::TestWithParam<const char*> {
 protected:
  void up(NodeId nodes, Words more = {}) {
    Words options = {"-n", std::to_string(nodes), "--transport", GetParam(), "--settings", "security.key_file=" + key_};
    options.insert(options.end(), more.begin(), more.end());
    cluster_.up(options);
  }
  Ended key(Words words) {
    words.insert(words.begin(), {"fibocast", "key"});
    return Running(words, {}, cluster_.file("")).wait();
  }
  std::vector<std::string> keys_of(NodeId rank) { return cluster_.client(rank)->status()->keys; }

  TestCluster cluster_;
  const std::string key_ = cluster_.key_file();
};

TEST_P(Keys, AreReplacedWhileBarriersRunAndNoneFails) {
  up(6);
  const std::string before = keys_of(0).front();
  Running barriers = cluster_.start({"bench", "barrier", "--repetitions", "3000", "--quiet", "--json"});
  std::string name = before;
  for (int i = 0; i < 3; ++i) {
    const Ended ended = cluster_.run({"key", "rotate", key_, "--json"});
    ASSERT_EQ(ended.exit_code, 0) << ended.out << ended.err;
    const std::string now = ended.json()["keys"][0];
    EXPECT_NE(now, name);
    name = now;
  }
  const Ended ended = barriers.wait();
  EXPECT_EQ(ended.exit_code, 0) << ended.out << ended.err;
  for (NodeId rank = 0; rank < 6; ++rank) {
    EXPECT_EQ(keys_of(rank), std::vector{name});
    auto status = cluster_.client(rank)->status();
    EXPECT_EQ(status->counters["seal_under_other_keys"], 0u);
    EXPECT_EQ(status->counters["node_operations_failed"], 0u);
    EXPECT_EQ(status->counters["channel_restarts"], 0u);
  }
}

// As for a file that is copied to other hosts after each step; the daemons are told through one of them.
TEST_P(Keys, AreReplacedStepByStepThroughOneDaemon) {
  up(3);
  const std::string socket = cluster_.dir() + "/node-1.sock", before = keys_of(0).front();
  for (const char* step : {"add", "switch", "drop"}) {
    ASSERT_EQ(key({"rotate", key_, "--step", step, "--file-only"}).exit_code, 0);
    const Ended told = key({"reload", key_, "--socket", socket});
    ASSERT_EQ(told.exit_code, 0) << told.err;
    EXPECT_EQ(cluster_.run({"bench", "barrier", "--repetitions", "50", "--quiet"}).exit_code, 0);
  }
  EXPECT_EQ(keys_of(2).size(), 1u);
  EXPECT_NE(keys_of(2).front(), before);
}

TEST_P(Keys, ADaemonThatReadsAnotherFileIsNamedBeforeAnythingIsLost) {
  const std::string other = cluster_.file("other");
  std::ofstream(other) << std::ifstream(key_).rdbuf();
  up(3);
  const Ended ended = key({"rotate", other, "--dir", cluster_.dir()});
  EXPECT_EQ(ended.exit_code, 2) << "its mode: " << ended.err;
  ASSERT_EQ(Running({"chmod", "600", other}, {}, cluster_.file("")).wait().exit_code, 0);
  const Ended told = key({"rotate", other, "--dir", cluster_.dir()});
  EXPECT_EQ(told.exit_code, 6);
  EXPECT_NE(told.err.find("rank 0 has the keys"), std::string::npos) << told.err;
  EXPECT_EQ(keys_of(0).size(), 1u);
  EXPECT_EQ(cluster_.run({"bench", "barrier", "--repetitions", "50", "--quiet"}).exit_code, 0);
}

// The key is in its file, and nowhere in what the programs say.
TEST_P(Keys, AreNeverSaid) {
  up(2, {"--settings", "log.level=trace"});
  std::ifstream file(key_);
  std::string word, digits;
  while (file >> word)
    if (word.size() == 64) digits = word;
  ASSERT_EQ(digits.size(), 64u);
  std::string said = key({"show", key_}).out + cluster_.run({"status"}).out + cluster_.run({"status", "--json"}).out;
  said += Running({"fibocastd", "--config", cluster_.dir() + "/node-0.toml", "--print-config"}, {}, cluster_.file(""))
              .wait()
              .out;
  EXPECT_NE(said.find(key_), std::string::npos);
  ASSERT_EQ(cluster_.run({"key", "rotate", key_}).exit_code, 0);
  for (const char* rank : {"0", "1"}) {
    std::ifstream log(cluster_.dir() + "/node-" + rank + ".log");
    said.append(std::istreambuf_iterator<char>(log), {});
  }
  EXPECT_NE(said.find("the keys are read again"), std::string::npos);
  for (std::size_t at = 0; at + 8 <= digits.size(); at += 8)
    EXPECT_EQ(said.find(digits.substr(at, 8)), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Transports, Keys, testing::Values("udp", "tcp"),
                         [](const auto& transport) { return std::string(transport.param); });

}  // namespace
}  // namespace fibocast
