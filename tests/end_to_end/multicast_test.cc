// Bytes from one to all, and from one to another.
#include <gtest/gtest.h>

#include <fstream>
#include <random>
#include <thread>

#include "tests/end_to_end/programs.h"

namespace fibocast {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;

std::vector<std::byte> random_payload(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::byte> bytes(count);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

TEST(Multicast, FromAFileAndFromStandardInput) {
  TestCluster cluster;
  cluster.up({"-n", "3"});
  std::ofstream(cluster.file("text")) << "to all of you\n";
  for (const bool from_file : {true, false}) {
    std::vector<Running> receivers;
    for (const char* rank : {"0", "2"})
      receivers.push_back(cluster.start({"multicast", "all", "--from", "1", "--rank", rank}));
    const Words sender = {"multicast", "all", "--from", "1", "--rank", "1", "--file"};
    Words words = sender;
    words.push_back(from_file ? cluster.file("text") : "-");
    const Ended sent = cluster.run(words, "to all of you\n");
    EXPECT_EQ(sent.exit_code, 0) << sent.err;
    EXPECT_EQ(sent.out, "");
    for (Running& receiver : receivers) {
      const Ended got = receiver.wait();
      EXPECT_EQ(got.exit_code, 0) << got.err;
      EXPECT_EQ(got.out, "to all of you\n");
    }
  }
}

TEST(Multicast, EightMebibytesToFifteenOverALossyNetwork) {
  constexpr NodeId kNodes = 16;
  TestCluster cluster;
  cluster.up({"-n", "16", "--loss", "5"});
  const auto payload = random_payload(8 << 20, 1);
  std::vector<std::thread> members;
  for (NodeId rank = 0; rank < kNodes; ++rank)
    members.emplace_back([&, rank] {
      auto group = cluster.client(rank)->open("all");
      ASSERT_TRUE(group.ok()) << group.status().sentence;
      const bool root = rank == 5;
      const Outcome outcome =
          group->multicast(5, root ? std::span<const std::byte>(payload) : std::span<const std::byte>(), minutes(2));
      EXPECT_TRUE(outcome.ok()) << "rank " << rank << ": " << outcome.status.sentence;
      EXPECT_TRUE(root || outcome.payload == payload) << "rank " << rank << " got other bytes";
    });
  for (std::thread& member : members) member.join();
  EXPECT_GT(cluster.sum(kNodes, &PeerInfo::resends), 0u);
}

TEST(Messages, ALargeOneThenASmallOneKeepTheirOrder) {
  TestCluster cluster;
  cluster.up({"-n", "2", "--loss", "2"});
  auto sender = cluster.client(0), receiver = cluster.client(1);
  const auto large = random_payload(8 << 20, 2), small = random_payload(8, 3);
  ASSERT_TRUE(sender->send(1, 7, large, minutes(1)).ok());
  ASSERT_TRUE(sender->send(1, 7, small, minutes(1)).ok());
  const Received first = receiver->receive(7, minutes(1)), second = receiver->receive(7, minutes(1));
  ASSERT_TRUE(first.ok()) << first.status.sentence;
  ASSERT_TRUE(second.ok()) << second.status.sentence;
  EXPECT_TRUE(first.bytes == large);
  EXPECT_TRUE(second.bytes == small);
  EXPECT_EQ(first.from, 0u);
}

TEST(Messages, ASlowReceiverPushesBack) {
  TestCluster cluster;
  cluster.up({"-n", "2", "--settings", "limits.payload_bytes=4194304"});
  auto sender = cluster.client(0), receiver = cluster.client(1);
  const auto chunk = random_payload(1 << 20, 4);
  std::size_t sent = 0;
  const Status full = [&] {
    for (;; ++sent)
      if (Status status = sender->send(1, 1, chunk, milliseconds(500)); !status.ok()) return status;
  }();
  EXPECT_EQ(full.code, Code::kDeadlineExceeded) << full.sentence;
  EXPECT_EQ(sender->try_send(1, 1, chunk).code, Code::kWouldBlock);
  EXPECT_GE(sent, 2u);   // a quarter of the sender's budget, and a quarter of the receiver's
  EXPECT_LE(sent, 16u);  // and what the receiver's admits
  for (std::size_t i = 0; i < sent; ++i) {
    const Received got = receiver->receive(1, minutes(1));
    ASSERT_TRUE(got.ok()) << got.status.sentence;
    EXPECT_TRUE(got.bytes == chunk);
  }
  EXPECT_TRUE(sender->send(1, 1, chunk, minutes(1)).ok());
  EXPECT_TRUE(receiver->receive(1, minutes(1)).ok());
}

// However much too large: the connection stays, and what is said is what helps.
TEST(Payloads, ThatCanNeverFitAreRefusedWithOneSentence) {
  TestCluster cluster;
  cluster.up({"-n", "1", "--settings", "limits.payload_bytes=4194304"});
  auto client = cluster.client(0);
  auto group = client->open("all");
  ASSERT_TRUE(group.ok()) << group.status().sentence;
  const std::string sentence = ": too many bytes for the budget of this node; raise limits.payload_bytes";
  for (const std::size_t size : {(4 << 20) + 1, (4 << 20) + (1 << 17), 40 << 20}) {
    const std::vector<std::byte> bytes(size);
    EXPECT_EQ(client->send(0, 1, bytes, minutes(1)).sentence, "message to rank 0" + sentence) << size;
    const Outcome outcome = group->multicast(0, bytes, minutes(1), {.label = "big"});
    EXPECT_EQ(outcome.status.code, Code::kInvalid) << size;
    EXPECT_EQ(outcome.status.sentence, "multicast 'all' (label 'big')" + sentence) << size;
  }
  EXPECT_TRUE(group->barrier(minutes(1)).ok());
}

TEST(Payloads, AreReadNoFurtherThanTheyFitAndNoLongerThanTheDeadline) {
  TestCluster cluster;
  cluster.up({"-n", "1", "--settings", "limits.payload_bytes=4194304"});
  const std::string socket = "FIBOCAST_SOCKET=$DIR/node-0.sock ";
  for (const char* words : {"multicast all --from 0", "allgather all"}) {
    const Ended endless = cluster.shell(socket + "fibocast " + words + " --file /dev/zero");
    EXPECT_EQ(endless.exit_code, 2) << words;
    EXPECT_NE(endless.err.find("raise limits.payload_bytes"), std::string::npos) << endless.err;
    const Ended silent = cluster.shell("mkfifo p-$$; " + socket + "fibocast " + words + " --deadline 50ms --file p-$$");
    EXPECT_EQ(silent.exit_code, 3) << words;
    EXPECT_NE(silent.err.find("the deadline passed while p-"), std::string::npos) << silent.err;
  }
}

TEST(Messages, NothingComesBeforeTheDeadline) {
  TestCluster cluster;
  cluster.up({"-n", "1"});
  const Received nothing = cluster.client(0)->receive(1, milliseconds(50));
  EXPECT_EQ(nothing.status.code, Code::kDeadlineExceeded) << nothing.status.sentence;
}

}  // namespace
}  // namespace fibocast
