#include "transport/udp_transport.h"

#include <gtest/gtest.h>

#include <system_error>

#include "tests/transport/event_loop_test.h"

namespace fibocast {
namespace {

using boost::asio::ip::udp;

class UdpTransportTest : public EventLoopTest {
 protected:
  static UdpSettings local() { return {.listen = {boost::asio::ip::make_address("127.0.0.1"), 0}}; }
  static std::vector<std::byte> bytes(std::size_t n) { return std::vector<std::byte>(n, std::byte{7}); }
  Transport::Handlers collect() {
    Transport::Handlers handlers;
    handlers.on_frame = [this](std::span<const std::byte> frame) {
      frames.push_back(frame.size());
      return true;
    };
    return handlers;
  }
  std::vector<std::size_t> frames;
};

TEST_F(UdpTransportTest, APortInUseIsSaidInASentence) {
  UdpTransport first(io, local());
  try {
    UdpTransport second(io, {.listen = first.local_endpoint()});
    FAIL() << "two on one port";
  } catch (const std::system_error& e) {
    EXPECT_EQ(e.code(), std::errc::address_in_use);
    const std::string port = std::to_string(first.local_endpoint().port());
    EXPECT_NE(std::string(e.what()).find("UDP 127.0.0.1:" + port), std::string::npos) << e.what();
  }
}

TEST_F(UdpTransportTest, HeadAndPayloadComeAsOneFrame) {
  UdpTransport a(io, local()), b(io, local());
  a.set_peer(1, b.local_endpoint());
  b.start(collect());
  EXPECT_TRUE(a.send(1, bytes(100), bytes(kLoopbackPayload)));
  EXPECT_TRUE(a.send(1, bytes(50), {}));
  ASSERT_TRUE(run_until([&] { return frames.size() == 2; }));
  EXPECT_EQ(frames, (std::vector<std::size_t>{100 + kLoopbackPayload, 50}));
  EXPECT_EQ(b.counters().frames_received, 2u);
  EXPECT_EQ(a.counters().bytes_sent, 150 + kLoopbackPayload);
}

TEST_F(UdpTransportTest, ATruncatedDatagramIsCountedAndDropped) {
  UdpTransport b(io, local());
  b.start(collect());
  udp::socket stranger(io, udp::v4());
  stranger.send_to(boost::asio::buffer(bytes(65'000)), b.local_endpoint());
  ASSERT_TRUE(run_until([&] { return b.counters().malformed == 1; }));
  EXPECT_TRUE(frames.empty());
}

TEST_F(UdpTransportTest, ARefusalIsEvidenceAndNoMore) {
  UdpTransport a(io, local());
  udp::endpoint gone;
  {
    UdpTransport b(io, local());
    gone = b.local_endpoint();
  }
  std::vector<NodeId> refused;
  a.set_peer(1, gone);
  auto handlers = collect();
  handlers.on_refused = [&](NodeId peer) { refused.push_back(peer); };
  a.start(handlers);
  EXPECT_TRUE(a.send(1, bytes(10), {}));
  ASSERT_TRUE(run_until([&] { return !refused.empty(); }));
  EXPECT_EQ(refused[0], 1u);
  EXPECT_GE(a.counters().refused, 1u);
  UdpTransport b(io, {.listen = gone});
  b.start(collect());
  EXPECT_TRUE(a.send(1, bytes(10), {}));
  ASSERT_TRUE(run_until([&] { return frames.size() == 1; }));
}

// A peer that sees where its datagrams come from.
struct BareSocket {
  explicit BareSocket(boost::asio::io_context& io) : socket(io, {boost::asio::ip::make_address("127.0.0.1"), 0}) {}
  udp::endpoint receive() {
    std::byte buffer[4096];
    udp::endpoint from;
    length = socket.receive_from(boost::asio::buffer(buffer), from);
    return from;
  }
  udp::socket socket;
  std::size_t length = 0;
};

TEST_F(UdpTransportTest, WhoGetsManyFramesGetsThemFromASocketOfItsOwn) {
  UdpTransport a(io, local());
  BareSocket b(io);
  a.set_peer(1, b.socket.local_endpoint());
  std::vector<udp::endpoint> from;
  for (std::size_t i = 1; i <= 100; ++i) {
    EXPECT_TRUE(a.send(1, bytes(i), {}));
    from.push_back(b.receive());
    EXPECT_EQ(b.length, i);
  }
  EXPECT_EQ(from.front(), a.local_endpoint());
  EXPECT_NE(from.back(), a.local_endpoint());
  EXPECT_TRUE(a.send(1, bytes(50), bytes(4000)));
  EXPECT_NE(b.receive(), a.local_endpoint()) << "one in two pieces";
  EXPECT_EQ(b.length, 4050u);
  EXPECT_EQ(a.counters().frames_sent, 101u);
  EXPECT_EQ(a.counters().bytes_sent, 5050u + 4050u);

  BareSocket moved(io);
  a.set_peer(1, moved.socket.local_endpoint());
  EXPECT_TRUE(a.send(1, bytes(10), {}));
  EXPECT_EQ(moved.receive(), a.local_endpoint());
}

TEST_F(UdpTransportTest, OnlySoManyPeersHaveASocketOfTheirOwn) {
  UdpTransport a(io, local());
  unsigned own = 0;
  for (NodeId peer = 1; peer <= kMostConnectedPeers + 3; ++peer) {
    BareSocket b(io);
    a.set_peer(peer, b.socket.local_endpoint());
    udp::endpoint from;
    for (int i = 0; i < 50; ++i) {
      EXPECT_TRUE(a.send(peer, bytes(10), {}));
      from = b.receive();
    }
    if (from != a.local_endpoint()) ++own;
  }
  EXPECT_EQ(own, kMostConnectedPeers);
}

TEST_F(UdpTransportTest, WhoHadASocketOfItsOwnAndIsGoneRefuses) {
  UdpTransport a(io, local());
  auto b = std::make_unique<UdpTransport>(io, local());
  const udp::endpoint gone = b->local_endpoint();
  std::vector<NodeId> refused;
  auto handlers = collect();
  handlers.on_refused = [&](NodeId peer) { refused.push_back(peer); };
  a.start(handlers);
  a.set_peer(1, gone);
  b->start(collect());
  for (int i = 0; i < 50; ++i) EXPECT_TRUE(a.send(1, bytes(10), {}));
  ASSERT_TRUE(run_until([&] { return frames.size() == 50; }));
  b.reset();
  EXPECT_TRUE(a.send(1, bytes(10), {})) << "lost, and nobody knows yet";
  EXPECT_TRUE(a.send(1, bytes(10), {}));
  ASSERT_TRUE(run_until([&] { return !refused.empty(); }));
  EXPECT_EQ(refused[0], 1u);
  b = std::make_unique<UdpTransport>(io, UdpSettings{.listen = gone});
  b->start(collect());
  for (int i = 0; i < 50; ++i) EXPECT_TRUE(a.send(1, bytes(10), {}));
  EXPECT_TRUE(run_until([&] { return frames.size() == 100; }));
}

TEST_F(UdpTransportTest, AFullReceiveBufferIsCounted) {
  UdpTransport a(io, local());
  UdpSettings small = local();
  small.socket_buffer_bytes = 64 * 1024;
  UdpTransport b(io, small);
  a.set_peer(1, b.local_endpoint());
  const std::size_t frame = b.max_frame(0);
  EXPECT_LT(b.receive_buffer_bytes(0), a.receive_buffer_bytes(0));
  EXPECT_EQ(b.receive_buffer_bytes(0), 2u * 64 * 1024 * frame / (frame + 904))
      << "the kernel takes twice what is asked for";
  for (int i = 0; i < 1000; ++i) a.send(1, bytes(1000), {});
  b.start(collect());
  ASSERT_TRUE(run_until([&] { return !frames.empty() && io.poll() == 0; }));
  const std::size_t kept = frames.size();
  EXPECT_LT(kept, 1000u);
  EXPECT_EQ(b.counters().kernel_drops, 1000 - kept);
}

// Frames as large as they may be.
TEST_F(UdpTransportTest, TheKernelHoldsAsMuchAsIsTold) {
  for (const std::size_t payload : {kUnprovedPayload, kLoopbackPayload}) {
    frames.clear();
    UdpTransport a(io, local());
    UdpSettings small = local();
    small.socket_buffer_bytes = 200 * 1024;  // as much as everybody may have
    UdpTransport b(io, small);
    a.set_peer(1, b.local_endpoint());
    b.set_peer(0, a.local_endpoint());
    b.set_max_payload(0, payload);
    const std::size_t told = b.receive_buffer_bytes(0), count = told / b.max_frame(0);
    ASSERT_GE(count, 7u);
    for (std::size_t i = 0; i < count; ++i) a.send(1, bytes(kMaxHeadBytes), bytes(payload));
    b.start(collect());
    ASSERT_TRUE(run_until([&] { return frames.size() == count; })) << frames.size() << " of " << count;
    EXPECT_EQ(b.counters().kernel_drops, 0u);
  }
}

TEST_F(UdpTransportTest, UnknownPeersAndFrameSizes) {
  UdpTransport a(io, local());
  EXPECT_TRUE(a.send(9, bytes(10), {}));
  EXPECT_EQ(a.counters().send_errors, 1u);
  EXPECT_EQ(a.max_frame(9), kUnprovedPayload + kMaxHeadBytes);
  a.set_peer(9, a.local_endpoint());
  EXPECT_EQ(a.max_frame(9), kLoopbackPayload + kMaxHeadBytes);
  a.set_peer(9, {boost::asio::ip::make_address("192.0.2.1"), 7000});
  EXPECT_EQ(a.max_frame(9), kUnprovedPayload + kMaxHeadBytes);
  a.set_max_payload(9, 8000);
  EXPECT_EQ(a.max_frame(9), 8000 + kMaxHeadBytes);
}

}  // namespace
}  // namespace fibocast
