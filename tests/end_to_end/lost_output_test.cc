// An answer that could not be written is no success: standard output that is full or closed, and files on a full disk.
#include <gtest/gtest.h>

#include "tests/end_to_end/programs.h"

namespace fibocast {
namespace {

void expect_told(const Ended& ended, const std::string& line) {
  EXPECT_EQ(ended.exit_code, 1) << line;
  EXPECT_NE(ended.err.find("cannot write"), std::string::npos) << line << ": " << ended.err;
}

TEST(LostOutput, IsAFailureWithASentenceWithoutACluster) {
  TestCluster cluster;
  for (const char* line :
       {"fibocast plan tree --ranks 4 --s 1 --r 1", "fibocast down --dir $DIR",
        "fibocast plan schedule --ranks 4 --s 1 --r 1 --json", "fibocast plan figure --list", "fibocast --version",
        "fibocast up --help", "fibocast simulate --operation barrier --ranks 4", "fibocast simulate --help",
        "fibocastd --print-config --insecure", "fibocastd --version"})
    for (const char* where : {" >/dev/full", " >&-"}) expect_told(cluster.shell(std::string(line) + where), line);
}

TEST(LostOutput, IsAFailureWithASentenceAfterAnOperation) {
  TestCluster cluster;
  cluster.up({"-n", "1"});
  for (const char* line : {"barrier all --json", "gather all 1", "allreduce all 1 --json", "status", "group list"}) {
    const std::string asks = "export FIBOCAST_SOCKET=$DIR/node-0.sock; fibocast " + std::string(line);
    for (const char* where : {" >/dev/full", " >&-"}) expect_told(cluster.shell(asks + where), line);
  }
  const std::string bench = "fibocast bench barrier --repetitions 2 --dir $DIR --raw /dev/full";
  expect_told(cluster.shell(bench), bench);
}

// Whoever opens a socket must not be given the number of a closed standard output.
TEST(LostOutput, DoesNotGoToTheDaemon) {
  TestCluster cluster;
  cluster.up({"-n", "1"});
  const std::string line = "fibocast barrier all --json --socket $DIR/node-0.sock >&-";
  expect_told(cluster.shell(line), line);
  EXPECT_EQ(cluster.run({"status", "--rank", "0", "--json"}).json()["counters"]["clients_garbage"], 0);
}

// The receivers of a file are who must not take half of it for all.
TEST(LostOutput, OfAReceiverOfAMulticast) {
  TestCluster cluster;
  cluster.up({"-n", "2"});
  Running sender = cluster.start({"multicast", "all", "--from", "0", "--rank", "0"}, "all of it");
  const std::string line = "fibocast multicast all --from 0 --socket $DIR/node-1.sock >/dev/full";
  expect_told(cluster.shell(line), line);
  EXPECT_EQ(sender.wait().exit_code, 0);
}

}  // namespace
}  // namespace fibocast
