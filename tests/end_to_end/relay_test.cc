// A client of one daemon is a client of any: what it says is carried there and back.
#include <gtest/gtest.h>
#include <signal.h>

#include "tests/end_to_end/programs.h"

namespace fibocast {
namespace {

class Relayed : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { cluster_.up(up_over(GetParam(), 3)); }
  Result<std::shared_ptr<Client>> reach(NodeId node, NodeId through = 0) {
    Client::Options options;
    options.socket_path = cluster_.dir() + "/node-" + std::to_string(through) + ".sock";
    options.node = node;
    options.executor = context_.get_executor();
    return Client::connect(options);
  }
  boost::asio::io_context context_;
  TestCluster cluster_;
};

// All three participants, two of them through the daemon of rank 0, in one thread.
TEST_P(Relayed, OperationsOfAnySize) {
  std::shared_ptr<Client> clients[3];
  std::unique_ptr<Group> groups[3];
  for (NodeId node = 0; node < 3; ++node) {
    auto client = reach(node);
    ASSERT_TRUE(client.ok()) << client.status().sentence;
    clients[node] = *client;
    EXPECT_EQ(clients[node]->rank(), node);
    auto status = clients[node]->status();
    ASSERT_TRUE(status.ok());
    EXPECT_EQ(status->rank, node);
    auto group = clients[node]->open("all");
    ASSERT_TRUE(group.ok()) << group.status().sentence;
    groups[node] = std::make_unique<Group>(std::move(*group));
  }
  const std::vector<std::byte> payload(3'000'000, std::byte{42});
  for (const Rank root : {2u, 0u}) {
    int left = 3;
    std::vector<std::byte> got[3];
    for (NodeId node = 0; node < 3; ++node) {
      const std::span<const std::byte> mine = node == root ? std::span(payload) : std::span<const std::byte>{};
      groups[node]->async_multicast(root, mine, kPatience, [&, node](const Outcome& outcome) {
        EXPECT_TRUE(outcome.ok()) << outcome.status.sentence;
        got[node] = outcome.payload;
        --left;
      });
    }
    context_.restart();
    while (left > 0) context_.run_one();
    for (NodeId node = 0; node < 3; ++node) EXPECT_TRUE(node == root || got[node] == payload) << node;
  }
}

TEST_P(Relayed, WhoCannotBeReachedIsNamed) {
  auto stranger = reach(7);
  ASSERT_FALSE(stranger.ok());
  EXPECT_EQ(stranger.status().code, Code::kInvalid);
  EXPECT_NE(stranger.status().sentence.find("rank 7 is not in the cluster of 3 daemons"), std::string::npos);
  auto client = reach(2, 1);
  ASSERT_TRUE(client.ok());
  kill(static_cast<pid_t>((*client)->status()->pid), SIGKILL);
  EXPECT_TRUE(eventually([&] { return !(*client)->status().ok(); })) << "the connection ends with the daemon";
  EXPECT_TRUE(eventually([&] { return !reach(2, 1).ok(); }));
  EXPECT_NE(reach(2, 1).status().sentence.find("rank 2 is not connected to rank 1"), std::string::npos);
}

// The daemons' own tags are no application's.
TEST_P(Relayed, ReservedTagsAreRefused) {
  auto client = reach(0);
  ASSERT_TRUE(client.ok());
  EXPECT_EQ((*client)->send(1, ~std::uint64_t{0}, {}).code, Code::kInvalid);
  EXPECT_EQ((*client)->receive(std::uint64_t{1} << 63).status.code, Code::kInvalid);
}

// Messages that an application does not read push back on who sends them, not on what daemons say to each other.
TEST_P(Relayed, PassesMessagesThatNobodyReads) {
  auto sender = cluster_.client(0), receiver = cluster_.client(1);
  for (const std::size_t bytes : {8u, 3'000'000u}) {
    const std::vector<std::byte> message(bytes, std::byte{7});
    int sent = 0;
    while (sent < 10'000 && sender->try_send(1, 5, message).ok()) ++sent;
    EXPECT_GT(sent, 0);
    EXPECT_LT(sent, 10'000) << "nothing ever pushed back";
    auto client = reach(1);
    ASSERT_TRUE(client.ok()) << client.status().sentence;
    for (int i = 0; i < 20; ++i) ASSERT_TRUE((*client)->status().ok()) << i;
    for (int i = 0; i < sent; ++i) ASSERT_TRUE(receiver->receive(5, kPatience).bytes == message) << i;
  }
}

// More clients than a daemon has places for relays, one after the other: what ended is forgotten.
TEST_P(Relayed, NothingIsLeftOfWhoEnded) {
  for (int i = 0; i < 600; ++i) {
    auto client = reach(1 + i % 2);
    ASSERT_TRUE(client.ok()) << i << ": " << client.status().sentence;
  }
  EXPECT_TRUE(eventually([&] { return cluster_.client(1)->status()->clients == 1; }));
}

INSTANTIATE_TEST_SUITE_P(Transports, Relayed, testing::Values("udp", "tcp", "memory"));

}  // namespace
}  // namespace fibocast
