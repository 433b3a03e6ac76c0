#include "runtime/daemon/local_path.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "transport/udp_transport.h"

namespace fibocast {
namespace {

NodeAddress at(const char* address, std::uint16_t port) { return {boost::asio::ip::make_address(address), port}; }
const NodeAddress kHere = at("127.0.0.1", 7117);

TEST(InboxNames, AreOfAddressClusterAndKey) {
  Settings settings;
  const KeyRing key(ClusterKey::generate()), other(ClusterKey::generate());
  Settings renamed;
  renamed.cluster.name = "other";
  std::set<std::string> names;
  for (const std::string& name :
       {InboxNames(settings, &key).of(kHere), InboxNames(settings, &other).of(kHere),
        InboxNames(settings, nullptr).of(kHere), InboxNames(renamed, &key).of(kHere),
        InboxNames(settings, &key).of(at("127.0.0.1", 7118)), InboxNames(settings, &key).of(at("127.0.0.2", 7117))}) {
    EXPECT_TRUE(names.insert(name).second);
    EXPECT_EQ(name.find_first_not_of("0123456789abcdef"), std::string::npos) << name;
  }
  EXPECT_TRUE(names.contains(InboxNames(settings, &key).of(kHere)));
}

class LocalPathTest : public testing::Test {
 protected:
  LocalPathTest() { settings.node.rank = 0, settings.cluster.local = folder; }
  ~LocalPathTest() override { std::filesystem::remove_all(folder); }
  bool is_used(const std::vector<NodeAddress>& nodes) {
    const UdpSettings any{.listen = {boost::asio::ip::make_address("127.0.0.1"), 0}};
    UdpTransport sockets(io, any);
    return make_local_path(io, sockets, settings, nodes, nullptr, 5, [this](const std::string& sentence) {
             warnings.push_back(sentence);
           }).transport != nullptr;
  }
  const std::string folder = "/tmp/fibocast-path-" + std::to_string(getpid());
  boost::asio::io_context io;
  Settings settings;
  std::vector<std::string> warnings;
};

TEST_F(LocalPathTest, IsForWhoMayShareMemory) {
  EXPECT_TRUE(is_used({kHere, at("10.0.0.2", 7117)}));  // in a folder of their own, anybody
  EXPECT_FALSE(is_used({kHere}));
  settings.cluster.local = "auto";
  EXPECT_FALSE(is_used({kHere, at("10.0.0.2", 7117)}));
  EXPECT_FALSE(is_used({at("10.0.0.1", 7117), at("10.0.0.2", 7117), kHere}));
  settings.cluster.local = "off";
  EXPECT_FALSE(is_used({kHere, at("127.0.0.1", 7118)}));
  EXPECT_TRUE(warnings.empty());
}

TEST_F(LocalPathTest, IsNotUsedWhereEveryFrameHasToPassTheSockets) {
  const std::vector<NodeAddress> both = {kHere, at("127.0.0.1", 7118)};
  settings.faults.loss_percent = 1;
  EXPECT_FALSE(is_used(both));
  settings.faults = {};
  settings.emulation.s_ns = 1000;
  EXPECT_FALSE(is_used(both));
  settings.emulation = {};
  EXPECT_TRUE(is_used(both));
}

TEST_F(LocalPathTest, AFolderThatCannotBeUsedIsSaidAndTheSocketsAreUsed) {
  settings.cluster.local = "/proc/nowhere";
  EXPECT_FALSE(is_used({kHere, at("127.0.0.1", 7118)}));
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_EQ(warnings[0].find("cluster.local: /proc/nowhere"), 0u) << warnings[0];
}

}  // namespace
}  // namespace fibocast
