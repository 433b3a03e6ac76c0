#include "transport/reliable_channel.h"

#include <gtest/gtest.h>

#include "tests/transport/virtual_pair.h"

namespace fibocast::test {
namespace {

constexpr Link kBadLink{.loss = 0.2, .duplicates = 0.1, .delay = 25'000, .jitter = 300'000};

std::string errors_of(const VirtualPair& pair) {
  std::string all;
  for (const auto& side : pair.sides) {
    for (const auto& e : side.traffic->errors) all += e + "\n";
  }
  return all;
}

void start_both(VirtualPair& pair) {
  pair.start(0, 100);
  pair.start(1, 200);
  ASSERT_TRUE(pair.run_until([&] { return pair.both_done(); }));
}

// Random messages on both sides: how many small and bulk ones each side sends.
struct Load {
  std::uint32_t smalls[2] = {}, bulks[2] = {};
};

Load queue_random(VirtualPair& pair, std::uint32_t seed, int messages) {
  std::mt19937 random(seed);
  Load load;
  for (int i = 0; i < messages; ++i) {
    const int side = static_cast<int>(random() % 2);
    Traffic& traffic = *pair.sides[side].traffic;
    if (random() % 8 == 0) {
      traffic.queue_bulk(random() % 4 == 0 ? random() % 100'000 : random() % 3000), ++load.bulks[side];
    } else {
      traffic.queue_small(random() % 3 == 0 ? random() % 1200 : 0, random() % 4 != 0), ++load.smalls[side];
    }
  }
  return load;
}

TEST(ReliableChannel, ConnectsAndDeliversWhatWaited) {
  VirtualPair pair({}, 1);
  pair.start(0, 100);
  for (int i = 0; i < 40; ++i) pair.sides[0].traffic->queue_small(i);
  pair.drain(0);
  pair.run_for(300'000'000);  // nobody answers yet
  EXPECT_EQ(pair.sides[0].channel->state(), ChannelState::kConnecting);
  pair.start(1, 200);
  ASSERT_TRUE(pair.run_until([&] { return pair.both_done(); }));
  EXPECT_EQ(pair.sides[1].traffic->smalls, 40u);
  EXPECT_EQ(pair.sides[0].traffic->connected, 1u);
  EXPECT_EQ(pair.sides[1].traffic->connected, 1u);
  EXPECT_EQ(errors_of(pair), "");
}

// The answer to a hello comes when the next one has left already: a far peer, or one whose processor is busy.
class SlowPath : public ::testing::TestWithParam<Nanoseconds> {};

TEST_P(SlowPath, BothConnectAlsoWhenTheyAskAtOnce) {
  VirtualPair pair({.loss = 0.2, .delay = GetParam(), .jitter = GetParam() / 2}, 1);
  pair.start(0, 100);
  pair.start(1, 200);
  const Nanoseconds at_most = 10 * GetParam() + 5'000'000'000;
  EXPECT_TRUE(
      pair.run_until([&] { return pair.sides[0].traffic->connected && pair.sides[1].traffic->connected; }, at_most));
  EXPECT_LT(pair.sides[0].channel->counters().frames_sent, 40u) << "it asks less often the longer it waits";
  EXPECT_EQ(errors_of(pair), "");
}
INSTANTIATE_TEST_SUITE_P(Delays, SlowPath, ::testing::Values(30'000'000, 120'000'000, 600'000'000, 3'000'000'000));

class ReliableChannelSeeds : public ::testing::TestWithParam<std::uint32_t> {};

TEST_P(ReliableChannelSeeds, ExactlyOnceAndInOrderOverABadLink) {
  VirtualPair pair(kBadLink, GetParam());
  pair.start(0, 100);
  pair.start(1, 200);
  const Load load = queue_random(pair, GetParam(), 3000);
  ASSERT_TRUE(pair.run_until([&] { return pair.both_done(); })) << "seed " << GetParam();
  for (const int side : {0, 1}) {
    const Traffic& t = *pair.sides[side].traffic;
    EXPECT_EQ(t.smalls, load.smalls[1 - side]);
    EXPECT_EQ(t.bulks, load.bulks[1 - side]);
    EXPECT_EQ(t.sent_streams, load.bulks[side]);
    EXPECT_EQ(t.connected, 1u);
    EXPECT_EQ(pair.sides[side].channel->counters().malformed, 0u);
    EXPECT_EQ(pair.sides[side].channel->small_released(), load.smalls[side] + load.bulks[side]);
  }
  EXPECT_EQ(errors_of(pair), "");
}

TEST_P(ReliableChannelSeeds, TinyWindowsWorkToo) {
  VirtualPair pair(kBadLink, GetParam(), {.small_window = 3, .small_body = 256, .bulk_window = 5, .bulk_streams = 2});
  pair.start(0, 100);
  pair.start(1, 200);
  const Load load = queue_random(pair, GetParam(), 300);
  ASSERT_TRUE(pair.run_until([&] { return pair.both_done(); })) << "seed " << GetParam();
  EXPECT_EQ(pair.sides[0].traffic->smalls, load.smalls[1]);
  EXPECT_EQ(pair.sides[1].traffic->bulks, load.bulks[0]);
  EXPECT_EQ(errors_of(pair), "");
}

TEST_P(ReliableChannelSeeds, ARestartIsToldAndNothingOfTheFormerLifeComes) {
  VirtualPair pair(kBadLink, GetParam());
  pair.start(0, 100);
  pair.start(1, 200);
  std::uint32_t restarts = 0;
  for (std::uint64_t life = 1; life <= 5; ++life) {
    queue_random(pair, GetParam() + static_cast<std::uint32_t>(life), 200);
    pair.drain(0);
    pair.drain(1);
    pair.run_for(static_cast<Nanoseconds>(20'000'000 + 7'000'000 * GetParam()));
    const bool met = pair.sides[0].traffic->connected > restarts;
    ASSERT_EQ(errors_of(pair), "");
    pair.stop(1);
    pair.start(1, 200 + life);
    if (met) ++restarts;
    ASSERT_TRUE(pair.run_until([&] { return pair.sides[0].traffic->connected == restarts + 1; }));
  }
  EXPECT_EQ(pair.sides[0].traffic->restarted, restarts);
  EXPECT_EQ(pair.sides[1].traffic->restarted, 0u);
  ASSERT_TRUE(pair.run_until([&] { return pair.both_done(); }));
  EXPECT_EQ(errors_of(pair), "");
}

INSTANTIATE_TEST_SUITE_P(Seeds, ReliableChannelSeeds, ::testing::Range(1u, FIBOCAST_SANITIZED ? 11u : 31u));

// A partition: both have given the other up, and have gone on; what they have to say since then is for the other.
TEST(ReliableChannel, WhatWasSentAfterBothGaveUpArrivesWhenTheyMeetAgain) {
  VirtualPair pair({}, 1);
  start_both(pair);
  pair.link.loss = 1;
  for (int side : {0, 1}) pair.sides[side].channel->renew(pair.now);
  for (int side : {0, 1}) pair.sides[side].traffic->queue_small(10);
  for (int side : {0, 1}) pair.drain(side);
  pair.run_for(3'000'000'000);
  pair.link.loss = 0;
  EXPECT_TRUE(pair.run_until([&] { return pair.sides[0].traffic->smalls + pair.sides[1].traffic->smalls == 2; }));
  for (const auto& side : pair.sides) EXPECT_EQ(side.traffic->restarted, 0u);
  EXPECT_EQ(errors_of(pair), "");
}

// One alone: the other has sent to what is no more.
TEST(ReliableChannel, WhoWasGivenUpIsTold) {
  VirtualPair pair({}, 1);
  start_both(pair);
  pair.sides[0].channel->renew(pair.now);
  pair.drain(0);
  EXPECT_TRUE(pair.run_until([&] { return pair.sides[1].traffic->restarted == 1; }));
  EXPECT_EQ(pair.sides[0].traffic->restarted, 0u);
}

TEST(ReliableChannel, StrayFramesOfAFormerLifeChangeNothing) {
  VirtualPair pair({}, 1);
  std::vector<std::vector<std::byte>> former;
  pair.tap = [&](int from, std::vector<std::byte>& bytes) {
    if (from == 0) former.push_back(bytes);
    return true;
  };
  start_both(pair);
  pair.tap = nullptr;
  pair.start(0, 101);
  ASSERT_TRUE(pair.run_until([&] { return pair.sides[1].traffic->restarted == 1 && pair.both_done(); }));
  for (const auto& bytes : former) {
    pair.sides[1].channel->on_frame(*decode_frame(bytes), pair.now);
    pair.drain(1);
  }
  pair.sides[0].traffic->queue_small(10);
  pair.sides[1].traffic->queue_bulk(10'000);
  pair.drain(0);
  pair.drain(1);
  ASSERT_TRUE(pair.run_until([&] { return pair.both_done(); }));
  EXPECT_EQ(pair.sides[1].traffic->connected, 2u);
  EXPECT_EQ(pair.sides[1].traffic->smalls, 1u);
  EXPECT_EQ(pair.sides[0].traffic->bulks, 1u);
  EXPECT_GE(pair.sides[1].channel->counters().stale_session, former.size());
  EXPECT_EQ(errors_of(pair), "");
}

TEST(ReliableChannel, AnotherClusterIsRefusedOnceOnBothSides) {
  VirtualPair pair(kBadLink, 4);
  pair.settings[0].cluster_digest = 5;
  pair.settings[1].cluster_digest = 6;
  pair.start(0, 100);
  pair.start(1, 200);
  pair.run_for(10'000'000'000);
  EXPECT_EQ(pair.sides[0].traffic->refused, 1u);
  EXPECT_EQ(pair.sides[0].traffic->refused_digest, 6u);
  EXPECT_EQ(pair.sides[1].traffic->refused, 1u);
  EXPECT_EQ(pair.sides[1].traffic->refused_digest, 5u);
  EXPECT_EQ(pair.sides[0].channel->state(), ChannelState::kRefused);

  pair.settings[1].cluster_digest = 5;  // corrected and started again
  pair.start(1, 201);
  ASSERT_TRUE(pair.run_until([&] { return pair.both_done(); }));
  EXPECT_EQ(pair.sides[0].traffic->connected, 1u);
}

// First one side has read the cluster's file again, then the other.
TEST(ReliableChannel, WhoAdoptsTheOthersDigestIsNoLongerRefused) {
  VirtualPair pair(kBadLink, 5);
  pair.settings[0].cluster_digest = 5;
  pair.settings[1].cluster_digest = 6;
  pair.start(0, 100);
  pair.start(1, 200);
  pair.run_for(1'000'000'000);
  ASSERT_EQ(pair.sides[1].channel->state(), ChannelState::kRefused);
  pair.sides[1].channel->set_cluster_digest(5, pair.now);
  pair.drain(1);
  ASSERT_TRUE(pair.run_until([&] { return pair.both_done(); }));
  EXPECT_EQ(pair.sides[0].channel->state(), ChannelState::kConnected);
  pair.sides[0].channel->set_cluster_digest(7, pair.now);
  pair.run_for(1'000'000'000);
  EXPECT_EQ(pair.sides[0].channel->state(), ChannelState::kConnected) << "a session outlives the change";
  EXPECT_EQ(pair.sides[1].channel->state(), ChannelState::kConnected);
}

// Answers each message with one of its own for `rounds` rounds.
void ping_pong(VirtualPair& pair, std::uint32_t rounds) {
  const std::uint32_t before = pair.sides[0].traffic->smalls;
  for (std::uint32_t i = 0; i < rounds; ++i) {
    for (const int side : {0, 1}) {
      const std::uint32_t goal = pair.sides[1 - side].traffic->smalls + 1;
      pair.sides[side].traffic->queue_small(0);
      pair.drain(side);
      ASSERT_TRUE(pair.run_until([&] { return pair.sides[1 - side].traffic->smalls == goal; }));
    }
  }
  ASSERT_EQ(pair.sides[0].traffic->smalls, before + rounds);
}

TEST(ReliableChannel, SteadyPingPongHasNoBareAcksAndNoResends) {
  VirtualPair pair({}, 1);
  start_both(pair);
  const auto before = pair.sides[0].channel->counters();
  ping_pong(pair, 1000);
  for (const auto& side : pair.sides) {
    EXPECT_EQ(side.channel->counters().bare_acks, before.bare_acks);
    EXPECT_EQ(side.channel->counters().resends, 0u);
    EXPECT_EQ(side.channel->round_trip(), 50'000);
  }
  EXPECT_EQ(pair.sides[0].channel->counters().frames_sent, before.frames_sent + 1000);
}

TEST(ReliableChannel, ALostUrgentMessageIsSentAgainWithinMilliseconds) {
  VirtualPair pair({}, 1);
  start_both(pair);
  ping_pong(pair, 100);
  bool lose = true;
  pair.tap = [&](int, std::vector<std::byte>&) { return !std::exchange(lose, false); };
  const Nanoseconds start = pair.now;
  pair.sides[0].traffic->queue_small(0);
  pair.drain(0);
  ASSERT_TRUE(pair.run_until([&] { return pair.sides[1].traffic->smalls == 101; }));
  EXPECT_GE(pair.now - start, 1'000'000);
  EXPECT_LE(pair.now - start, 1'500'000);
}

TEST(ReliableChannel, ASingleLossInBulkIsRepairedWithoutWaitingForTheTimer) {
  VirtualPair pair({}, 1);
  start_both(pair);
  int frames = 0;
  pair.tap = [&](int from, std::vector<std::byte>&) { return from != 0 || ++frames != 5; };
  const Nanoseconds start = pair.now;
  pair.sides[0].traffic->queue_bulk(60'000);
  pair.drain(0);
  ASSERT_TRUE(pair.run_until([&] { return pair.sides[1].traffic->bulks == 1; }));
  EXPECT_LE(pair.now - start, 4 * 50'000);
  EXPECT_EQ(pair.sides[0].channel->counters().resends, 1u);
}

// One way only there is nothing for an acknowledgement to ride on.
TEST(ReliableChannel, AOneWayFlowDoesNotWaitForDelayedAcknowledgements) {
  VirtualPair pair({}, 1);
  start_both(pair);
  const Nanoseconds start = pair.now;
  for (int i = 0; i < 320; ++i) pair.sides[0].traffic->queue_small(0);
  pair.drain(0);
  ASSERT_TRUE(pair.run_until([&] { return pair.sides[1].traffic->smalls == 320; }));
  EXPECT_LE(pair.now - start, 320 / AckPolicy::kSmallFramesPerAck * 50'000);
  EXPECT_EQ(pair.sides[0].channel->counters().resends, 0u);
}

TEST(ReliableChannel, AWholeStreamIsAcknowledgedAtOnce) {
  VirtualPair pair({}, 1);
  start_both(pair);
  const Nanoseconds start = pair.now;
  pair.sides[0].traffic->queue_bulk(3000);
  pair.drain(0);
  ASSERT_TRUE(pair.run_until([&] { return pair.sides[0].traffic->sent_streams == 1; }));
  EXPECT_EQ(pair.now - start, 50'000);
}

TEST(ReliableChannel, TheGrantedWindowLimitsWhatIsInFlight) {
  VirtualPair pair({}, 1);
  pair.settings[1].bulk_window_bytes = 6000;
  start_both(pair);
  std::uint64_t most = 0, flying = 0;
  pair.sides[0].traffic->queue_bulk(100'000);
  pair.tap = [&](int from, std::vector<std::byte>& bytes) {
    flying = from == 0 ? flying + bytes.size() : 0;
    most = std::max(most, flying);
    return true;
  };
  pair.drain(0);
  ASSERT_TRUE(pair.run_until([&] { return pair.both_done(); }));
  EXPECT_EQ(errors_of(pair), "");
  EXPECT_LE(most, 6000u + 8 * kMaxHeadBytes);
}

TEST(ReliableChannel, ASmallMessageOvertakesBulk) {
  VirtualPair pair({}, 1);
  start_both(pair);
  pair.sides[0].traffic->queue_bulk(1 << 20);
  pair.drain(0);
  pair.run_for(100'000);
  pair.sides[0].traffic->queue_small(0);
  pair.drain(0);
  ASSERT_TRUE(pair.run_until([&] { return pair.both_done(); }));
  EXPECT_EQ(pair.sides[1].traffic->arrived, (std::vector<std::uint32_t>{1, 0}));
}

TEST(ReliableChannel, APathResetSendsTheUnacknowledgedAgainAtOnce) {
  VirtualPair pair({}, 1);
  start_both(pair);
  pair.tap = [](int, std::vector<std::byte>&) { return false; };
  for (int i = 0; i < 5; ++i) pair.sides[0].traffic->queue_small(0);
  pair.drain(0);
  pair.tap = nullptr;
  pair.sides[0].channel->on_path_reset(pair.now);
  pair.drain(0);
  const Nanoseconds start = pair.now;
  ASSERT_TRUE(pair.run_until([&] { return pair.sides[1].traffic->smalls == 5; }));
  EXPECT_EQ(pair.now - start, 25'000);
}

// The checker itself: what a forgotten duplicate window would do must not pass unseen.
TEST(ReliableChannel, TheCheckerNoticesAMessageThatComesTwice) {
  VirtualPair pair({}, 1);
  start_both(pair);
  std::vector<std::byte> old;
  pair.tap = [&](int from, std::vector<std::byte>& bytes) {
    const auto frame = decode_frame(bytes);
    if (from != 0 || frame->type != FrameType::kDataSmall) return true;
    if (old.empty()) {
      old = bytes;
    } else if (frame->sequence == 5) {  // the first message again, under a sequence that is due
      Frame again = *decode_frame(old);
      again.sequence = 5;
      std::vector<std::byte> head(kMaxHeadBytes);
      const std::size_t length = encode_frame_head(again, head);
      bytes.assign(head.begin(), head.begin() + static_cast<std::ptrdiff_t>(length));
    }
    return true;
  };
  for (int i = 0; i < 10; ++i) pair.sides[0].traffic->queue_small(0);
  pair.drain(0);
  pair.run_until([&] { return pair.both_done(); });
  EXPECT_NE(errors_of(pair), "");
}

TEST(ReliableChannel, RandomFramesFromAConnectedPeerAreHarmless) {
  VirtualPair pair({}, 1);
  start_both(pair);
  std::mt19937 random(9);
  std::array<std::byte, 64> payload{}, body{};
  for (int i = 0; i < 200'000; ++i) {
    Frame f;
    f.type = static_cast<FrameType>(3 + random() % 4);
    f.from = 0, f.to = 1, f.from_session = 100, f.to_session = 200;
    f.sequence = random() % 64, f.small_ack = random() % 4, f.small_sack = random(), f.bulk_ack = random() % 4;
    f.bulk_sack[0] = random(), f.echo = random() % 100, f.held_ns = random();
    for (std::byte& b : body) b = static_cast<std::byte>(random() % 4);
    f.body = std::span(body).first(random() % 64);
    if (random() % 2 == 0) f.payload = payload;
    pair.sides[1].channel->on_frame(f, pair.now += 1000);
    Delivery d;
    while (pair.sides[1].channel->poll_delivery(d)) EXPECT_LE(d.payload.size(), 64u);
    std::array<std::byte, kMaxHeadBytes> scratch;
    Transmit out;
    while (pair.sides[1].channel->poll_transmit(pair.now, scratch, out)) {
    }
  }
  EXPECT_GT(pair.sides[1].channel->counters().malformed, 0u);
}

TEST(ReliableChannel, MemoryOfTheTinyAndSimulatedLimits) {
  const ChannelLimits tiny{.small_window = 4, .small_body = 256, .bulk_window = 16, .bulk_streams = 2};
  EXPECT_LE(ReliableChannel::bytes_needed(tiny), 4096u);
  EXPECT_LE(sizeof(ReliableChannel), 1024u);
  RecordProperty("tiny_bytes", static_cast<int>(ReliableChannel::bytes_needed(tiny)));
}

}  // namespace
}  // namespace fibocast::test
