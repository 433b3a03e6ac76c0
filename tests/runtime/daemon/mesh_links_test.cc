// The links of an emulated mesh: what several daemons find in the file that they share.
#include "runtime/daemon/mesh_links.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <system_error>

namespace fibocast {
namespace {

class MeshLinksTest : public testing::Test {
 protected:
  MeshLinksTest() {
    std::string pattern = testing::TempDir() + "fibocast-mesh-XXXXXX";
    folder_ = mkdtemp(pattern.data());
  }
  ~MeshLinksTest() override { std::filesystem::remove_all(folder_); }
  // 2 rows of 3: 0 1 2 / 3 4 5
  std::unique_ptr<MeshLinks> at(NodeId self, std::vector<NodeId> places = {0, 1, 2, 3, 4, 5}) const {
    return std::make_unique<MeshLinks>(MeshSettings{folder_ + "/links", 3, std::move(places), 100, 10}, self);
  }
  std::string folder_;
};

TEST_F(MeshLinksTest, AMessageThatNobodyDisturbsTakesTheLatency) { EXPECT_EQ(at(5)->carry(0, 1000), 1010); }

TEST_F(MeshLinksTest, WhoSharesALinkWaitsUntilTheWholeWayIsLetGo) {
  const auto two = at(2), five = at(5);
  EXPECT_EQ(two->carry(0, 1000), 1010);   // 0-1-2
  EXPECT_EQ(five->carry(1, 1020), 1110);  // 1-2-5: shares 1-2, which is free at 1100
  EXPECT_EQ(five->carry(2, 1150), 1210);  // 2-5 is held until 1200
  EXPECT_EQ(two->carry(0, 5000), 5010);
}

TEST_F(MeshLinksTest, OtherDirectionsAndOtherWaysDoNotDisturb) {
  const auto zero = at(0), two = at(2), four = at(4);
  EXPECT_EQ(two->carry(0, 1000), 1010);
  EXPECT_EQ(zero->carry(2, 1000), 1010);   // the way back
  EXPECT_EQ(four->carry(3, 1000), 1010);   // the other row
  EXPECT_EQ(at(3)->carry(1, 1000), 1110);  // west first: shares 1-0 with the way back
}

TEST_F(MeshLinksTest, NodesAreWhereTheyArePlaced) {
  const std::vector<NodeId> places{5, 4, 3, 2, 1, 0};
  const auto zero = at(0, places), three = at(3, places);
  EXPECT_EQ(zero->carry(3, 1000), 1010);   // place 2 to place 5
  EXPECT_EQ(three->carry(4, 1000), 1010);  // place 1 to place 2
  EXPECT_EQ(zero->carry(4, 1000), 1110);   // place 1 to place 5 by 2
}

TEST_F(MeshLinksTest, PlacesAreAllNumbersOnceInFullRows) {
  EXPECT_EQ(parse_places("3,0,2,1", 2), (std::vector<NodeId>{3, 0, 2, 1}));
  for (const char* wrong : {"", "0,", "0,0", "1,2", "a", "0;1", "0,1,"}) EXPECT_FALSE(parse_places(wrong, 1)) << wrong;
  EXPECT_FALSE(parse_places("0,1,2", 2));
  EXPECT_FALSE(parse_places("0,1", 0));
}

TEST_F(MeshLinksTest, AFileThatCannotBeMadeIsAnError) {
  EXPECT_THROW(MeshLinks({"/none/links", 1, {0}, 1, 1}, 0), std::system_error);
}

}  // namespace
}  // namespace fibocast
