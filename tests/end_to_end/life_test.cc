// The life of a local cluster, as its user sees it: up, status, wait, run, shell, down.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "tests/end_to_end/programs.h"

namespace fibocast {
namespace {

std::vector<pid_t> pids_of(const Json& up) {
  std::vector<pid_t> pids;
  for (const Json& node : up["nodes"]) pids.push_back(node["pid"]);
  return pids;
}

class Life : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Transports, Life, testing::Values("udp", "tcp"));

TEST_P(Life, UpStatusDown) {
  TestCluster cluster;
  const Ended up = cluster.run({"up", "-n", "5", "--transport", GetParam(), "--json"});
  ASSERT_EQ(up.exit_code, 0) << up.err;
  EXPECT_EQ(up.err, "");
  ASSERT_EQ(up.json()["nodes"].size(), 5u);

  const Json one = cluster.run({"status", "--rank", "3", "--json"}).json();
  EXPECT_EQ(one["rank"], 3);
  EXPECT_EQ(one["size"], 5);
  EXPECT_EQ(one["connected"], 4);
  EXPECT_EQ(one["transport"], GetParam());
  EXPECT_EQ(one["pid"], pids_of(up.json())[3]);
  const Json all = cluster.run({"status", "--json"}).json();
  EXPECT_EQ(all["nodes"].size(), 5u);
  EXPECT_EQ(cluster.run({"status"}).out.find("does not answer"), std::string::npos);
  EXPECT_EQ(cluster.run({"wait", "--nodes", "5", "--rank", "4"}).exit_code, 0);

  EXPECT_EQ(cluster.run({"down", "--json"}).json()["stopped"], 5);
  for (const pid_t pid : pids_of(up.json())) EXPECT_TRUE(has_ended(pid));
  EXPECT_FALSE(std::filesystem::exists(cluster.dir()));
}

TEST(Cluster, ASecondUpIsRefusedAndTheFirstGoesOn) {
  TestCluster cluster;
  cluster.up({"-n", "2"});
  const Ended again = cluster.run({"up", "-n", "2"});
  EXPECT_EQ(again.exit_code, 2);
  EXPECT_NE(again.err.find("is up"), std::string::npos) << again.err;
  EXPECT_EQ(cluster.run({"wait", "--nodes", "2", "--rank", "0"}).exit_code, 0);
}

TEST(Cluster, DownIsIdempotent) {
  TestCluster cluster;
  EXPECT_EQ(cluster.run({"down"}).exit_code, 0);
  cluster.up({"-n", "1"});
  EXPECT_EQ(cluster.run({"down"}).exit_code, 0);
  EXPECT_EQ(cluster.run({"down", "--json"}).json()["stopped"], 0);
}

TEST(Cluster, ADaemonThatEndsTakesUpDownWithItsLastWord) {
  TestCluster cluster;
  const Ended up = cluster.run({"up", "-n", "3", "--settings", "node.colour=blue"});
  EXPECT_EQ(up.exit_code, 1);
  EXPECT_NE(up.err.find("colour"), std::string::npos) << up.err;
  EXPECT_EQ(cluster.run({"down", "--json"}).json()["stopped"], 0);
}

TEST(Cluster, AKilledClusterDoesNotBarTheNext) {
  TestCluster cluster;
  const Ended up = cluster.run({"up", "-n", "2", "--json"});
  ASSERT_EQ(up.exit_code, 0);
  for (const pid_t pid : pids_of(up.json())) kill(pid, SIGKILL);
  for (const pid_t pid : pids_of(up.json())) EXPECT_TRUE(eventually([pid] { return has_ended(pid); }));
  EXPECT_EQ(cluster.run({"status", "--rank", "0"}).exit_code, 5);
  cluster.up({"-n", "2"});
}

TEST(Cluster, WaitNamesWhoIsMissing) {
  TestCluster cluster;
  cluster.up({"-n", "4", "--hold", "1,3"});
  const Ended wait = cluster.run({"wait", "--nodes", "4", "--rank", "0", "--deadline", "200ms"});
  EXPECT_EQ(wait.exit_code, 3);
  EXPECT_NE(wait.err.find("missing ranks: 1, 3"), std::string::npos) << wait.err;
}

TEST_P(Life, DrainReturnsWhenTheDaemonHasLeftAndAnsweredAll) {
  TestCluster cluster;
  const Ended up = cluster.run({"up", "-n", "3", "--transport", GetParam(), "--json"});
  ASSERT_EQ(up.exit_code, 0) << up.err;
  Running barrier = cluster.start({"barrier", "all", "--rank", "2"});
  ASSERT_TRUE(eventually([&] { return cluster.client(2)->status()->counters["now_requests"] == 1; }));
  const Ended drain = cluster.run({"drain", "--rank", "2"});
  EXPECT_EQ(drain.exit_code, 0) << drain.err;
  EXPECT_EQ(drain.out, "rank 2 has left\n");
  EXPECT_TRUE(has_ended(pids_of(up.json())[2]));
  const Ended cancelled = barrier.wait();
  EXPECT_EQ(cancelled.exit_code, 1);
  EXPECT_NE(cancelled.err.find("leaving"), std::string::npos) << cancelled.err;
  EXPECT_EQ(cluster.run({"barrier", "all", "--rank", "0"}).exit_code, 4) << "who is left knows at once";
  const Ended json = cluster.run({"drain", "--socket", cluster.dir() + "/node-1.sock", "--json"});
  EXPECT_EQ(json.json(), Json::parse(R"({"status":"OK","rank":1})"));
  EXPECT_EQ(cluster.run({"drain", "--rank", "0", "--quiet"}).out, "");
  EXPECT_EQ(cluster.run({"drain", "--rank", "0"}).exit_code, 5);
}

TEST(Run, OneProcessForEachRankAndTheWorstExitCode) {
  TestCluster cluster;
  cluster.up({"-n", "3"});
  const std::string script =
      "test -S $FIBOCAST_SOCKET && fibocast barrier all && exit $((FIBOCAST_RANK * 10 + FIBOCAST_SIZE))";
  const Ended run = cluster.run({"run", "--json", "--", "sh", "-c", script});
  EXPECT_EQ(run.exit_code, 23) << run.err;
  EXPECT_EQ(run.json()["ranks"][1]["exit_code"], 13);
  EXPECT_EQ(cluster.run({"run", "-n", "2", "--", "no-such-program"}).exit_code, 127);
  EXPECT_EQ(cluster.run({"run", "-n", "9", "--", "true"}).exit_code, 2);
}

TEST(Run, PassesSignalsOnAndLeavesNobodyBehind) {
  TestCluster cluster;
  cluster.up({"-n", "2"});
  const std::string script = "echo $$ > " + cluster.file("pid") + "-$FIBOCAST_RANK; exec sleep 1000";
  for (const int signal : {SIGTERM, SIGKILL}) {
    Running run = cluster.start({"run", "--", "sh", "-c", script});
    std::vector<pid_t> pids(2, 0);
    ASSERT_TRUE(eventually([&] {
      for (int rank = 0; rank < 2; ++rank) std::ifstream(cluster.file("pid-" + std::to_string(rank))) >> pids[rank];
      return pids[0] > 0 && pids[1] > 0;
    }));
    kill(run.pid(), signal);
    EXPECT_EQ(run.wait().exit_code, 128 + signal);
    for (const pid_t pid : pids) EXPECT_TRUE(eventually([pid] { return has_ended(pid); }));
    for (int rank = 0; rank < 2; ++rank) std::filesystem::remove(cluster.file("pid-" + std::to_string(rank)));
  }
}

TEST(Run, SignalsReachWhatTheProgramsHaveStarted) {
  TestCluster cluster;
  cluster.up({"-n", "1"});
  for (const int signal : {SIGTERM, SIGHUP}) {
    std::filesystem::remove(cluster.file("pid"));
    Running run =
        cluster.start({"run", "--", "sh", "-c", "sleep 1000 & echo $! > " + cluster.file("pid") + "; wait; true"});
    pid_t pid = 0;
    ASSERT_TRUE(eventually([&] { return std::ifstream(cluster.file("pid")) >> pid && pid > 0; }));
    kill(run.pid(), signal);
    EXPECT_EQ(run.wait().exit_code, 128 + signal);
    EXPECT_TRUE(eventually([pid] { return has_ended(pid); }));
    kill(pid, SIGKILL);
  }
}

TEST(Program, WrongUseAndNoDaemonHaveTheirExitCodes) {
  TestCluster cluster;
  EXPECT_EQ(cluster.run({"barrier", "all"}).exit_code, 2);
  EXPECT_EQ(cluster.run({"barrier", "all", "--rank", "0"}).exit_code, 5);
  EXPECT_EQ(cluster.run({"barrier", "all", "--socket", cluster.file("none")}).exit_code, 5);
  EXPECT_EQ(cluster.run({"up", "--machine", "abacus"}).exit_code, 2);
  EXPECT_EQ(cluster.run({"up", "-n", "many"}).exit_code, 2);
  const Ended failed = cluster.run({"barrier", "all", "--rank", "0", "--json"});
  EXPECT_EQ(failed.json()["status"], "UNAVAILABLE");
  EXPECT_EQ(failed.err, "");
}

// What asks whether a container is healthy is no application, and gets its answer when these have all places.
TEST(Probe, TheStatusIsToldWhereApplicationsHaveAllPlaces) {
  TestCluster cluster;
  cluster.up({"-n", "1"});
  boost::asio::io_context context;  // one for all: each has descriptors
  Client::Options options;
  options.socket_path = cluster.dir() + "/node-0.sock";
  options.executor = context.get_executor();
  std::vector<std::shared_ptr<Client>> applications;
  for (int i = 0; i < 256; ++i) {
    auto client = Client::connect(options);
    ASSERT_TRUE(client.ok()) << i << ": " << client.status().sentence;
    applications.push_back(*client);
  }
  const Status refused = Client::connect(options).status();
  EXPECT_EQ(refused.code, Code::kUnavailable);
  EXPECT_NE(refused.sentence.find("this daemon has 256 clients already; close one and connect again"),
            std::string::npos)
      << refused.sentence;
  EXPECT_EQ(cluster.shell("FIBOCAST_SOCKET=$DIR/node-0.sock fibocast status --quiet").exit_code, 0);
  const Ended status = cluster.run({"status", "--rank", "0", "--json"});
  EXPECT_EQ(status.exit_code, 0) << status.out;
  EXPECT_EQ(cluster.run({"status"}).out.find("does not answer"), std::string::npos);
  EXPECT_TRUE(applications.back()->status().ok());
  applications.pop_back();
  EXPECT_TRUE(eventually([&] { return Client::connect(options).ok(); }));
}

TEST(Program, WrongUseWithJsonIsADocument) {
  TestCluster cluster;
  for (const char* line :
       {"wait --nodes 0 --json", "plan tree --ranks x --json", "barrier --json", "up --json --colour blue",
        "up --deadline soon --json --dir $DIR", "no-such-thing --json", "plan figure --json",
        "plan tree --ranks 4 --tree oak --json", "plan catalog --json --markdown",
        "simulate --operation barrier --ranks x --json", "simulate --json --colour blue",
        "simulate --operation dance --ranks 4 --json", "simulate --json --replay nowhere"}) {
    const Ended ended = cluster.shell(std::string("fibocast ") + line);
    EXPECT_EQ(ended.exit_code, 2) << line;
    EXPECT_EQ(ended.err, "") << line;
    ASSERT_TRUE(Json::accept(ended.out)) << line << ": " << ended.out;
    EXPECT_EQ(ended.json()["status"], "INVALID") << line;
    EXPECT_NE(ended.json()["sentence"], "") << line;
  }
  EXPECT_EQ(cluster.shell("fibocast run --dir $DIR --ranks x -- echo --json").out, "");
}

TEST(Program, AnUnknownCommandIsAProgramOnThePath) {
  TestCluster cluster;
  const std::string program = cluster.file("fibocast-greet");
  std::ofstream(program) << "#!/bin/sh\necho hello \"$@\"\nexit 7\n";
  chmod(program.c_str(), 0700);
  const std::string script = "PATH=" + cluster.file("") + ":$PATH; fibocast greet you there";
  const Ended found = Running({"sh", "-c", script}, "", cluster.file("")).wait();
  EXPECT_EQ(found.out, "hello you there\n");
  EXPECT_EQ(found.exit_code, 7);
  EXPECT_EQ(Running({"fibocast", "no-such-thing"}, "", cluster.file("")).wait().exit_code, 2);
}

TEST(Program, EverySubcommandHasHelpWithAnExample) {
  TestCluster cluster;
  for (const char* name : {"up", "down", "status", "wait", "drain", "doctor", "shell", "run", "barrier", "multicast"}) {
    const Ended help = Running({"fibocast", name, "--help"}, "", cluster.file("")).wait();
    EXPECT_EQ(help.exit_code, 0);
    EXPECT_NE(help.out.find("Example: fibocast "), std::string::npos) << name;
  }
  EXPECT_NE(Running({"fibocast", "--version"}, "", cluster.file("")).wait().out.find("protocol"), std::string::npos);
}

}  // namespace
}  // namespace fibocast
