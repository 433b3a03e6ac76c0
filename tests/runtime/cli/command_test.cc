#include "runtime/cli/command.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <thread>

#include "runtime/cli/bench_case.h"
#include "runtime/cli/cluster_record.h"
#include "runtime/cli/operation_option.h"
#include "runtime/cli/process.h"

namespace fibocast {
namespace {

TEST(Durations, WithAndWithoutAUnit) {
  EXPECT_EQ(parse_duration("5s"), std::chrono::seconds(5));
  EXPECT_EQ(parse_duration("250ms"), std::chrono::milliseconds(250));
  EXPECT_EQ(parse_duration("1.5"), std::chrono::milliseconds(1500));
  for (const char* wrong : {"", "soon", "-1s", "0", "5 apples"})
    EXPECT_THROW(parse_duration(wrong), CLI::ValidationError);
}

TEST(Ranks, ListsAndRuns) {
  EXPECT_EQ(parse_ranks("0,3-7"), (std::vector<Rank>{0, 3, 4, 5, 6, 7}));
  EXPECT_EQ(ranks_text({0, 3, 4, 5, 9}), "0, 3-5, 9");
  EXPECT_EQ(ranks_text({}), "");
  for (const char* wrong : {"", "a", "1,", "3-1", "1-", "-1", "1;2", "99999999999"})
    EXPECT_THROW(parse_ranks(wrong), CLI::ValidationError) << wrong;
}

TEST(Daemon, SocketThenEnvironmentThenAQuestion) {
  DaemonChoice choice;
  unsetenv("FIBOCAST_SOCKET");
  EXPECT_EQ(find_socket(choice).status().code, Code::kInvalid);
  setenv("FIBOCAST_SOCKET", "/from/environment", 1);
  EXPECT_EQ(find_socket(choice).value(), "/from/environment");
  choice.socket = "/given";
  EXPECT_EQ(find_socket(choice).value(), "/given");
  choice = {.socket = "", .rank = 0, .dir = "/nowhere"};
  EXPECT_EQ(find_socket(choice).status().code, Code::kUnavailable);
  unsetenv("FIBOCAST_SOCKET");
}

TEST(Operations, ANameMayCarryALabel) {
  OperationChoice choice;
  choice.name = "render/start";
  EXPECT_EQ(choice.group(), "render");
  EXPECT_EQ(choice.label_text(), "start");
  choice.label = "other";
  EXPECT_EQ(choice.label_text(), "other");
  choice.name = "render";
  EXPECT_EQ(choice.group(), "render");
}

TEST(Record, IsReadAsWrittenAndGarbageIsNone) {
  const std::string dir = testing::TempDir();
  const ClusterRecord record{"tcp", "manna", 20, {{0, 11, "127.0.0.1:1", "/a"}, {1, 0, "127.0.0.1:2", "/b"}}};
  ASSERT_TRUE(write_cluster_record(dir, record));
  const auto read = read_cluster_record(dir);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->machine, "manna");
  EXPECT_EQ(read->nodes.size(), 2u);
  EXPECT_EQ(read->nodes[1].socket, "/b");
  std::ofstream(dir + "/cluster.json") << "[1, 2";
  EXPECT_FALSE(read_cluster_record(dir));
  EXPECT_FALSE(read_cluster_record("/nowhere"));
}

// Whoever looks while it ends sees no daemon; nothing else happens.
TEST(Processes, OneMayEndWhileItIsLookedAt) {
  std::atomic<pid_t> looked_at = getpid();
  std::atomic<bool> over = false;
  bool found = false;
  std::thread looker([&] {
    while (!over) found = is_daemon_of(looked_at, "x") || found;
  });
  for (int i = 0; i < 2000; ++i) {
    const pid_t child = fork();
    if (child == 0) _exit(0);
    ASSERT_GT(child, 0);
    looked_at = child;
    waitpid(child, nullptr, 0);
  }
  over = true;
  looker.join();
  EXPECT_FALSE(found);
}

TEST(Inputs, AFileOrWhyNot) {
  const std::string path = testing::TempDir() + "input-" + std::to_string(getpid());
  const std::string bytes(100'000, 'x');
  std::ofstream(path) << bytes;
  EXPECT_EQ(*read_input(path), bytes);
  std::ofstream(path, std::ios::trunc).flush();
  EXPECT_EQ(*read_input(path), "");
  EXPECT_EQ(read_input(testing::TempDir()).status().sentence, "cannot read " + testing::TempDir() + ": Is a directory");
  EXPECT_EQ(read_input("/nowhere").status().sentence, "cannot read /nowhere: No such file or directory");
  unlink(path.c_str());
}

// Nobody writes to the pipe, and nobody closes it.
TEST(Inputs, AreReadNoLongerAndNoFurtherThanTold) {
  const std::string pipe = testing::TempDir() + "pipe-" + std::to_string(getpid());
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const auto past = std::chrono::steady_clock::now();
  EXPECT_EQ(read_input(pipe, {.until = past}).status().code, Code::kDeadlineExceeded);
  EXPECT_EQ(read_input(pipe, {.until = past + std::chrono::milliseconds(1)}).status().code, Code::kDeadlineExceeded);
  EXPECT_EQ(read_input("/dev/zero", {.until = past}).status().code, Code::kDeadlineExceeded);
  EXPECT_EQ(read_input("/dev/zero", {.bytes = 100'001})->size(), 100'001u);
  unlink(pipe.c_str());
}

TEST(Processes, OnlyARealDaemonOfThatFileCounts) {
  EXPECT_FALSE(is_daemon_of(0, "x"));
  EXPECT_FALSE(is_daemon_of(getpid(), "x"));
  EXPECT_TRUE(find_program("fibocast-no-such-program").empty());
  const auto addresses = free_loopback_addresses(8);
  EXPECT_EQ(std::set<std::string>(addresses.begin(), addresses.end()).size(), 8u);
  for (const std::string& address : addresses) EXPECT_LT(std::stoi(address.substr(address.find(':') + 1)), 32'768);
}

TEST(Cases, DefaultsAndMistakes) {
  const auto plain = parse_case(Json::parse(R"({"p":5,"tree":"binomial"})"), 7);
  ASSERT_TRUE(plain.ok()) << plain.status().sentence;
  EXPECT_EQ(Result<BenchCase>(plain)->repetitions, 7u);
  EXPECT_FALSE(Result<BenchCase>(plain)->reduction);
  auto full = parse_case(
      Json::parse(
          R"({"p":5,"tree":"fibo","s":"27us","r":"88us","reduction":{"tree":"fibo","s":88,"r":27},"mode":"barrier"})"),
      7);
  ASSERT_TRUE(full.ok()) << full.status().sentence;
  EXPECT_EQ(full->mode, BenchMode::kBarrier);
  EXPECT_EQ(full->distribution.s * 88, full->distribution.r * 27);
  EXPECT_EQ(full->reduction->s, 88u);
  for (const char* wrong : {R"({"tree":"fibo"})", R"({"p":1,"tree":"fibo"})", R"({"p":3,"tree":"oak"})",
                            R"({"p":3,"tree":"fibo","mode":"dance"})", R"({"p":3,"tree":"fibo","s":"x"})", "[]", "3"})
    EXPECT_EQ(parse_case(Json::parse(wrong), 1).status().code, Code::kInvalid) << wrong;
  std::istringstream lines("{\"p\":3,\"tree\":\"fibo\"}\n\n{oops\n");
  EXPECT_NE(read_cases(lines, 1).status().sentence.find("line 3"), std::string::npos);
}

}  // namespace
}  // namespace fibocast
