// What is no number that can be meant is refused with a sentence, not taken for another one.
#include <gtest/gtest.h>
#include <signal.h>

#include <fstream>

#include "tests/end_to_end/programs.h"

namespace fibocast {
namespace {

void expect_wrong_use(TestCluster& cluster, const std::string& line, const std::string& why) {
  const Ended ended = cluster.shell("fibocast " + line);
  EXPECT_EQ(ended.exit_code, 2) << line;
  EXPECT_EQ(ended.out, "") << line;
  EXPECT_NE(ended.err.find(why), std::string::npos) << line << ": " << ended.err;
  EXPECT_LT(ended.err.size(), 200u) << line << ": " << ended.err;
}

TEST(Numbers, ThatAreNotFiniteAreRefused) {
  TestCluster cluster;
  for (const char* line : {"up -n 1 --dir $DIR --scale nan", "up -n 1 --dir $DIR --scale inf",
                           "up -n 1 --dir $DIR --scale 1e999", "up -n 1 --dir $DIR --loss nan",
                           "calibrate --dir $DIR --scale nan", "bench distribution --dir $DIR --scale -nan"})
    expect_wrong_use(cluster, line, "is not a finite number");
  EXPECT_EQ(cluster.run({"down", "--json"}).json()["stopped"], 0);
}

TEST(Numbers, ThatCannotBeLessThanZeroAreRefused) {
  TestCluster cluster;
  for (const char* line :
       {"plan why --operation multicast --ranks 4 --bytes -1", "plan schedule --ranks 4 --bytes -1",
        "calibrate --dir $DIR --seed -1", "bench distribution --dir $DIR --seed ' -1'",
        "conquer all 1 --elements -1 --dir $DIR --rank 0", "barrier all --dir $DIR --rank -1",
        "simulate --operation barrier --ranks 4 --bytes -1", "simulate --operation barrier --ranks 4 --seed -1"})
    expect_wrong_use(cluster, line, "is less than 0");
  expect_wrong_use(cluster, "plan schedule --ranks 4 --bytes 99999999999999999999", "too large");
}

TEST(Numbers, ThatMustBeMoreThanZeroAreRefusedWithASentence) {
  TestCluster cluster;
  for (const char* line : {"wait --nodes 0 --rank 0 --dir $DIR", "up --scale 0 --dir $DIR",
                           "run -n 0 --dir $DIR -- true", "bench barrier --repetitions 0 --dir $DIR"})
    expect_wrong_use(cluster, line, "'0' is not more than 0");
}

// JSON has no such numbers.
TEST(Numbers, OfAnOperationMayBeInfinite) {
  TestCluster cluster;
  cluster.up({"-n", "1"});
  for (const char* type : {"float", "double"}) {
    const std::string line = "fibocast allgather all --type " + std::string(type) + " --dir $DIR --rank 0 ";
    EXPECT_EQ(cluster.shell(line + "-- inf -inf nan -nan 0.5").out, "inf\n-inf\nnan\nnan\n0.5\n");
    EXPECT_EQ(cluster.shell(line + "--json -- inf -inf nan 0.5").json()["values"], Json({"inf", "-inf", "nan", 0.5}));
  }
}

}  // namespace

TEST(Sentences, NameWhatHelps) {
  TestCluster cluster;
  cluster.up({"-n", "3"});
  const auto run = [&](const std::string& words) {
    return cluster.shell("FIBOCAST_SOCKET=$DIR/node-1.sock fibocast " + words);
  };
  const auto expect = [&](const std::string& words, const std::string& sentence) {
    const Ended ended = run(words);
    EXPECT_EQ(ended.exit_code, 2) << words;
    EXPECT_EQ(ended.err, "fibocast: " + sentence + "\n") << words;
  };
  const Ended waited = run("wait --nodes 4 --deadline 100ms");
  EXPECT_EQ(waited.exit_code, 3);
  EXPECT_EQ(waited.err, "fibocast: after 100ms only 3 of 4 nodes are connected; the cluster has only 3 nodes\n");
  for (const char* operation : {"scatter", "divide"})
    expect(operation + std::string(" all 1"),
           operation + std::string(" 'all': only the root, rank 0, brings something; give nothing here"));
  for (const char* operation : {"allreduce all", "gather all", "scatter all --root 1", "alltoall all"})
    expect(operation, "this rank brings nothing: give numbers, or a --file (-: standard input)");
  expect("barrier \"$(printf '\\377\\376')\"", "the name of the group is not UTF-8: take another");
  expect("barrier all --label \"$(printf 'x\\300\\200')\"", "the label is not UTF-8: take another");
  expect("group create \"$(printf '\\377')\" --ranks 0,1", "the name of the group is not UTF-8: take another");
  expect("group create P --ranks 0,1 --participants 65",
         "group 'P': more participants at one node than it has room for; raise limits.participants, or take fewer");
  EXPECT_EQ(run("group create P --ranks 0,1").exit_code, 0);
  expect("group create P --ranks 0,1",
         "group 'P': a group of this name exists already (`fibocast group list`); remove it, or take another name");
  expect("barrier P --participants 2",
         "barrier 'P': the group has another number of participants at each member; give that number, or none");
}

// As start scripts of all members do.
TEST(Groups, MayBeAskedForByAllMembersAtATime) {
  TestCluster cluster;
  cluster.up({"-n", "4"});
  const Ended ended = cluster.shell(
      "for rank in 0 1 2 3; do"
      " { fibocast group create work --ranks 0-3 --if-missing --dir $DIR --rank $rank &&"
      " fibocast barrier work --dir $DIR --rank $rank; } & pids=\"$pids $!\";"
      " done; for pid in $pids; do wait $pid || exit 1; done");
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  const Ended other =
      cluster.run({"group", "create", "work", "--ranks", "0-3", "--if-missing", "--participants", "2", "--rank", "1"});
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_NE(other.err.find("exists already"), std::string::npos) << other.err;
}

TEST(Groups, HaveNamesThatOperationsCanGive) {
  TestCluster cluster;
  cluster.up({"-n", "2"});
  for (const char* name : {"a/b", "/", "all"}) {
    const Ended made = cluster.run({"group", "create", name, "--ranks", "0,1", "--rank", "0"});
    EXPECT_EQ(made.exit_code, 2) << name;
    EXPECT_NE(made.err.find("no name for a group"), std::string::npos) << made.err;
  }
  EXPECT_EQ(cluster.run({"group", "list", "--rank", "0", "--json"}).json()["groups"], Json::array());
}

TEST(Groups, ThatFindNoRoomAreRefusedAtOnceWithASentence) {
  TestCluster cluster;
  cluster.up({"-n", "1", "--settings", "limits.groups=2"});
  for (const char* name : {"a", "b", "c", "a"}) EXPECT_EQ(cluster.run({"barrier", name, "--rank", "0"}).exit_code, 0);
  EXPECT_NE(cluster.run({"group", "create", "b", "--ranks", "0", "--rank", "0"}).err.find("exists already"),
            std::string::npos)
      << "it was set aside";
  for (const char* name : {"x", "y"})
    EXPECT_EQ(cluster.run({"group", "create", name, "--ranks", "0", "--rank", "0"}).exit_code, 0);
  const std::string sentence =
      "as many groups as limits.groups allows are in use here or were created; remove some (`fibocast group list`, "
      "`fibocast group remove`), or raise it\n";
  const Ended third = cluster.run({"barrier", "c", "--rank", "0"});
  EXPECT_EQ(third.exit_code, 2);
  EXPECT_EQ(third.err, "fibocast: barrier 'c': " + sentence);
  EXPECT_EQ(cluster.run({"group", "create", "z", "--ranks", "0", "--rank", "0"}).err,
            "fibocast: group 'z': " + sentence);
  EXPECT_EQ(cluster.run({"group", "remove", "x", "--rank", "0"}).exit_code, 0);
  EXPECT_EQ(cluster.run({"barrier", "c", "--rank", "0"}).exit_code, 0);
}

// By its number alone rank 1 has heard of it.
TEST(Groups, ThatNobodyHereCanNameAreNotShown) {
  TestCluster cluster;
  cluster.up({"-n", "2"});
  EXPECT_EQ(cluster.run({"barrier", "a", "--rank", "0", "--deadline", "300ms"}).exit_code, 3);
  EXPECT_EQ(cluster.run({"group", "list", "--rank", "1"}).out, "");
  EXPECT_EQ(cluster.run({"status", "--rank", "1", "--json"}).json()["groups"], Json::array());
  EXPECT_EQ(cluster.run({"group", "list", "--rank", "0"}).out, "a  ranks 0-1\n");
}

// Its daemon would be taken for the new one, and its socket removed with the new one's files.
TEST(Cluster, UpDoesNotTakeADaemonItHasNotStarted) {
  TestCluster cluster;
  const Ended up = cluster.run({"up", "-n", "1", "--json"});
  ASSERT_EQ(up.exit_code, 0) << up.err;
  const pid_t pid = up.json()["nodes"][0]["pid"];
  std::ofstream(cluster.dir() + "/cluster.json", std::ios::trunc) << "{";
  const Ended again = cluster.run({"up", "-n", "1"});
  EXPECT_EQ(again.exit_code, 2);
  EXPECT_NE(again.err.find("process " + std::to_string(pid)), std::string::npos) << again.err;
  EXPECT_NE(cluster.client(0), nullptr);
  kill(pid, SIGKILL);
}

}  // namespace fibocast
