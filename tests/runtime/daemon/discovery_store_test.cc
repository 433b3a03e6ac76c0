#include "runtime/daemon/discovery_store.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "runtime/daemon/settings_loader.h"

namespace fibocast {
namespace {

class DiscoveryStoreTest : public ::testing::Test {
 protected:
  ~DiscoveryStoreTest() override { std::filesystem::remove_all(std::filesystem::path(folder_).parent_path()); }
  std::string mistake() {
    try {
      DiscoveryStore store(folder_);
    } catch (const SettingsError& error) {
      return error.what();
    }
    return "no mistake";
  }
  const std::string folder_ =
      std::filesystem::temp_directory_path() / ("fibocast-store-" + std::to_string(getpid())) / "state";
};

TEST_F(DiscoveryStoreTest, TheIdAndTheListStay) {
  DiscoveryState state;
  {
    DiscoveryStore store(folder_);
    state = store.state();
    EXPECT_NE(state.id, 0u);
    state.list = {
        5, 1, state.id, {{state.id, "10.0.0.1:7117", {boost::asio::ip::make_address("10.0.0.1"), 7117}, "h"}}};
    store.keep(state);
  }
  DiscoveryStore store(folder_);
  EXPECT_EQ(store.state().id, state.id);
  EXPECT_EQ(store.state().list.cluster, 5u);
  EXPECT_EQ(store.state().list.rank_of(state.id), NodeId{0});
}

TEST_F(DiscoveryStoreTest, IsOneDaemonsOnly) {
  DiscoveryStore store(folder_);
  EXPECT_NE(mistake().find("another daemon uses " + folder_), std::string::npos) << mistake();
}

TEST_F(DiscoveryStoreTest, AFileThatIsNotWholeIsNotGuessedAt) {
  { DiscoveryStore store(folder_); }
  std::ofstream(folder_ + "/cluster") << "fibocast state 1\nid 5\ncluster 1 proposer 1 version 1 members 1\n";
  EXPECT_NE(mistake().find("remove the folder"), std::string::npos) << mistake();
}

TEST_F(DiscoveryStoreTest, AFolderThatCannotBeMadeIsNamed) {
  std::filesystem::create_directories(std::filesystem::path(folder_).parent_path());
  std::ofstream(folder_) << "a file";
  EXPECT_NE(mistake().find("cannot make " + folder_ + "/lock"), std::string::npos) << mistake();
}

}  // namespace
}  // namespace fibocast
