// The folder of a local cluster has many names: whichever is given, it is the same cluster.
#include <gtest/gtest.h>
#include <signal.h>

#include "tests/end_to_end/programs.h"

namespace fibocast {
namespace {

constexpr const char* kNames[] = {"cluster", "./cluster", "cluster/", "link", "../$(basename $PWD)/cluster"};

TEST(Folder, DownFindsTheDaemonsUnderAnyOfItsNames) {
  TestCluster cluster;
  ASSERT_EQ(cluster.shell("ln -s cluster link").exit_code, 0);
  for (const char* up : {"cluster", "./cluster", "$DIR"}) {
    for (const char* down : kNames) {
      const Ended made = cluster.shell("fibocast up -n 1 --json --dir " + std::string(up));
      ASSERT_EQ(made.exit_code, 0) << made.err;
      const pid_t pid = made.json()["nodes"][0]["pid"];
      const Ended gone = cluster.shell("fibocast down --json --dir " + std::string(down));
      EXPECT_EQ(gone.json()["stopped"], 1) << up << " and " << down;
      EXPECT_TRUE(has_ended(pid)) << up << " and " << down;
      kill(pid, SIGKILL);
    }
  }
}

TEST(Folder, ASecondUpIsRefusedUnderAnyOfItsNames) {
  TestCluster cluster;
  ASSERT_EQ(cluster.shell("ln -s cluster link").exit_code, 0);
  cluster.up({"-n", "1"});
  for (const char* name : kNames)
    EXPECT_EQ(cluster.shell("fibocast up -n 1 --dir " + std::string(name)).exit_code, 2) << name;
}

TEST(Folder, OfProgramsThatGoElsewhereIsStillFound) {
  TestCluster cluster;
  ASSERT_EQ(cluster.shell("fibocast up -n 1 --quiet --dir cluster").exit_code, 0);
  EXPECT_EQ(cluster.shell("fibocast run --dir cluster -- sh -c 'cd /; test -S $FIBOCAST_SOCKET'").exit_code, 0);
  EXPECT_EQ(cluster.shell("fibocast shell --rank 0 --dir cluster -c 'cd /; test -S $FIBOCAST_SOCKET'").exit_code, 0);
}

// Nobody could find them again.
TEST(Folder, ThatWasMovedKeepsItsFilesWhileItsDaemonsRun) {
  TestCluster cluster;
  const Ended up = cluster.run({"up", "-n", "1", "--json"});
  ASSERT_EQ(up.exit_code, 0) << up.err;
  const pid_t pid = up.json()["nodes"][0]["pid"];
  const Ended down = cluster.shell("mv cluster moved; fibocast down --dir moved");
  EXPECT_EQ(down.exit_code, 1);
  EXPECT_NE(down.err.find("process " + std::to_string(pid)), std::string::npos) << down.err;
  EXPECT_EQ(cluster.shell("mv moved cluster; fibocast down --json --dir cluster").json()["stopped"], 1);
  EXPECT_TRUE(has_ended(pid));
  kill(pid, SIGKILL);
}

}  // namespace
}  // namespace fibocast
