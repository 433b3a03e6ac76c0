#include "transport/local_transport.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/asio/local/datagram_protocol.hpp>
#include <filesystem>
#include <fstream>
#include <functional>
#include <system_error>

#include "transport/frame.h"
#include "transport/tcp_transport.h"
#include "transport/udp_transport.h"

namespace fibocast {
namespace {

namespace fs = std::filesystem;

// What would go over the network.
class Outside final : public Transport {
 public:
  void start(Handlers) override {}
  bool send(NodeId, std::span<const std::byte> head, std::span<const std::byte> payload) override {
    sizes.push_back(head.size() + payload.size());
    return true;
  }
  std::size_t max_frame(NodeId) const override { return largest; }
  std::size_t receive_buffer_bytes(NodeId) const override { return 1 << 20; }
  void stop() override {}
  std::vector<std::size_t> sizes;
  std::size_t largest = kMaxHeadBytes + kTcpPayload;
};

std::vector<std::byte> bytes(std::size_t n) { return std::vector<std::byte>(n, std::byte{7}); }

class LocalTransportTest : public ::testing::Test {
 protected:
  // One node of a cluster whose inboxes are called "node0", "node1" ...
  struct Node {
    Node(LocalTransportTest& test, NodeId self, std::uint32_t peers = 1, std::uint64_t incarnation = 0)
        : transport(test.io, outside,
                    {test.folder, "node" + std::to_string(self), self, incarnation ? incarnation : 100 + self, peers}) {
      for (NodeId id = 0; id < 4; ++id)
        if (id != self) transport.set_peer(id, "node" + std::to_string(id));
      transport.start({.on_frame =
                           [this](std::span<const std::byte> frame) {
                             frames.push_back(frame.size());
                             last.assign(frame.begin(), frame.end());
                             return true;
                           },
                       .place_of = [this](std::span<const std::byte>,
                                          std::size_t size) { return size <= place.size() ? place.data() : nullptr; },
                       .on_parts =
                           [this](std::span<const std::byte> head, std::span<const std::byte> payload) {
                             frames.push_back(head.size() + payload.size());
                             last.assign(head.begin(), head.end());
                             last.insert(last.end(), payload.begin(), payload.end());
                             in_place += payload.data() == place.data();
                             return true;
                           },
                       .on_writable = [this](NodeId peer) { writable.push_back(peer); },
                       .on_reset = {},
                       .on_refused = [this](NodeId peer) { refused.push_back(peer); }});
    }
    bool send(NodeId to, std::size_t n) { return transport.send(to, bytes(n / 2), bytes(n - n / 2)); }
    Outside outside;
    LocalTransport transport;
    std::vector<std::size_t> frames;
    std::vector<std::byte> last, place;
    int in_place = 0;  // payloads that were put there
    std::vector<NodeId> writable, refused;
  };
  void SetUp() override { prepare_local_folder(folder); }
  void TearDown() override { fs::remove_all(folder); }
  ::testing::AssertionResult run_until(const std::function<bool()>& condition) {
    for (int i = 0; i < 200; ++i) {
      if (condition()) return ::testing::AssertionSuccess();
      io.run_one_for(std::chrono::milliseconds(50));
    }
    return ::testing::AssertionFailure() << "hangs";
  }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator())) - 1;
  }
  boost::asio::io_context io;
  const std::string folder = "/tmp/fibocast-local-" + std::to_string(getpid());
};

using Sizes = std::vector<std::size_t>;

TEST_F(LocalTransportTest, FramesOfThoseWhoShareMemoryDoNotGoOutside) {
  Node a(*this, 0), b(*this, 1);
  EXPECT_TRUE(a.send(1, 100));
  EXPECT_TRUE(a.send(1, 20'000));
  EXPECT_TRUE(b.send(0, 8));
  ASSERT_TRUE(run_until([&] { return a.frames.size() == 1 && b.frames.size() == 2; }));
  EXPECT_EQ(b.frames, (Sizes{100, 20'000}));
  EXPECT_TRUE(a.outside.sizes.empty());
  EXPECT_EQ(a.transport.peers_sharing(), 1u);
  EXPECT_EQ(a.transport.counters().bytes_sent, 20'100u);
  EXPECT_EQ(b.transport.counters().frames_received, 2u);
}

TEST_F(LocalTransportTest, WhoHasNoInboxIsReachedOutsideUntilItHasOne) {
  Node a(*this, 0);
  a.send(1, 100);
  EXPECT_EQ(a.outside.sizes, (Sizes{100}));
  Node b(*this, 1);
  b.send(0, 50);  // who hears of it looks for its inbox at once
  ASSERT_TRUE(run_until([&] { return a.frames.size() == 1; }));
  a.send(1, 60);
  ASSERT_TRUE(run_until([&] { return b.frames.size() == 1; }));
  EXPECT_EQ(a.outside.sizes, (Sizes{100}));
}

TEST_F(LocalTransportTest, AnAwakeHostPollsAndHearsNoBell) {
  Node a(*this, 0), b(*this, 1);
  b.transport.poll();
  const std::uint64_t bells = a.transport.bells();
  a.send(1, 10);
  EXPECT_EQ(a.transport.bells(), bells);
  EXPECT_FALSE(b.transport.rest());
  EXPECT_TRUE(b.transport.poll_memory());
  EXPECT_TRUE(b.transport.rest());
  a.send(1, 10);
  EXPECT_EQ(a.transport.bells(), bells + 1);
}

TEST_F(LocalTransportTest, AFullRingIsSaidAndSoIsRoomInIt) {
  Node a(*this, 0), b(*this, 1);
  b.transport.poll();  // awake, but it does not look again for a while
  int taken = 1;
  while (a.send(1, 30'000)) ++taken;
  EXPECT_GE(taken, 3);
  EXPECT_TRUE(a.writable.empty());
  ASSERT_TRUE(run_until([&] {
    b.transport.poll_memory();
    return !a.writable.empty();
  }));
  EXPECT_EQ(a.writable, (std::vector<NodeId>{1}));
  while (b.transport.poll_memory()) continue;
  EXPECT_EQ(b.frames.size(), static_cast<std::size_t>(taken));
  EXPECT_TRUE(a.outside.sizes.empty());
}

TEST_F(LocalTransportTest, WhatIsTooLargeForTheRingGoesOutside) {
  Node a(*this, 0), b(*this, 1, 64);  // 64 rings: small ones
  a.send(1, 100);
  a.send(1, 30'000);
  EXPECT_EQ(a.outside.sizes, (Sizes{30'000}));
}

TEST_F(LocalTransportTest, NoFrameIsLargerThanTheRingOrTheWayOutsideTakes) {
  Node a(*this, 0), b(*this, 1, 64);
  a.send(1, 100);
  EXPECT_EQ(a.transport.max_frame(1), a.outside.largest);
  a.outside.largest = kMaxHeadBytes + kLoopbackPayload;
  EXPECT_EQ(a.transport.max_frame(1), kMaxHeadBytes + kTcpPayload) << "it may have to leave through TCP";
  a.outside.largest = 1400;
  EXPECT_EQ(a.transport.max_frame(1), shared_ring::largest_frame(kInboxBytes / 64));
  EXPECT_EQ(a.transport.max_frame(2), 1400u);  // is not there
}

TEST_F(LocalTransportTest, APayloadInOurMemoryGoesByReference) {
  Node a(*this, 0), b(*this, 1);
  const auto block = a.transport.take_payload_memory(30'000);
  ASSERT_EQ(block.size(), 30'000u);
  std::ranges::fill(block, std::byte{9});
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(a.transport.send(1, bytes(50), block));  // 3 MB; the ring has 256 KiB
  ASSERT_TRUE(run_until([&] { return b.frames.size() == 100; }));
  std::vector<std::byte> expected = bytes(50);
  expected.insert(expected.end(), block.begin(), block.end());
  EXPECT_EQ(b.last, expected);
  EXPECT_EQ(b.transport.counters().bytes_received, 100u * 30'050);
  EXPECT_TRUE(a.outside.sizes.empty());
}

TEST_F(LocalTransportTest, ItGoesToItsPlaceAtOnce) {
  Node a(*this, 0), b(*this, 1);
  b.place.resize(20'000);
  const auto block = a.transport.take_payload_memory(30'000);
  std::ranges::fill(block, std::byte{9});
  a.transport.send(1, bytes(50), block.first(20'000));
  a.transport.send(1, bytes(50), block);  // has none
  ASSERT_TRUE(run_until([&] { return b.frames.size() == 2; }));
  EXPECT_EQ(b.frames, (Sizes{20'050, 30'050}));
  EXPECT_EQ(b.in_place, 1);
  EXPECT_EQ(b.place, std::vector<std::byte>(20'000, std::byte{9}));
}

TEST_F(LocalTransportTest, WhatWasTakenBackIsLostAndNothingElse) {
  Node a(*this, 0), b(*this, 1);
  const auto block = a.transport.take_payload_memory(30'000);
  a.transport.send(1, bytes(50), block);
  a.transport.send(1, bytes(50), block.first(100));  // so little is copied
  a.transport.give_back_payload_memory(block.data());
  ASSERT_TRUE(run_until([&] { return !b.frames.empty(); }));
  EXPECT_EQ(b.frames, (Sizes{150}));
  EXPECT_EQ(b.transport.counters().malformed, 1u);
}

// Its reader has never written to it.
TEST_F(LocalTransportTest, APayloadOfAStrangerIsFound) {
  Node a(*this, 0), b(*this, 1);
  const auto block = a.transport.take_payload_memory(30'000);
  a.transport.send(1, bytes(50), block);
  ASSERT_TRUE(run_until([&] { return b.frames == Sizes{30'050}; }));
}

TEST_F(LocalTransportTest, WhoStopsIsReachedOutside) {
  Node a(*this, 0);
  {
    Node b(*this, 1);
    a.send(1, 100);
    b.transport.stop();
    a.send(1, 101);
    EXPECT_EQ(a.outside.sizes, (Sizes{101}));
  }
  a.send(1, 102);
  EXPECT_EQ(a.outside.sizes, (Sizes{101, 102}));
  EXPECT_TRUE(run_until([&] { return !a.refused.empty(); }));
  EXPECT_EQ(files(), 2u);  // ours
}

// Asleep, its bell is silent; awake, it does not read any more.
TEST_F(LocalTransportTest, WhoIsKilledIsReachedOutsideAndItsNextIncarnationInside) {
  for (const bool awake : {false, true}) {
    Node a(*this, 0, 1, awake ? 8 : 7);
    int ready[2];
    ASSERT_EQ(pipe(ready), 0);
    const pid_t other = fork();
    if (other == 0) {
      boost::asio::io_context own;
      Outside outside;
      LocalTransport b(own, outside, {folder, "node1", 1, awake ? 51u : 50u, 1});
      b.start({.on_frame = [](auto) { return true; }, .on_writable = {}, .on_reset = {}, .on_refused = {}});
      if (awake) b.poll();
      if (write(ready[1], "x", 1) != 1) _exit(1);
      pause();
      _exit(0);
    }
    char told = 0;
    ASSERT_EQ(read(ready[0], &told, 1), 1);
    EXPECT_TRUE(a.send(1, 10));
    EXPECT_TRUE(a.outside.sizes.empty());
    kill(other, SIGKILL);
    waitpid(other, nullptr, 0);
    const auto block = a.transport.take_payload_memory(9'000);  // by reference inside, whole outside
    ASSERT_TRUE(run_until([&] {
      a.transport.send(1, bytes(11), block);
      io.run_one_for(std::chrono::milliseconds(1));
      return !a.outside.sizes.empty() && !a.refused.empty();
    }));
    EXPECT_EQ(a.refused.front(), 1u);
    EXPECT_EQ(a.outside.sizes, Sizes(a.outside.sizes.size(), 9'011));
    Node b(*this, 1, 1, 60);
    b.send(0, 12);
    ASSERT_TRUE(run_until([&] { return !a.frames.empty(); }));
    const std::size_t outside = a.outside.sizes.size();
    a.send(1, 13);
    EXPECT_EQ(a.outside.sizes.size(), outside);
    close(ready[0]), close(ready[1]);
  }
}

// A process that was forked by the owner keeps its lock and its bell alive.
TEST_F(LocalTransportTest, WhoDoesNotReadForLongIsReachedOutsideUntilItDoes) {
  Node a(*this, 0), b(*this, 1);
  b.transport.poll();  // awake, and does not look again
  while (a.outside.sizes.empty()) a.send(1, 10);
  EXPECT_EQ(a.transport.peers_sharing(), 0u);
  a.transport.set_peer(1, "");
  a.transport.set_peer(1, "node1");  // so that it is looked for at once
  a.send(1, 11);
  EXPECT_EQ(a.outside.sizes.back(), 11u);  // what it has not read is still there
  while (b.transport.poll_memory()) continue;
  a.transport.set_peer(1, "");
  a.transport.set_peer(1, "node1");
  const std::size_t outside = a.outside.sizes.size();
  a.send(1, 12);
  EXPECT_EQ(a.outside.sizes.size(), outside);
  EXPECT_TRUE(a.refused.empty());
}

// Nodes that start on a busy host are late, and then there: each frame of theirs says so.
TEST_F(LocalTransportTest, WhoReadsAgainIsFoundByItsNextFrame) {
  Node a(*this, 0), b(*this, 1);
  const auto hear_b = [&] {
    b.send(0, 8);
    while (a.transport.poll_memory()) continue;
  };
  hear_b();
  b.transport.poll();  // awake, and does not look again
  while (a.outside.sizes.empty()) a.send(1, 10);
  hear_b();
  a.send(1, 11);
  EXPECT_EQ(a.outside.sizes.back(), 11u) << "it has not read yet";
  while (b.transport.poll_memory()) continue;
  hear_b();
  a.send(1, 12);
  EXPECT_EQ(a.outside.sizes.back(), 11u);
  EXPECT_EQ(a.transport.peers_sharing(), 1u);
}

TEST_F(LocalTransportTest, ANewIncarnationIsFoundByItsFirstFrame) {
  Node a(*this, 0);
  std::optional<Node> b(std::in_place, *this, 1u, 1u, 50u);
  a.send(1, 10), b->send(0, 10);
  ASSERT_TRUE(run_until([&] { return a.frames.size() == 1; }));
  b.emplace(*this, 1u, 1u, 51u);
  b->send(0, 10);
  ASSERT_TRUE(run_until([&] { return a.frames.size() == 2; }));
  a.send(1, 14);
  ASSERT_TRUE(run_until([&] { return b->frames.size() == 1; }));
}

TEST_F(LocalTransportTest, TwoDoNotLiveUnderOneName) {
  Node a(*this, 0);
  EXPECT_THROW(Node(*this, 0, 1, 200), std::system_error);
  Node b(*this, 1);
  b.send(0, 10);
  EXPECT_TRUE(run_until([&] { return a.frames.size() == 1; }));
}

TEST_F(LocalTransportTest, NoRingIsLeftForMoreThanWereExpected) {
  Node a(*this, 0, 1), b(*this, 1), c(*this, 2);
  b.send(0, 10), c.send(0, 11);
  EXPECT_TRUE(b.outside.sizes.empty());
  EXPECT_EQ(c.outside.sizes, (Sizes{11}));
}

TEST_F(LocalTransportTest, WhatTheKilledLeftIsRemoved) {
  const pid_t other = fork();
  if (other == 0) {
    boost::asio::io_context own;
    Outside outside;
    LocalTransport b(own, outside, {folder, "gone", 1, 50, 1});
    kill(getpid(), SIGKILL);
  }
  waitpid(other, nullptr, 0);
  EXPECT_EQ(files(), 2u);
  Node a(*this, 0);
  prepare_local_folder(folder);
  EXPECT_EQ(files(), 2u);
  EXPECT_TRUE(fs::exists(folder + "/node0"));
}

TEST_F(LocalTransportTest, WhatWhoWasKilledHadHalfMadeIsRemoved) {
  Node lives(*this, 0);
  const std::size_t before = files();
  std::ofstream(folder + "/.node1.0123456789abcdef") << "the beginning of an inbox";
  boost::asio::local::datagram_protocol::socket bell(io);
  bell.open();
  bell.bind({folder + "/node2.0123456789abcdef"});
  std::ofstream(folder + "/.else") << "somebody's";
  std::ofstream(folder + "/text.0123456789abcdef") << "somebody's";
  EXPECT_EQ(files(), before + 4);
  prepare_local_folder(folder);
  EXPECT_EQ(files(), before + 2);
  EXPECT_TRUE(fs::exists(folder + "/.else"));
  EXPECT_TRUE(fs::exists(folder + "/text.0123456789abcdef"));
}

TEST_F(LocalTransportTest, AFolderThatOthersMayEnterIsRefused) {
  ASSERT_EQ(chmod(folder.c_str(), 0755), 0);
  EXPECT_THROW(prepare_local_folder(folder), std::system_error);
  ASSERT_EQ(chmod(folder.c_str(), 0700), 0);
  fs::create_directory_symlink(folder, folder + "-link");
  EXPECT_THROW(prepare_local_folder(folder + "-link"), std::system_error);
  fs::remove(folder + "-link");
  EXPECT_THROW(prepare_local_folder("/proc/no/folder"), std::system_error);
}

TEST_F(LocalTransportTest, AFileThatIsNoInboxIsNotUsed) {
  Node a(*this, 0);
  std::ofstream(folder + "/node1") << "anything";
  const std::ofstream empty(folder + "/node2");
  fs::create_symlink(folder + "/node0", folder + "/node3");
  for (NodeId id = 1; id < 4; ++id) a.send(id, 10);
  EXPECT_EQ(a.outside.sizes, (Sizes{10, 10, 10}));
  ASSERT_EQ(mkfifo((folder + "/pipe").c_str(), 0600), 0);
  prepare_local_folder(folder);  // does not wait for anybody to write to the pipe
  for (const char* name : {"/node1", "/node2", "/node3", "/pipe"}) EXPECT_TRUE(fs::exists(folder + name)) << name;
}

}  // namespace
}  // namespace fibocast
