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

TEST(Settings, NameAndPortOfDiscovery) {
  EXPECT_EQ(parse_discover("dns:node")->host, "node");
  EXPECT_EQ(parse_discover("dns:node.cluster")->port, 7118);
  EXPECT_EQ(parse_discover("dns:node:9")->port, 9);
  for (const char* text : {"", "node", "dns:", "dns:node:", "dns:node:0", "dns:a b", "dns:a:b:1"})
    EXPECT_FALSE(parse_discover(text)) << text;
}

TEST(Settings, RanksAreFoundOutOrGiven) {
  Settings settings;
  settings.node.discover = "dns:node";
  settings.security.mode = SecurityMode::kInsecure;
  EXPECT_EQ(complete_settings(settings)->key, "node.expect");
  settings.node.expect = 3;
  EXPECT_FALSE(complete_settings(settings));
  EXPECT_TRUE(is_to_discover(settings));
  EXPECT_EQ(settings.node.listen, "0.0.0.0:7117");
  settings.node.listen = "0.0.0.0:7118";
  EXPECT_EQ(complete_settings(settings)->key, "node.discover");
  settings.node.listen.clear();
  settings.cluster.nodes = {"a:1", "b:1", "c:1"};
  EXPECT_EQ(complete_settings(settings)->key, "cluster.nodes");
  settings.node.rank = 1;  // found
  EXPECT_FALSE(complete_settings(settings));
  EXPECT_EQ(settings.node.advertise, "b:1");
}

TEST(Settings, AnAdvertisedAddressMustBeTheOneInTheList) {
  Settings settings;
  settings.node.advertise = "10.0.0.1:7117";
  const auto mistake = complete_settings(settings);
  ASSERT_TRUE(mistake);
  EXPECT_EQ(mistake->key, "node.advertise");
}

TEST(Settings, MetricsAreForThisHostUnlessTheyArePublic) {
  Settings settings;
  ASSERT_FALSE(complete_settings(settings));
  for (const char* good : {"", "127.0.0.1:0", "localhost:9117", "[::1]:9117"}) {
    settings.metrics.listen = good;
    EXPECT_FALSE(find_security_mistake(settings)) << good;
  }
  settings.metrics.listen = "0.0.0.0:9117";
  const auto mistake = find_security_mistake(settings);
  ASSERT_TRUE(mistake);
  EXPECT_EQ(mistake->key, "metrics.listen");
  EXPECT_NE(mistake->sentence.find("--metrics.public true"), std::string::npos);
  settings.metrics.is_public = true;
  EXPECT_FALSE(find_security_mistake(settings));
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
