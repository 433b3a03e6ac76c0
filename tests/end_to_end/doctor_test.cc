// fibocast doctor beside real daemons: those that are well, and those that are not.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "tests/end_to_end/programs.h"

namespace fibocast {
namespace {

Json check_of(const Json& document, const std::string& name) {
  for (const Json& check : document["checks"])
    if (check["check"] == name) return check;
  ADD_FAILURE() << name << " is missing in " << document;
  return {};
}

class Doctor : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Transports, Doctor, testing::Values("udp", "tcp"));

TEST_P(Doctor, FindsNothingWrongWhereAllIsWell) {
  TestCluster cluster;
  cluster.up({"-n", "3", "--transport", GetParam(), "--settings", "security.key_file=" + cluster.key_file()});
  const Ended ended = cluster.run({"doctor", "--rank", "1", "--json"});
  EXPECT_EQ(ended.exit_code, 0) << ended.out << ended.err;
  const Json document = ended.json();
  EXPECT_EQ(document["status"], "OK");
  for (const std::string name : {"daemon", "settings", "port", "key", "mtu", "clock", "reachability"})
    EXPECT_EQ(check_of(document, name)["health"], "ok") << document;
  check_of(document, "receive-buffer");
  check_of(document, "shared-memory");
  ASSERT_EQ(document["peers"].size(), 2u);
  EXPECT_EQ(document["peers"][1]["state"], "connected");
  EXPECT_GE(document["peers"][1]["since_ns"], 0);
  EXPECT_EQ(document["peers"][1]["clock_bound_ns"], 0) << "one host, one clock";
  const Ended text = cluster.run({"doctor", "--socket", cluster.dir() + "/node-0.sock"});
  EXPECT_EQ(text.exit_code, 0) << text.out;
  EXPECT_EQ(text.out.rfind("ok       daemon          rank 0 of 3", 0), 0u) << text.out;
  EXPECT_EQ(std::ranges::count(text.out, '\n'), 8) << text.out;
}

TEST_P(Doctor, NamesWhoIsLostAndSinceWhen) {
  TestCluster cluster;
  cluster.up({"-n", "3", "--transport", GetParam()});
  ASSERT_EQ(cluster.run({"drain", "--rank", "2", "--quiet"}).exit_code, 0);
  ASSERT_TRUE(eventually([&] { return cluster.client(0)->status()->peers[1].state == "lost"; }));
  const Ended ended = cluster.run({"doctor", "--rank", "0", "--quiet"});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_NE(ended.out.find("wrong    reachability    rank 2 "), std::string::npos) << ended.out;
  EXPECT_NE(ended.out.find("is lost, for "), std::string::npos) << ended.out;
  EXPECT_EQ(ended.out.find("ok  "), std::string::npos) << ended.out;
}

TEST(DoctorAlone, SettingsBeforeTheDaemonRuns) {
  TestCluster cluster;
  cluster.up({"-n", "1"});
  const std::string file = cluster.file("node.toml");
  const auto examine = [&](const std::string& settings) {
    std::ofstream(file) << settings;
    return cluster.run({"doctor", "--config", file, "--json"});
  };
  const std::string node = "[node]\nsocket = \"" + cluster.file("none.sock") + "\"\nlisten = \"127.0.0.1:";
  const Ended good = examine(node + "0\"\n");
  EXPECT_EQ(good.exit_code, 0) << good.out << good.err;
  EXPECT_EQ(check_of(good.json(), "daemon")["health"], "warning");
  EXPECT_EQ(check_of(good.json(), "settings")["health"], "ok");
  const Ended mistake = examine("[node]\ncolour = 1\n");
  EXPECT_EQ(mistake.exit_code, 1);
  EXPECT_NE(check_of(mistake.json(), "settings")["found"].get<std::string>().find("colour"), std::string::npos);
  const std::string address = cluster.client(0)->status()->address;
  const Ended taken = examine(node + address.substr(address.find(':') + 1) + "\"\n");
  EXPECT_EQ(taken.exit_code, 1);
  EXPECT_EQ(check_of(taken.json(), "port")["health"], "wrong") << taken.out;
  EXPECT_EQ(cluster.run({"doctor", "--socket", cluster.file("none")}).exit_code, 5);
  EXPECT_EQ(cluster.run({"doctor"}).exit_code, 2) << "which daemon?";
}

}  // namespace
}  // namespace fibocast
