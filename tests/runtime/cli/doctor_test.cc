#include "runtime/cli/doctor.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/udp.hpp>
#include <fstream>

#include "runtime/daemon/key_file.h"

namespace fibocast {
namespace {

using boost::asio::ip::udp;

// Of two nodes on loopback.
Patient with_settings() {
  Patient patient;
  patient.file = "node.toml";
  patient.settings.emplace();
  patient.settings->cluster.nodes = {"127.0.0.1:0", "127.0.0.1:9"};
  patient.settings->node.rank = 0;
  patient.settings->node.listen = "127.0.0.1:0";
  return patient;
}

Patient with_daemon() {
  Patient patient = with_settings();
  NodeInfo node;
  node.rank = 0, node.size = 2, node.cluster = "fibocast", node.transport = "udp";
  node.peers.push_back({.rank = 1, .address = "127.0.0.1:9", .state = "connected"});
  node.security = "no key: only this host can reach it";
  patient.node = node;
  return patient;
}

TEST(Doctor, APortIsFreeTakenOrOfAnotherHost) {
  Patient patient = with_settings();
  EXPECT_EQ(check_port(patient).health, Health::kOk);
  boost::asio::io_context io;
  udp::socket taken(io, udp::endpoint(boost::asio::ip::address_v4::loopback(), 0));
  patient.settings->node.listen = "127.0.0.1:" + std::to_string(taken.local_endpoint().port());
  const Check check = check_port(patient);
  EXPECT_EQ(check.health, Health::kWrong);
  EXPECT_NE(check.found.find("in use by another program"), std::string::npos) << check.found;
  EXPECT_NE(check.remedy.find("node.listen"), std::string::npos) << check.remedy;
  patient.node = with_daemon().node;
  EXPECT_EQ(check_port(patient).health, Health::kOk) << "by the daemon itself";
  patient.settings->node.listen = "127.0.0.1:0";
  EXPECT_EQ(check_port(patient).health, Health::kWrong) << "the daemon is elsewhere";
  patient.node.reset();
  patient.settings->node.listen = "192.0.2.1:7117";
  EXPECT_EQ(check_port(patient).health, Health::kWrong);
}

TEST(Doctor, ATcpPortIsTakenByWhoListens) {
  Patient patient = with_settings();
  patient.settings->cluster.transport = TransportKind::kTcp;
  boost::asio::io_context io;
  const boost::asio::ip::tcp::acceptor taken(io, {boost::asio::ip::address_v4::loopback(), 0});
  patient.settings->node.listen = "127.0.0.1:" + std::to_string(taken.local_endpoint().port());
  EXPECT_EQ(check_port(patient).health, Health::kWrong);
  EXPECT_EQ(check_mtu(patient).front().health, Health::kOk);
}

TEST(Doctor, AKeyIsReadableByItsOwnerAndTheDaemonsOwn) {
  Patient patient = with_daemon();
  EXPECT_EQ(check_key(patient).health, Health::kOk);
  const std::string file = testing::TempDir() + "doctor-key-" + std::to_string(getpid());
  const KeyRing ring(ClusterKey::generate());
  create_key_file(file, ring);
  patient.settings->security.key_file = file;
  const Check without = check_key(patient);
  EXPECT_EQ(without.health, Health::kWrong);
  EXPECT_NE(without.found.find("the daemon has none"), std::string::npos) << without.found;
  patient.node->keys = {"0123456789abcdef"};
  EXPECT_EQ(check_key(patient).remedy, "fibocast key reload " + file);
  patient.node->keys = {key_id_text(ring.primary().id())};
  EXPECT_EQ(check_key(patient).health, Health::kOk);
  patient.node->counters["seal_refused_unknown_key"] = 3;
  EXPECT_EQ(check_key(patient).health, Health::kWarning);
  chmod(file.c_str(), 0644);
  const Check open = check_key(patient);
  EXPECT_EQ(open.health, Health::kWrong);
  EXPECT_NE(open.found.find("chmod 600"), std::string::npos) << open.found;
  unlink(file.c_str());
  EXPECT_EQ(check_key(patient).health, Health::kWrong);
}

TEST(Doctor, ADaemonWithOtherSettingsThanItsFile) {
  Patient patient = with_daemon();
  EXPECT_EQ(check_same_settings(patient).health, Health::kOk);
  patient.node->size = 3;
  patient.node->transport = "tcp";
  const Check check = check_same_settings(patient);
  EXPECT_EQ(check.health, Health::kWrong);
  EXPECT_EQ(check.found,
            "node.toml: cluster.transport is udp, but the daemon runs with tcp, the number of cluster.nodes is 2, but "
            "the daemon runs with 3");
}

TEST(Doctor, EachPeerThatIsNotConnectedHasALine) {
  Patient patient = with_daemon();
  EXPECT_EQ(check_peers(patient).front().found, "all 1 peers are connected");
  patient.node->peers.push_back({.rank = 2, .address = "b:1", .state = "lost"});
  patient.node->peers.push_back({.rank = 3, .address = "c:1", .state = "refused"});
  patient.node->peers.push_back({.rank = 4, .address = "d:1", .state = "connecting"});
  patient.since[2] = 5'400'000'000;
  const Checks checks = check_peers(patient);
  ASSERT_EQ(checks.size(), 3u);
  EXPECT_EQ(checks[0].found, "rank 2 (b:1) is lost, for 5 s");
  EXPECT_EQ(checks[0].health, Health::kWrong);
  EXPECT_NE(checks[1].remedy.find("[cluster]"), std::string::npos);
  EXPECT_EQ(checks[2].health, Health::kWarning);
}

TEST(Doctor, PathsToPeersAndThoseWithoutAnAddress) {
  Patient patient = with_daemon();
  const Checks good = check_mtu(patient);
  ASSERT_EQ(good.size(), 1u);
  EXPECT_EQ(good[0].health, Health::kOk) << good[0].found;
  EXPECT_NE(good[0].found.find("up to 1428"), std::string::npos) << good[0].found;
  patient.node->keys = {"x"};
  EXPECT_NE(check_mtu(patient)[0].found.find("up to 1460"), std::string::npos) << "PROTOCOL: 1,432 and IP's and UDP's";
  patient.node->peers[0].address = std::string(300, 'x') + ":7117";
  EXPECT_EQ(check_mtu(patient)[0].health, Health::kWrong);
}

TEST(Doctor, ClocksBufferAndMemory) {
  Patient patient = with_daemon();
  patient.clocks = {{1, {.same = true}}, {2, {.same = false, .bound = 42'000}}};
  EXPECT_EQ(check_clock(patient).health, Health::kOk);
  EXPECT_NE(check_clock(patient).found.find("1 peers have the same; those of 1 others are known to 42 us"),
            std::string::npos);
  patient.node->counters["transport_kernel_drops"] = 7;
  EXPECT_EQ(check_receive_buffer(patient).health, Health::kWarning);
  EXPECT_NE(check_receive_buffer(patient).remedy.find("rmem_max=8388608"), std::string::npos);
  patient.node->counters["local_peers"] = 1;
  EXPECT_EQ(check_shared_memory(patient).found, "shared with 1 nodes of this host");
  patient.node.reset();
  const std::string folder = testing::TempDir() + "doctor-folder-" + std::to_string(getpid());
  mkdir(folder.c_str(), 0755);
  patient.settings->cluster.local = folder;
  EXPECT_EQ(check_shared_memory(patient).health, Health::kWarning) << "others may enter it";
  chmod(folder.c_str(), 0700);
  EXPECT_NE(check_shared_memory(patient).health, Health::kWrong);
  rmdir(folder.c_str());
  patient.settings->cluster.local = "off";
  EXPECT_EQ(check_shared_memory(patient).health, Health::kOk);
}

}  // namespace
}  // namespace fibocast
