#include "transport/tcp_transport.h"

#include <gtest/gtest.h>
#include <netinet/tcp.h>

#include <boost/asio/write.hpp>
#include <system_error>

#include "tests/transport/event_loop_test.h"
#include "transport/frame.h"

namespace fibocast {
namespace {

using boost::asio::ip::tcp;

class TcpTransportTest : public EventLoopTest {
 protected:
  static TcpSettings local() {
    TcpSettings settings;
    settings.listen = {boost::asio::ip::make_address("127.0.0.1"), 0};
    return settings;
  }
  // A valid frame with this much payload: its head.
  static std::vector<std::byte> head(std::size_t payload) {
    Frame frame;
    frame.type = FrameType::kDataSmall;
    frame.payload_length = static_cast<std::uint32_t>(payload);
    std::vector<std::byte> bytes(kMaxHeadBytes);
    bytes.resize(encode_frame_head(frame, bytes));
    return bytes;
  }
  static std::vector<std::byte> bytes(std::size_t n) { return std::vector<std::byte>(n, std::byte{7}); }
  Transport::Handlers collect() {
    Transport::Handlers handlers;
    handlers.on_frame = [this](std::span<const std::byte> frame) {
      if (!decode_frame(frame)) return false;
      frames.push_back(frame.size());
      return true;
    };
    handlers.on_writable = [this](NodeId) { ++writable; };
    handlers.on_reset = [this](NodeId) { ++resets; };
    return handlers;
  }
  tcp::socket stranger(const TcpTransport& to) {
    tcp::socket socket(io);
    socket.connect(to.local_endpoint());
    return socket;
  }
  std::vector<std::size_t> frames;
  int writable = 0, resets = 0;
};

TEST_F(TcpTransportTest, APortInUseIsSaidInASentence) {
  TcpTransport first(io, local());
  TcpSettings same;
  same.listen = first.local_endpoint();
  try {
    TcpTransport second(io, same);
    FAIL() << "two on one port";
  } catch (const std::system_error& e) {
    EXPECT_EQ(e.code(), std::errc::address_in_use);
    EXPECT_NE(std::string(e.what()).find("TCP 127.0.0.1:"), std::string::npos) << e.what();
  }
}

TEST_F(TcpTransportTest, QueuesWithinBoundsAndTellsWhenThereIsRoom) {
  TcpTransport a(io, local()), b(io, local());
  a.set_peer(1, b.local_endpoint());
  a.start(collect());
  std::size_t sent = 1;
  while (a.send(1, head(30'000), bytes(30'000))) ++sent;  // not dialled yet: all of it waits
  EXPECT_EQ(sent, 9u);                                    // 256 KiB
  EXPECT_EQ(writable, 0);
  b.start(collect());
  ASSERT_TRUE(run_until([&] { return frames.size() == sent; }));
  EXPECT_EQ(writable, 1);
  EXPECT_EQ(frames[3], head(0).size() + 30'000);
  EXPECT_EQ(a.counters().queue_drops, 0u);
}

TEST_F(TcpTransportTest, ABrokenConnectionIsToldAndDialledAgain) {
  TcpTransport a(io, local());
  TcpSettings same;
  same.listen = TcpTransport(io, local()).local_endpoint();  // a fixed port, as daemons have
  auto b = std::make_unique<TcpTransport>(io, same);
  a.set_peer(1, same.listen);
  a.start(collect());
  b->start(collect());
  a.send(1, head(0), {});
  ASSERT_TRUE(run_until([&] { return frames.size() == 1; }));
  b.reset();
  ASSERT_TRUE(run_until([&] { return resets == 1; }));
  b = std::make_unique<TcpTransport>(io, same);
  b->start(collect());
  a.send(1, head(0), {});
  ASSERT_TRUE(run_until([&] { return frames.size() == 2; }));
  EXPECT_EQ(a.counters().resets, 1u);
}

TEST_F(TcpTransportTest, GarbageClosesTheConnectionAndHarmsNobody) {
  TcpTransport a(io, local()), b(io, local());
  b.start(collect());
  auto huge = stranger(b);
  boost::asio::write(huge, boost::asio::buffer("\xff\xff\xff\x7fGET / HTTP/1.1\r\n", 20));
  ASSERT_TRUE(run_until([&] { return b.counters().malformed == 1; }));
  auto no_frame = stranger(b);
  boost::asio::write(no_frame, boost::asio::buffer("\x04\0\0\0abcd", 8));
  ASSERT_TRUE(run_until([&] { return b.counters().malformed == 2; }));
  EXPECT_EQ(b.accepted_now(), 0u);
  EXPECT_TRUE(frames.empty());
  a.set_peer(1, b.local_endpoint());
  a.start(collect());
  a.send(1, head(10), bytes(10));
  ASSERT_TRUE(run_until([&] { return frames.size() == 1; }));
}

TEST_F(TcpTransportTest, SilentConnectionsAreClosedAndTheirNumberIsBounded) {
  TcpSettings settings = local();
  settings.most_accepted = 2;
  settings.patience = std::chrono::milliseconds(20);
  TcpTransport b(io, settings);
  b.start(collect());
  auto first = stranger(b), second = stranger(b), third = stranger(b);
  ASSERT_TRUE(run_until([&] { return b.counters().turned_away >= 1; }));
  EXPECT_LE(b.accepted_now(), 2u);
  ASSERT_TRUE(run_until([&] { return b.counters().turned_away == 3 && b.accepted_now() == 0; }));
}

// Strangers who say nothing make room for each other, oldest first; who has said something valid keeps its place.
TEST_F(TcpTransportTest, WhoProvedItselfKeepsItsPlace) {
  TcpSettings settings = local();
  settings.most_accepted = 3;
  settings.most_unproved = 2;
  settings.accepts_at_once = 2;  // and the rest soon
  TcpTransport a(io, local()), b(io, settings);
  a.set_peer(1, b.local_endpoint());
  a.start(collect());
  b.start(collect());
  a.send(1, head(0), {});
  ASSERT_TRUE(run_until([&] { return frames.size() == 1; }));
  std::vector<tcp::socket> strangers;
  for (int i = 0; i < 10; ++i) strangers.push_back(stranger(b));
  ASSERT_TRUE(run_until([&] { return b.counters().turned_away == 8; }));
  EXPECT_EQ(b.accepted_now(), 3u);
  EXPECT_EQ(b.counters().accepted, 11u);
  char byte;
  boost::system::error_code error;
  strangers[7].read_some(boost::asio::buffer(&byte, 1), error);
  EXPECT_TRUE(error) << "the oldest went";
  a.send(1, head(0), {});
  ASSERT_TRUE(run_until([&] { return frames.size() == 2; }));
  EXPECT_EQ(a.counters().resets, 0u);
}

// As behind a firewall that drops: a listener whose queue is full says nothing.
TEST_F(TcpTransportTest, ADialWithoutAnAnswerIsBegunAgain) {
  tcp::acceptor listener(io, local().listen.protocol());
  listener.bind(local().listen);
  listener.listen(0);
  tcp::socket first(io);
  first.connect(listener.local_endpoint());
  TcpSettings settings = local();
  settings.dial_patience = std::chrono::milliseconds(20);
  TcpTransport a(io, settings);
  a.set_peer(1, listener.local_endpoint());
  int refused = 0;
  Transport::Handlers handlers = collect();
  handlers.on_refused = [&](NodeId) { ++refused; };
  a.start(handlers);
  while (a.send(1, head(0), {})) continue;
  ASSERT_TRUE(run_until([&] { return writable == 1; }));
  EXPECT_EQ(a.counters().refused, 1u);
  EXPECT_EQ(refused, 0) << "nobody has said that its process is dead";
  listener.accept();
  a.send(1, head(0), {});
  tcp::socket accepted(io);
  listener.async_accept(accepted, [](const boost::system::error_code&) {});
  ASSERT_TRUE(run_until([&] { return accepted.is_open(); }));
}

// What is on the way between two hosts ends connections, too.
TEST_F(TcpTransportTest, AConnectionThatEndsSaysNothingOfTheProcessAndItsHostDoes) {
  tcp::acceptor listener(io, local().listen);
  TcpTransport a(io, local());
  a.set_peer(1, listener.local_endpoint());
  int refused = 0;
  Transport::Handlers handlers = collect();
  handlers.on_refused = [&](NodeId) { ++refused; };
  a.start(handlers);
  for (int i = 1; i <= 2; ++i) {
    a.send(1, head(0), {});
    tcp::socket accepted(io);
    listener.async_accept(accepted, [](const boost::system::error_code&) {});
    ASSERT_TRUE(run_until([&] { return accepted.is_open(); }));
    if (i == 2) listener.close();
    accepted.close();  // with a frame unread: a reset
    ASSERT_TRUE(run_until([&] { return resets == i; }));
    EXPECT_EQ(refused, 0);
  }
  a.send(1, head(0), {});
  ASSERT_TRUE(run_until([&] { return refused == 1; }));
}

int option_of(int fd, int level, int name) {
  int value = 0;
  socklen_t bytes = sizeof value;
  return getsockopt(fd, level, name, &value, &bytes) == 0 ? value : 0;
}

// Both ends would wait for minutes or for ever where a host goes without a word.
TEST_F(TcpTransportTest, BothEndsGiveUpAPeerThatSaysNothing) {
  TcpTransport a(io, local()), b(io, local());
  a.set_peer(1, b.local_endpoint());
  a.start(collect());
  b.start(collect());
  a.send(1, head(0), {});
  ASSERT_TRUE(run_until([&] { return frames.size() == 1; }));
  int dialled = 0, accepted = 0;
  for (int fd = 3; fd < 256; ++fd) {
    dialled += option_of(fd, IPPROTO_TCP, TCP_USER_TIMEOUT) == 3000;
    accepted += option_of(fd, SOL_SOCKET, SO_KEEPALIVE) == 1 && option_of(fd, IPPROTO_TCP, TCP_KEEPIDLE) == 10;
  }
  EXPECT_EQ(dialled, 1);
  EXPECT_EQ(accepted, 1);
}

TEST_F(TcpTransportTest, NobodyThereCostsOnlyTheFrames) {
  TcpTransport a(io, local());
  tcp::endpoint gone;
  {
    TcpTransport b(io, local());
    gone = b.local_endpoint();
  }
  a.set_peer(1, gone);
  a.start(collect());
  while (a.send(1, head(0), {})) {
  }
  ASSERT_TRUE(run_until([&] { return writable == 1; }));
  EXPECT_EQ(a.counters().refused, 1u);
  EXPECT_EQ(a.counters().queue_drops, 64u);
  EXPECT_EQ(resets, 0);
}

}  // namespace
}  // namespace fibocast
