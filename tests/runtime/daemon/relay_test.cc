// One daemon's relays, with a test as the other daemon, whose every message counts.
#include "runtime/daemon/relay.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <boost/asio/write.hpp>
#include <cstring>
#include <deque>

#include "runtime/daemon/relays.h"
#include "runtime/wire/client_codec.h"
#include "transport/loopback_transport.h"

namespace fibocast {
namespace {

using Socket = Relay::Socket;
using Bytes = std::vector<std::byte>;

constexpr std::byte kData{0}, kTaken{1}, kEnd{2};

// The tag of the relay that rank 1 opens as its `number`th.
std::uint64_t tag_of(std::uint64_t number) { return Node::kFirstReservedTag | std::uint64_t{1} << 32 | number; }

Bytes message(std::byte kind, std::size_t bytes = 0) {
  Bytes all(1 + bytes, std::byte{42});
  all.front() = kind;
  return all;
}

class RelayOfOne : public testing::Test {
 protected:
  static NodeSettings node(NodeId self) {
    NodeSettings settings;
    settings.nodes = 2, settings.self = self;
    return settings;
  }
  void SetUp() override {
    daemon_.start();
    other_.start();
    relays_.start();
    ASSERT_TRUE(pass([&] { return is_connected(daemon_, 1) && is_connected(other_, 0); }));
  }
  void TearDown() override {
    relays_.close_all();
    daemon_.stop();
    other_.stop();
    settle();
  }
  static bool is_connected(NodeHost& host, NodeId peer) {
    return host.node().peer_state(peer) == ChannelState::kConnected;
  }
  void step() {
    daemon_.catch_up();
    other_.catch_up();
    io_.restart();
  }
  bool pass(const std::function<bool()>& is_over, Nanoseconds patience = 10'000'000'000) {
    const Nanoseconds end = monotonic_now() + patience;
    for (; monotonic_now() < end; step())
      if (is_over()) return true;
    return false;
  }
  // Until nothing is under way between the two.
  void settle() {
    for (int i = 0; i < 200; ++i) step();
  }

  void on_daemon(const Event& event) {
    if (event.kind != Event::Kind::kMessage) return;
    relays_.on_message(event);
    daemon_.node().release_buffer(event.range.buffer);
  }
  void on_other(const Event& event) {
    if (event.kind != Event::Kind::kMessage) return;
    const auto bytes = other_.bytes_of(event.range);
    received_.emplace_back(bytes.begin(), bytes.end());
    other_.node().release_buffer(event.range.buffer);
  }

  void tell(std::uint64_t tag, const Bytes& bytes) {
    const auto buffer = other_.node().reserve_buffer(bytes.size(), BufferFor::kHostsMessage);
    ASSERT_TRUE(buffer);
    const PayloadRange range{*buffer, 0, bytes.size()};
    std::ranges::copy(bytes, other_.bytes_of(range).begin());
    other_.read_clock();
    ASSERT_EQ(other_.node().send_message(0, tag, range, other_.now()), Admission::kTaken);
    other_.pump();
  }
  void open(std::uint64_t tag) {
    Bytes words(sizeof tag);
    std::memcpy(words.data(), &tag, sizeof tag);
    tell(kRelayOpenTag, words);
    settle();
  }
  // Nothing, if none comes.
  Bytes next(std::uint64_t tag) {
    received_.clear();
    other_.read_clock();
    EXPECT_EQ(other_.node().receive_message(tag | kRelayToOpener, 1, other_.now()), Admission::kTaken);
    other_.pump();
    settle();
    if (!received_.empty()) return received_.front();
    other_.node().forget_receive(1);
    return {};
  }
  std::size_t read_from_session(std::size_t bytes) {
    Bytes all(bytes);
    std::size_t read = 0;
    boost::system::error_code none_there;
    sessions_[0].non_blocking(true);
    pass([&] {
      read += sessions_[0].read_some(boost::asio::buffer(all.data() + read, bytes - read), none_there);
      return read == bytes;
    });
    sessions_[0].non_blocking(false);
    return read;
  }
  // What is left unread costs a credit for good. What was sent is kept until it is acknowledged.
  void expect_nothing_unread() {
    settle();
    const auto is_nothing = [&] {
      return other_.node().payload_bytes_used() == 0 && daemon_.node().payload_bytes_used() == 0;
    };
    EXPECT_TRUE(pass(is_nothing, 2'000'000'000)) << daemon_.node().payload_bytes_used() << " bytes at the daemon, "
                                                 << other_.node().payload_bytes_used() << " at the other";
  }

  boost::asio::io_context io_;
  LoopbackHub hub_{io_};
  LoopbackTransport here_{hub_, 0}, there_{hub_, 1};
  NodeHost daemon_{io_,
                   here_,
                   Limits::server(),
                   node(0),
                   WaitPolicy::kBlock,
                   {.on_call_done = {},
                    .on_event = [this](const Event& event) { on_daemon(event); },
                    .place_of = {},
                    .on_drained = [this] { return relays_.on_drained(); }}};
  NodeHost other_{io_,
                  there_,
                  Limits::server(),
                  node(1),
                  WaitPolicy::kBlock,
                  {.on_call_done = {},
                   .on_event = [this](const Event& event) { on_other(event); },
                   .place_of = {},
                   .on_drained = {}}};
  std::deque<Socket> sessions_;  // what the daemon's session server would have got
  Relays relays_{io_, daemon_, 0, [this](Socket socket) { sessions_.push_back(std::move(socket)); }};
  std::deque<Bytes> received_;
};

TEST_F(RelayOfOne, CarriesBytesBothWays) {
  open(tag_of(7));
  ASSERT_EQ(sessions_.size(), 1u);
  tell(tag_of(7), message(kData, 3));
  EXPECT_EQ(next(tag_of(7)), message(kTaken));
  EXPECT_EQ(read_from_session(3), 3u);
  boost::asio::write(sessions_[0], boost::asio::buffer("abc", 3));
  EXPECT_EQ(next(tag_of(7)).size(), 4u);
  tell(tag_of(7), message(kTaken));
  tell(tag_of(7), message(kEnd));
  EXPECT_EQ(next(tag_of(7)), message(kEnd));
  expect_nothing_unread();
}

// The session does not read any more and then ends, with more of ours in its socket than that takes: the last chunk is
// written only when it has read it all the same.
TEST_F(RelayOfOne, SaysNothingAfterItsEndOfWhatIsWrittenThen) {
  open(tag_of(7));
  ASSERT_EQ(sessions_.size(), 1u);
  int chunks = 0;
  do tell(tag_of(7), message(kData, Relay::kChunk));
  while (++chunks < 100 && next(tag_of(7)) == message(kTaken));
  ASSERT_LT(chunks, 100);
  sessions_[0].shutdown(Socket::shutdown_send);
  EXPECT_EQ(next(tag_of(7)), message(kEnd));
  const std::size_t all = static_cast<std::size_t>(chunks) * Relay::kChunk;
  EXPECT_EQ(read_from_session(all), all);
  expect_nothing_unread();
  tell(tag_of(7), message(kEnd));
  expect_nothing_unread();
}

// The session reads nothing any more, and so is over; what it still writes is not passed on.
TEST_F(RelayOfOne, SaysNothingAfterItsEndOfWhatIsReadThen) {
  open(tag_of(7));
  ASSERT_EQ(sessions_.size(), 1u);
  sessions_[0].shutdown(Socket::shutdown_receive);
  tell(tag_of(7), message(kData, 1));
  EXPECT_EQ(next(tag_of(7)), message(kEnd));
  boost::asio::write(sessions_[0], boost::asio::buffer("late"));
  expect_nothing_unread();
  tell(tag_of(7), message(kEnd));
  expect_nothing_unread();
}

// Relays have two sockets each: more than some shells let a process open.
void allow_many_files() {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

// What the opener's client reads then.
client::Response response_in(const Bytes& data) {
  client::Response response;
  const std::span<const std::byte> words = std::span(data).subspan(1 + kFrameLengthBytes);
  EXPECT_TRUE(response.ParseFromArray(words.data(), static_cast<int>(words.size())));
  return response;
}

// Who opens it is told why, and what it has said meanwhile is read all the same; as often as it likes.
TEST_F(RelayOfOne, ThatIsNotTakenIsRefusedAtOnce) {
  allow_many_files();
  for (std::uint64_t number = 0; number < Relays::kMost; ++number) open(tag_of(100 + number));
  ASSERT_EQ(sessions_.size(), Relays::kMost);
  for (std::uint64_t number = 0; number < 20; ++number) {
    const std::uint64_t tag = tag_of(number);
    open(tag);
    tell(tag, message(kData, 100));
    const Bytes answer = next(tag);
    ASSERT_GT(answer.size(), 1u) << number;
    EXPECT_EQ(answer.front(), kData);
    const client::Response response = response_in(answer);
    EXPECT_EQ(response.status().code(), client::CODE_UNAVAILABLE);
    EXPECT_NE(response.status().sentence().find("rank 0 has no room"), std::string::npos);
    tell(tag, message(kTaken));
    EXPECT_EQ(next(tag), message(kEnd));
    tell(tag, message(kEnd));
    expect_nothing_unread();
  }
  EXPECT_EQ(sessions_.size(), Relays::kMost);
  sessions_[0].close();
  EXPECT_EQ(next(tag_of(100)), message(kEnd));
  tell(tag_of(100), message(kEnd));
  open(tag_of(20));
  EXPECT_EQ(sessions_.size(), Relays::kMost + 1) << "there is room again";
}

// Of a relay that is over, or never was.
TEST_F(RelayOfOne, WhatIsForNobodyIsReadAllTheSame) {
  for (int i = 0; i < 20; ++i) {
    for (const std::byte kind : {kData, kTaken, kEnd}) tell(tag_of(7), message(kind));
    settle();
  }
  expect_nothing_unread();
}

}  // namespace
}  // namespace fibocast
