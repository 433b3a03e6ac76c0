// A group whose last nodes only pass a flood on, from the shell.
#include <gtest/gtest.h>

#include "tests/end_to_end/programs.h"

namespace fibocast {
namespace {

TEST(Routers, FromTheShell) {
  TestCluster cluster;
  cluster.up({"-n", "5"});
  ASSERT_EQ(cluster.run({"group", "create", "flood", "--ranks", "0-4", "--routers", "2", "--rank", "0"}).exit_code, 0);
  const auto all_call = [&](Words words) {
    std::vector<Running> others;
    for (const char* rank : {"1", "2"}) {
      Words theirs = words;
      theirs.insert(theirs.end(), {"--rank", rank});
      others.push_back(cluster.start(theirs));
    }
    words.insert(words.end(), {"--rank", "0"});
    const Ended mine = cluster.run(words);
    for (Running& other : others) EXPECT_EQ(other.wait().exit_code, 0);
    EXPECT_EQ(mine.exit_code, 0) << mine.err;
    return mine.out;
  };
  EXPECT_EQ(all_call({"allgather", "flood", "7", "--algorithm", "flooding"}), "7\n7\n7\n");
  EXPECT_EQ(all_call({"allreduce", "flood", "7"}), "21\n");
  all_call({"barrier", "flood"});
  const Ended router = cluster.run({"barrier", "flood", "--rank", "4"});
  EXPECT_EQ(router.exit_code, 2);
  EXPECT_NE(router.err.find("router"), std::string::npos) << router.err;
  const Ended all = cluster.run({"group", "create", "none", "--ranks", "0-4", "--routers", "5", "--rank", "0"});
  EXPECT_EQ(all.exit_code, 2);
  EXPECT_NE(all.err.find("no more ranks than routers"), std::string::npos) << all.err;
}

}  // namespace
}  // namespace fibocast
