// Daemons of one host share memory: as their user sees it.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/end_to_end/programs.h"

namespace fibocast {
namespace {

namespace fs = std::filesystem;

Json counters(TestCluster& cluster, NodeId rank) {
  return cluster.run({"status", "--rank", std::to_string(rank), "--json"}).json()["counters"];
}

// In a folder of their own: other tests use that of the user.
class SharedMemory : public testing::Test {
 protected:
  SharedMemory() : folder(cluster.file("m")) { fs::create_directory(folder); }
  void up(std::uint32_t nodes, fs::perms mode = fs::perms::owner_all) {
    fs::permissions(folder, mode);
    cluster.up({"-n", std::to_string(nodes), "--settings", "cluster.local=" + folder});
    ASSERT_EQ(cluster.run({"bench", "barrier", "--repetitions", "20"}).exit_code, 0);
  }
  std::set<std::string> files() const {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder)) names.insert(entry.path().filename());
    return names;
  }
  TestCluster cluster;
  const std::string folder;
};

TEST_F(SharedMemory, CarriesAllFramesAndNothingOfItIsLeft) {
  up(4);
  for (NodeId rank = 0; rank < 4; ++rank) {
    const Json all = counters(cluster, rank);
    EXPECT_EQ(all["local_peers"], 3) << rank;
    EXPECT_GT(all["local_frames_sent"], 20) << rank;
    EXPECT_LE(all["transport_frames_received"], 6) << rank;  // greetings of who found no inbox yet
  }
  EXPECT_NE(cluster.run({"status", "--rank", "0"}).out.find("memory shared with 3 nodes"), std::string::npos);
  EXPECT_EQ(files().size(), 2u * 4 + 1);
  cluster.run({"down"});
  EXPECT_EQ(files(), std::set<std::string>{".lock"});
}

TEST_F(SharedMemory, OnceAFolderIsOpenToOthersItIsNotUsed) {
  up(2, fs::perms::owner_all | fs::perms::others_read);
  const Json all = counters(cluster, 0);
  EXPECT_FALSE(all.contains("local_peers"));
  EXPECT_GT(all["transport_frames_received"], 20);
  std::ifstream log(cluster.dir() + "/node-0.log");
  const std::string text(std::istreambuf_iterator<char>(log), {});
  EXPECT_NE(text.find("must be a folder of this user that nobody else may enter"), std::string::npos) << text;
}

}  // namespace
}  // namespace fibocast
