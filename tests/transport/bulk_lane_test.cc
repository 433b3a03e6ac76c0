// What a node may do with streams besides letting them flow, through a whole channel.
#include "transport/bulk_lane.h"

#include <gtest/gtest.h>

#include "tests/transport/virtual_pair.h"

namespace fibocast::test {
namespace {

// A stream that is cancelled or discarded, or accepted late, must not stop the lane.
class BulkCommands : public ::testing::Test {
 protected:
  void SetUp() override {
    pair.start(0, 100);
    pair.start(1, 200);
    ASSERT_TRUE(pair.run_until([&] { return pair.both_done(); }));
  }
  std::uint32_t open(std::uint64_t total, bool awaited = true) {
    const std::uint32_t stream = from().bulk_open(total, awaited);
    from().bulk_extend(stream, {kNoBuffer, 0, total}, total, pair.now);
    return stream;
  }
  ReliableChannel& from() { return *pair.sides[0].channel; }
  ReliableChannel& to() { return *pair.sides[1].channel; }
  // Moves frames until nothing is unacknowledged; payload bytes do not matter here.
  bool settle(Nanoseconds at_most = 2'000'000'000) {
    const Nanoseconds end = pair.now + at_most;
    for (int idle = 0; pair.now < end && idle < 3;) {
      const bool there = move(from(), to());
      const bool back = move(to(), from());
      idle = there || back ? 0 : idle + 1;
      if (idle == 0) continue;
      const Nanoseconds next = std::min(from().next_deadline(), to().next_deadline());
      if (next == kNoDeadline) break;
      pair.now = std::max(pair.now, next);
      from().on_timer(pair.now);
      to().on_timer(pair.now);
      idle = 0;
    }
    return from().all_acknowledged();
  }
  bool move(ReliableChannel& a, ReliableChannel& b) {
    std::array<std::byte, kMaxHeadBytes> scratch;
    Transmit out;
    bool moved = false;
    for (; a.poll_transmit(pair.now, scratch, out); moved = true) {
      std::vector<std::byte> bytes(out.head.size() + out.payload.length);
      std::copy(out.head.begin(), out.head.end(), bytes.begin());
      b.on_frame(*decode_frame(bytes), pair.now);
      Delivery d;
      while (b.poll_delivery(d)) note(d);
      while (a.poll_delivery(d)) note(d);
    }
    return moved;
  }
  void note(const Delivery& d) {
    if (d.kind == Delivery::Kind::kBulkProgress && d.complete) completed.push_back(d.stream);
    if (d.kind == Delivery::Kind::kBulkSent) sent.push_back(d.stream);
  }
  VirtualPair pair{{}, 1};
  std::vector<std::uint32_t> completed, sent;
};

TEST_F(BulkCommands, FragmentsAreOfEqualLength) {
  from().set_fragment_bytes(1000);
  const auto lengths = [this](std::uint64_t total) {
    to().bulk_accept(open(total), {1, 0, total});
    std::array<std::byte, kMaxHeadBytes> scratch;
    std::vector<std::uint64_t> cut;
    for (Transmit out; from().poll_transmit(pair.now, scratch, out);) cut.push_back(out.payload.length);
    from().on_path_reset(pair.now);  // and now they arrive
    EXPECT_TRUE(settle());
    return cut;
  };
  EXPECT_EQ(lengths(1000), (std::vector<std::uint64_t>{1000}));
  EXPECT_EQ(lengths(1001), (std::vector<std::uint64_t>{501, 500}));
  EXPECT_EQ(lengths(2999), (std::vector<std::uint64_t>{1000, 1000, 999}));
  EXPECT_EQ(lengths(1), (std::vector<std::uint64_t>{1}));
}

TEST_F(BulkCommands, WhatIsAwaitedIsAcknowledgedAtOnce) {
  const auto stream = open(100);
  to().bulk_accept(stream, {1, 0, 100});
  move(from(), to());
  EXPECT_TRUE(move(to(), from()));
  EXPECT_EQ(sent, std::vector<std::uint32_t>{stream});
}

TEST_F(BulkCommands, WhatNobodyAwaitsIsAcknowledgedByWhatIsSentNext) {
  const std::uint64_t acks = to().counters().bare_acks;
  const auto stream = open(100, false);
  to().bulk_accept(stream, {1, 0, 100});
  move(from(), to());
  EXPECT_EQ(completed, std::vector<std::uint32_t>{stream});
  EXPECT_FALSE(move(to(), from())) << "nothing but an acknowledgement was there to be sent";
  to().send_small(std::array<std::byte, 8>{}, {}, true, pair.now);
  EXPECT_TRUE(move(to(), from()));
  EXPECT_EQ(sent, std::vector<std::uint32_t>{stream});
  EXPECT_EQ(to().counters().bare_acks, acks);
}

TEST_F(BulkCommands, WhatNobodyAwaitsIsAcknowledgedBeforeLong) {
  const auto stream = open(100, false);
  to().bulk_accept(stream, {1, 0, 100});
  const Nanoseconds start = pair.now;
  EXPECT_TRUE(settle());
  EXPECT_EQ(sent, std::vector<std::uint32_t>{stream});
  EXPECT_EQ(pair.now - start, ChannelSettings{}.urgent_ack_delay);
  EXPECT_EQ(from().counters().resends, 0u);
}

TEST_F(BulkCommands, CancelledBeforeItWasAccepted) {
  const auto first = open(20'000);
  settle(10'000'000);
  EXPECT_FALSE(from().all_acknowledged());
  from().bulk_cancel(first);
  const auto second = open(20'000);
  to().bulk_accept(second, {1, 0, 20'000});
  EXPECT_TRUE(settle());
  EXPECT_EQ(completed, std::vector<std::uint32_t>{second});
  EXPECT_EQ(sent, std::vector<std::uint32_t>{second});
}

TEST_F(BulkCommands, DiscardedIsAcknowledgedAndThrownAway) {
  const auto first = open(200'000);
  to().bulk_discard(first);
  const auto second = open(0);
  to().bulk_accept(second, {1, 0, 0});
  EXPECT_TRUE(settle());
  EXPECT_EQ(completed, std::vector<std::uint32_t>{second});
  EXPECT_EQ(sent, (std::vector<std::uint32_t>{first, second}));
  EXPECT_EQ(to().bulk_receive_free(), ChannelLimits{}.bulk_streams);
}

// Streams end in another order than they began in: each place is free again, and no other stream is lost for it.
TEST_F(BulkCommands, PlacesOfThoseThatEndedAreTakenAgain) {
  const std::uint32_t places = from().bulk_send_free();
  ASSERT_GE(places, 4u);
  for (int round = 0; round < 3; ++round) {
    std::vector<std::uint32_t> streams;
    while (from().bulk_send_free() > 0) {
      streams.push_back(open(100));
      to().bulk_accept(streams.back(), {1, 0, 100});
    }
    ASSERT_EQ(streams.size(), places);
    EXPECT_EQ(to().bulk_receive_free(), 0u);
    const std::uint32_t first = streams.front(), middle = streams[1], last = streams.back();
    for (const std::uint32_t gone : {middle, last}) from().bulk_cancel(gone), to().bulk_discard(gone);
    EXPECT_EQ(from().bulk_send_free(), 2u);
    EXPECT_EQ(to().bulk_receive_free(), 2u);
    streams.push_back(open(100));
    to().bulk_accept(streams.back(), {1, 0, 100});
    from().bulk_cancel(first), to().bulk_discard(first);
    std::erase_if(streams, [&](std::uint32_t s) { return s == first || s == middle || s == last; });
    completed.clear(), sent.clear();
    EXPECT_TRUE(settle());
    EXPECT_EQ(completed, streams);
    std::ranges::sort(sent);  // one acknowledgement may be for several
    EXPECT_EQ(sent, streams);
    EXPECT_EQ(from().bulk_send_free(), places);
    EXPECT_EQ(to().bulk_receive_free(), places);
  }
}

// The peer has no room for what came first: what is behind it in the lane does not wait for that.
TEST_F(BulkCommands, RestartedItLetsTheLaneGoOnAndComesLater) {
  const std::uint32_t places = from().bulk_send_free();
  const auto first = open(20'000), second = open(20'000);
  to().bulk_accept(second, {2, 0, 20'000});
  while (move(from(), to()) || move(to(), from())) {
  }
  EXPECT_TRUE(completed.empty()) << "the lane is told in order";
  const Nanoseconds start = pair.now;
  const auto again = from().bulk_restart(first);
  EXPECT_GT(again, second);
  EXPECT_TRUE(settle());
  EXPECT_EQ(completed, std::vector<std::uint32_t>{second});
  EXPECT_EQ(pair.now, start) << "no timer was needed";
  from().bulk_extend(again, {kNoBuffer, 0, 20'000}, 20'000, pair.now);
  to().bulk_accept(again, {1, 0, 20'000});
  EXPECT_TRUE(settle());
  EXPECT_EQ(completed, (std::vector<std::uint32_t>{second, again}));
  EXPECT_EQ(sent, (std::vector<std::uint32_t>{second, again}));
  EXPECT_EQ(from().bulk_send_free(), places);
  EXPECT_EQ(to().bulk_receive_free(), places);
  EXPECT_EQ(from().bulk_restart(first), 0u) << "it is not there any more";
}

TEST_F(BulkCommands, AcceptedLateIsAskedForAgainAtOnce) {
  const auto stream = open(20'000);
  settle(400'000'000);  // resent in vain, ever more seldom
  to().bulk_accept(stream, {1, 0, 20'000});
  const Nanoseconds start = pair.now;
  EXPECT_TRUE(settle());
  EXPECT_EQ(completed, std::vector<std::uint32_t>{stream});
  EXPECT_EQ(pair.now, start) << "no timer was needed";
}

TEST_F(BulkCommands, OfSeveralThatAreAcceptedLateEachIsAskedForAgainAtOnce) {
  const auto first = open(20'000), second = open(20'000);
  settle(400'000'000);
  const Nanoseconds start = pair.now;
  to().bulk_accept(first, {1, 0, 20'000});
  for (bool moves = true; moves;) moves = move(to(), from()) || move(from(), to());
  EXPECT_EQ(completed, std::vector<std::uint32_t>{first});
  to().bulk_accept(second, {2, 0, 20'000});
  EXPECT_TRUE(settle());
  EXPECT_EQ(completed, (std::vector<std::uint32_t>{first, second}));
  EXPECT_EQ(pair.now, start) << "no timer was needed";
}

TEST_F(BulkCommands, AFragmentBeyondItsBufferIsMalformed) {
  const auto stream = open(20'000);
  to().bulk_accept(stream, {1, 0, 100});
  settle(10'000'000);
  EXPECT_GT(to().counters().malformed, 0u);
  EXPECT_TRUE(completed.empty());
}

TEST_F(BulkCommands, AFragmentHasItsPlaceUntilItIsThere) {
  const auto stream = open(20'000);
  std::array<std::byte, kMaxHeadBytes> scratch;
  Transmit out;
  ASSERT_TRUE(from().poll_transmit(pair.now, scratch, out));
  std::vector<std::byte> bytes(out.head.begin(), out.head.end());
  bytes.resize(bytes.size() + out.payload.length);
  Frame frame = *decode_frame(bytes);
  EXPECT_EQ(to().place_of(frame).buffer, kNoBuffer) << "nobody has named a buffer yet";
  to().bulk_accept(stream, {7, 1000, 20'000});
  const PayloadRange place = to().place_of(frame);
  EXPECT_EQ(place.buffer, 7u);
  EXPECT_EQ(place.offset, 1000u);
  EXPECT_EQ(place.length, out.payload.length);
  Frame stray = frame;
  ++stray.to_session;
  EXPECT_EQ(to().place_of(stray).buffer, kNoBuffer) << "of another session";
  Frame beyond = frame;
  beyond.payload_length = 20'001;
  EXPECT_EQ(to().place_of(beyond).buffer, kNoBuffer);
  to().on_frame(frame, pair.now);
  for (Delivery d; to().poll_delivery(d);) continue;
  EXPECT_EQ(to().place_of(frame).buffer, kNoBuffer) << "it is there";
}

// Found by fuzzing: a peer that lies about what it sent made a buffer whole that nobody had written.
class LyingSender : public ::testing::Test {
 protected:
  // The next fragment of the lane, of a stream of 100 bytes that was accepted.
  void hear(std::uint64_t offset, std::size_t length) {
    std::array<std::byte, FragmentBody::kBytes> body;
    encode_fragment({.stream = 1, .oldest_open = 1, .offset = offset}, body);
    Frame frame;
    frame.type = FrameType::kDataBulk;
    frame.sequence = sequence++;
    frame.body = body;
    frame.payload = std::span(payload).first(length);
    ASSERT_EQ(receiver.on_frame(frame), BulkReceiver::Verdict::kTaken);
    for (Delivery d; receiver.poll(d, malformed);) complete |= d.complete;
  }
  void SetUp() override { receiver.accept(1, {0, 0, 100}); }

  std::vector<std::max_align_t> memory =
      std::vector<std::max_align_t>(BulkReceiver::bytes_needed({}) / sizeof(std::max_align_t) + 1);
  MemoryCarver carver{std::as_writable_bytes(std::span(memory))};
  BulkReceiver receiver{{}, carver};
  std::array<std::byte, 100> payload{};
  std::uint32_t sequence = 0;
  std::uint64_t malformed = 0;
  bool complete = false;
};

TEST_F(LyingSender, TheEndWithoutTheBytesIsMalformed) {
  hear(100, 0);
  EXPECT_FALSE(complete);
  EXPECT_EQ(malformed, 1u);
  hear(0, 100);
  EXPECT_TRUE(complete) << "what is true still counts";
}

TEST_F(LyingSender, AHoleIsNotSkipped) {
  hear(0, 40);
  hear(60, 40);
  EXPECT_FALSE(complete);
  hear(40, 20);
  EXPECT_FALSE(complete) << "the last bytes were never in order";
  hear(60, 40);
  EXPECT_TRUE(complete);
  EXPECT_EQ(malformed, 1u);
}

}  // namespace
}  // namespace fibocast::test
