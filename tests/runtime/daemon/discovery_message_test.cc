#include "runtime/daemon/discovery_message.h"

#include <gtest/gtest.h>

namespace fibocast {
namespace {

TEST(DiscoveryMessage, IsReadByTheSameClusterOnly) {
  DiscoveryMessage message;
  message.kind = DiscoveryMessage::Kind::kPropose;
  message.from = 0xabc;
  message.port = 7117;
  message.host = "node-3";
  message.list.cluster = 9;
  const std::string text = write_message("render farm", message);
  const auto read = read_message("render farm", text);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->kind, message.kind);
  EXPECT_EQ(read->from, 0xabcu);
  EXPECT_EQ(read->port, 7117);
  EXPECT_FALSE(read->has_rank);
  EXPECT_EQ(read->host, "node-3");
  EXPECT_EQ(read->list.cluster, 9u);
  EXPECT_FALSE(read_message("render", text));
}

TEST(DiscoveryMessage, NoiseIsNotRead) {
  const std::string text = write_message("a", {});
  EXPECT_FALSE(read_message("a", text)) << "from nobody";
  for (const char* noise :
       {"", "fibocast discovery 1 a\n", "fibocast discovery 1 a\nshout 1 7117 member h\n",
        "fibocast discovery 2 a\nask 1 7117 member h\ncluster 0 proposer 0 version 0 members 0\nend\n",
        "fibocast discovery 1 a\nask 1 70000 member h\ncluster 0 proposer 0 version 0 members 0\nend\n"})
    EXPECT_FALSE(read_message("a", noise)) << noise;
}

}  // namespace
}  // namespace fibocast
