#include "runtime/cli/node_file.h"

#include <gtest/gtest.h>

namespace fibocast {
namespace {

NodeFileRequest two_nodes() {
  NodeFileRequest request;
  request.dir = "/d";
  request.addresses = {"127.0.0.1:1", "127.0.0.1:2"};
  return request;
}

TEST(NodeFile, Plain) {
  EXPECT_EQ(node_file(two_nodes(), 1),
            "# Written by fibocast up.\n"
            "[cluster]\nname = \"local\"\nnodes = [\"127.0.0.1:1\", \"127.0.0.1:2\"]\ntransport = \"udp\"\n"
            "[node]\nadvertise = \"127.0.0.1:2\"\nlisten = \"127.0.0.1:2\"\nrank = 1\nsocket = \"/d/node-1.sock\"\n");
}

TEST(NodeFile, OfDaemonsThatShareNoMemory) {
  NodeFileRequest request = two_nodes();
  EXPECT_EQ(node_file(request, 0).find("local ="), std::string::npos);
  request.shares_memory = false;
  EXPECT_NE(node_file(request, 0).find("local = \"off\"\n"), std::string::npos);
}

TEST(NodeFile, MachineLossAndSettings) {
  NodeFileRequest request = two_nodes();
  request.machine = *find_machine("manna");
  request.scale = 100;
  request.loss_percent = 2.5;
  request.wait = "block";
  request.settings = {"log.level=debug", "detector.suspicion_ms=500", "runtime.wait=poll"};
  const std::string text = node_file(request, 0);
  for (const char* line :
       {"s_ns = 27000\n", "o_ns = 88000\n", "scale = 100\n", "loss_percent = 2.5\n", "level = \"debug\"\n",
        "suspicion_ms = 500\n", "wait = \"poll\"\n", "resend_floor_ms = 100\n"})
    EXPECT_NE(text.find(line), std::string::npos) << line << text;
}

TEST(NodeFile, MachinesAndSettingsByName) {
  EXPECT_FALSE(find_machine("abacus"));
  ASSERT_TRUE(find_machine("none"));
  EXPECT_FALSE(*find_machine("none"));
  EXPECT_TRUE(is_setting("a.b=c"));
  for (const char* wrong : {"", "a=b", "a.b", "a.b=", "A.b=c"}) EXPECT_FALSE(is_setting(wrong)) << wrong;
}

}  // namespace
}  // namespace fibocast
