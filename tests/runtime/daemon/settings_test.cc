#include "runtime/daemon/settings.h"

#include <gtest/gtest.h>

namespace fibocast {
namespace {

TEST(Settings, TheNicIsScaled) {
  Settings settings;
  EXPECT_FALSE(nic_settings(settings).enabled);
  settings.emulation.s_ns = 27;
  settings.emulation.o_ns = 88;
  settings.emulation.send_per_byte_ns = 0.5;
  settings.emulation.scale = 100;
  const NicSettings nic = nic_settings(settings);
  EXPECT_TRUE(nic.enabled);
  EXPECT_EQ(nic.send, 2'700);
  EXPECT_EQ(nic.latency, 0);
  EXPECT_EQ(nic.receive, 8'800);
  EXPECT_EQ(nic.send_per_byte, 50);
}

TEST(Settings, TheDigestIsOfNameNodesAndModel) {
  Settings a, b;
  EXPECT_EQ(cluster_digest(a), cluster_digest(b));
  b.cluster.name = "other";
  EXPECT_NE(cluster_digest(a), cluster_digest(b));
  b = a;
  b.model.o_ns += 1;
  EXPECT_NE(cluster_digest(a), cluster_digest(b));
  b = a;
  b.emulation.s_ns = 1;
  EXPECT_NE(cluster_digest(a), cluster_digest(b));
  a.cluster.nodes = {"ab:1", "c:1"};
  b = a;
  b.cluster.nodes = {"c:1", "ab:1"};
  EXPECT_NE(cluster_digest(a), cluster_digest(b));
  b.node.rank = 1;
  b.cluster.nodes = a.cluster.nodes;
  EXPECT_EQ(cluster_digest(a), cluster_digest(b));
}

TEST(Settings, HostAndPort) {
  EXPECT_EQ(parse_host_port("n0:7117")->host, "n0");
  EXPECT_EQ(parse_host_port("n0:7117")->port, 7117);
  EXPECT_EQ(parse_host_port("[::1]:5")->host, "::1");
  for (const char* text : {"", "n0", ":5", "n0:", "n0:65536", "n0:-1", "n0:5x", "::1:5", "[]:5"})
    EXPECT_FALSE(parse_host_port(text)) << text;
}

TEST(Settings, AnAdvertisedAddressMustBeTheOneInTheList) {
  Settings settings;
  settings.node.advertise = "10.0.0.1:7117";
  const auto mistake = complete_settings(settings);
  ASSERT_TRUE(mistake);
  EXPECT_EQ(mistake->key, "node.advertise");
}

TEST(Settings, MoreNodesThanTheLimit) {
  Settings settings;
  settings.limits.nodes = 1;
  settings.cluster.nodes = {"a:1", "b:1"};
  ASSERT_TRUE(complete_settings(settings));
  EXPECT_EQ(complete_settings(settings)->sentence, "has 2 entries, but limits.nodes is 1; raise limits.nodes");
}

}  // namespace
}  // namespace fibocast
