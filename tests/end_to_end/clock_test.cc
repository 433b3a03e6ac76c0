// Clocks of two hosts that differ: two daemons in two network namespaces, one of them in a time namespace as well, so
// that the true offset is known.
#include <gtest/gtest.h>

#include <fstream>
#include <optional>

#include "tests/end_to_end/parted_network.h"

namespace fibocast {
namespace {

constexpr NodeId kHosts = 2;
constexpr Nanoseconds kTrueOffset = 86'400'000'000'000;  // of rank 1: a day

class Clocks : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (network_.made().exit_code != 0) GTEST_SKIP() << "no network namespaces: " << network_.made().err;
    if (Running({"unshare", "--time", "--monotonic", "1", "true"}, {}, folder_.file("")).wait().exit_code != 0)
      GTEST_SKIP() << "no time namespaces";
    for (NodeId rank = 0; rank < kHosts; ++rank) start(rank);
    ASSERT_TRUE(eventually([&] { return reach(0, 1) != nullptr; }));
  }
  std::string socket(NodeId rank) const { return folder_.file("node-" + std::to_string(rank) + ".sock"); }
  void start(NodeId rank) {
    const std::string path = folder_.file("node-" + std::to_string(rank) + ".toml");
    std::ofstream(path) << "[node]\nrank = " << rank << "\nlisten = \"" << network_.address(rank) << "\"\nsocket = \""
                        << socket(rank) << "\"\n[cluster]\nnodes = [\"" << network_.address(0) << "\", \""
                        << network_.address(1) << "\"]\ntransport = \"" << GetParam() << "\"\n[security]\nkey_file = \""
                        << folder_.key_file() << "\"\n";
    Words words{"ip", "netns", "exec", network_.space_of(rank)};
    if (rank == 1)
      words.insert(words.end(), {"unshare", "--time", "--kill-child", "--fork", "--monotonic",
                                 std::to_string(kTrueOffset / 1'000'000'000)});
    words.insert(words.end(), {"fibocastd", "--config", path});
    daemons_[rank].emplace(words, std::string{}, folder_.file(""));
  }
  // Null while it does not answer.
  std::shared_ptr<Client> reach(NodeId through, NodeId node) {
    Client::Options options;
    options.socket_path = socket(through);
    options.node = node;
    auto client = Client::connect(options);
    return client.ok() ? *client : nullptr;
  }

  TestCluster folder_;
  PartedNetwork network_{folder_, kHosts, 1};
  std::optional<Running> daemons_[kHosts];
};

TEST_P(Clocks, TheErrorOfAnOffsetIsWithinItsBound) {
  for (int round = 0; round < 100; ++round) {
    const auto client = reach(round % 2, 1);  // through the other daemon and directly
    ASSERT_NE(client, nullptr);
    auto offset = measure_clock_offset(*client, 1 + round % 20);
    ASSERT_TRUE(offset.ok()) << offset.status().sentence;
    EXPECT_GT(offset->bound, 0);
    EXPECT_LE(std::abs(offset->offset - kTrueOffset), offset->bound);
  }
}

TEST_P(Clocks, OneClockNeedsNoBound) {
  auto offset = measure_clock_offset(*reach(0, 0));
  ASSERT_TRUE(offset.ok());
  EXPECT_EQ(offset->offset, 0);
  EXPECT_EQ(offset->bound, 0);
}

INSTANTIATE_TEST_SUITE_P(Transports, Clocks, testing::Values("udp", "tcp"));

}  // namespace
}  // namespace fibocast
