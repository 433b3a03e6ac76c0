#include "transport/seal/sealer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "tests/transport/seal/sealed_pair.h"
#include "transport/little_endian.h"

namespace fibocast::test {
namespace {

struct Variant {
  SealMode mode;
  bool aes;
};

class Sealed : public ::testing::TestWithParam<Variant> {
 protected:
  SealedPair pair{GetParam().mode, GetParam().aes};
};

TEST_P(Sealed, FramesArriveUnchangedBothWays) {
  pair.connect();
  ASSERT_EQ(pair.sides[1].received.size(), 1u) << "the first frame waited for the session";
  EXPECT_EQ(pair.sides[1].received[0], plain_frame(0, 1));
  for (const std::size_t payload : {0u, 1u, 15u, 16u, 1200u, 32'768u}) {
    for (const NodeId from : {0u, 1u}) {
      pair.send(from, plain_frame(from, 1 - from, payload));
      pair.deliver();
      EXPECT_EQ(pair.sides[1 - from].received.back(), plain_frame(from, 1 - from, payload));
    }
  }
  EXPECT_EQ(pair.counters(0).sessions, 1u);
  EXPECT_EQ(pair.counters(1).sessions, 1u);
  EXPECT_EQ(pair.sides[0].sealer->session(1)->peer_incarnation, 1001u);
  EXPECT_EQ(pair.sides[1].sealer->session(0)->peer_incarnation, 1000u);
}

TEST_P(Sealed, TheTextIsReadableOnTheWireInIntegrityModeOnly) {
  pair.connect();
  pair.send(0, plain_frame(0, 1, 100));
  const Bytes& wire = pair.wire.back().bytes;
  const Bytes text(50, std::byte{0x5a});
  const auto found = std::search(wire.begin(), wire.end(), text.begin(), text.end());
  EXPECT_EQ(found == wire.end(), GetParam().mode == SealMode::kSealed);
}

TEST_P(Sealed, EveryBitCounts) {
  pair.connect();
  pair.send(0, plain_frame(0, 1, 33));
  const Bytes good = pair.wire.back().bytes;
  for (std::size_t bit = 0; bit < 8 * good.size(); ++bit) {
    Bytes bad = good;
    bad[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    EXPECT_FALSE(pair.give(1, bad)) << "bit " << bit;
  }
  for (std::size_t bytes = 0; bytes < good.size(); ++bytes)
    EXPECT_FALSE(pair.give(1, std::span(good).first(bytes))) << bytes << " bytes";
  EXPECT_EQ(pair.sides[1].received.size(), 1u);
  EXPECT_TRUE(pair.give(1, good)) << "the forgeries did not spoil it";
}

TEST_P(Sealed, EveryBitOfTheHandshakeCounts) {
  pair.send(0, plain_frame(0, 1));
  const Bytes first = pair.wire.front().bytes;
  pair.wire.clear();
  for (std::size_t bit = 0; bit < 8 * first.size(); ++bit) {
    Bytes bad = first;
    bad[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    EXPECT_FALSE(pair.give(1, bad)) << "bit " << bit;
  }
  EXPECT_TRUE(pair.wire.empty()) << "nothing is answered";
  EXPECT_EQ(pair.sides[1].sealer->peers_known(), 0u) << "no memory is taken";
  EXPECT_TRUE(pair.give(1, first));
  const Bytes answer = pair.wire.front().bytes;
  pair.wire.clear();
  EXPECT_LE(answer.size(), first.size());
  for (std::size_t bit = 0; bit < 8 * answer.size(); ++bit) {
    Bytes bad = answer;
    bad[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    EXPECT_FALSE(pair.give(0, bad)) << "bit " << bit;
  }
  EXPECT_TRUE(pair.give(0, answer));
  pair.deliver();
  EXPECT_EQ(pair.sides[1].received.size(), 1u);
}

TEST_P(Sealed, AReplayedFrameIsRefused) {
  pair.connect();
  for (int i = 0; i < 10; ++i) pair.send(0, plain_frame(0, 1, i));
  pair.deliver();
  const std::size_t before = pair.sides[1].received.size();
  for (const Datagram& d : pair.captured) EXPECT_FALSE(d.to == 1 && pair.give(1, d.bytes));
  EXPECT_EQ(pair.sides[1].received.size(), before);
  EXPECT_EQ(pair.counters(1).replayed, 12u) << "the confirmation, the frame that waited, and ten";
  EXPECT_EQ(pair.counters(1).old_first, 1u);
}

TEST_P(Sealed, AReflectedFrameIsRefused) {
  pair.connect();
  for (int i = 0; i < 10; ++i) pair.send(0, plain_frame(0, 1, i));
  pair.deliver();
  for (Datagram d : pair.captured) {
    if (d.from != 0) continue;
    EXPECT_FALSE(pair.give(0, d.bytes));
    // Even with the number of a session that exists here: each direction has its own key.
    if (d.bytes[3] != static_cast<std::byte>(seal::Kind::kFrame)) continue;
    for (const Datagram& back : pair.captured)
      if (back.to == 0 && back.bytes[3] == static_cast<std::byte>(seal::Kind::kAnswer))
        std::ranges::copy(std::span(back.bytes).subspan(4, 4), d.bytes.begin() + 4);
    EXPECT_FALSE(pair.give(0, d.bytes));
  }
  EXPECT_TRUE(pair.sides[0].received.empty());
}

INSTANTIATE_TEST_SUITE_P(Modes, Sealed,
                         ::testing::Values(Variant{SealMode::kSealed, true}, Variant{SealMode::kSealed, false},
                                           Variant{SealMode::kIntegrity, true}, Variant{SealMode::kIntegrity, false}));

using Seal = SealedPair;

// -- who is let in

TEST(Seal, AnotherKeyIsRefusedAndNamed) {
  Seal pair;
  pair.restart(1, pair.settings(1), KeyRing(key_of(8)));
  pair.connect();
  EXPECT_TRUE(pair.sides[1].received.empty());
  EXPECT_EQ(pair.counters(1).unknown_key, 1u);
  EXPECT_EQ(pair.sides[1].refusals, std::vector{Sealer::Refusal::kUnknownKey});
  EXPECT_EQ(pair.sides[1].sealer->peers_known(), 0u);
}

TEST(Seal, WhoKnowsTheNameOfTheKeyButNotTheKeyIsRefused) {
  Seal pair;
  pair.restart(0, pair.settings(0), KeyRing(key_of(8)));
  pair.send(0, plain_frame(0, 1));
  little_endian::put(pair.wire.front().bytes.data() + 12, key_of(7).id());
  pair.deliver();
  EXPECT_EQ(pair.counters(1).forged, 1u);
  EXPECT_EQ(pair.sides[1].sealer->peers_known(), 0u);
}

TEST(Seal, AnotherClusterAndAnotherModeAreRefusedAndNamed) {
  Seal pair;
  SealSettings other = pair.settings(0);
  other.cluster = "production";
  pair.restart(0, other, KeyRing(key_of(7)));
  pair.connect();
  EXPECT_EQ(pair.counters(1).other_cluster, 1u);
  pair.restart(0, pair.settings(0, SealMode::kIntegrity), KeyRing(key_of(7)));
  pair.connect();
  EXPECT_EQ(pair.counters(1).other_mode, 1u);
  EXPECT_EQ(pair.sides[1].refusals, (std::vector{Sealer::Refusal::kOtherCluster, Sealer::Refusal::kOtherMode}));
  EXPECT_TRUE(pair.sides[1].received.empty());
}

TEST(Seal, FramesThatAreNotSealedAreRefused) {
  Seal pair;
  pair.connect();
  EXPECT_FALSE(pair.give(1, plain_frame(0, 1, 10)));
  EXPECT_EQ(pair.counters(1).not_sealed, 1u);
  EXPECT_FALSE(pair.give(1, Bytes(64, std::byte{9})));
  EXPECT_FALSE(pair.give(1, {}));
  EXPECT_EQ(pair.counters(1).malformed, 2u);
}

TEST(Seal, APeerSpeaksForItselfOnly) {
  Seal pair;
  pair.connect();
  const auto sealed = pair.sides[0].sealer->seal(1, plain_frame(5, 1), {}, pair.now);
  pair.put(0, 1, sealed);
  pair.deliver();
  EXPECT_EQ(pair.counters(1).misdirected, 1u);
  EXPECT_EQ(pair.sides[1].received.size(), 1u);
}

TEST(Seal, BothMustHaveAesToUseIt) {
  Seal pair;
  for (const NodeId without : {0u, 1u}) {
    pair.restart(without, pair.settings(without, SealMode::kSealed, false), KeyRing(key_of(7)));
    pair.restart(1 - without, pair.settings(1 - without), KeyRing(key_of(7)));
    pair.connect();
    EXPECT_EQ(pair.sides[0].sealer->session(1)->algorithm, SealAlgorithm::kChaCha20Poly1305);
    EXPECT_EQ(pair.sides[1].sealer->session(0)->algorithm, SealAlgorithm::kChaCha20Poly1305);
  }
}

// -- handshakes

TEST(Seal, ALostHandshakeIsRepeatedWithTheChannelsFrames) {
  Seal pair;
  for (int i = 0; i < 3; ++i) {
    pair.send(0, plain_frame(0, 1));
    EXPECT_EQ(pair.wire.size(), 1u);
    pair.wire.clear();  // lost
    pair.send(0, plain_frame(0, 1));
    EXPECT_TRUE(pair.wire.empty()) << "not before its time";
    pair.now += Sealer::kLongestRetry;
  }
  pair.connect();
  EXPECT_EQ(pair.sides[1].received.size(), 1u);
}

// A first message that is repeated before its answer can have come makes that answer worthless. Both sides speak every
// 50 ms.
TEST(Seal, WhoIsFarAwayIsReached) {
  for (const int steps_one_way : {1, 10, 30}) {
    SealedPair pair;
    std::deque<std::pair<int, Datagram>> under_way;
    const auto both_heard = [&] { return !pair.sides[0].received.empty() && !pair.sides[1].received.empty(); };
    int step = 0;
    for (; step < 600 && !both_heard(); ++step, pair.now += 50'000'000) {
      for (const NodeId from : {0u, 1u}) pair.send(from, plain_frame(from, 1 - from));
      for (; !pair.wire.empty(); pair.wire.pop_front()) under_way.emplace_back(step + steps_one_way, pair.wire.front());
      for (; !under_way.empty() && under_way.front().first <= step; under_way.pop_front())
        pair.give(under_way.front().second.to, under_way.front().second.bytes);
    }
    EXPECT_LT(step, 600) << "30 s, one way " << 50 * steps_one_way << " ms";
  }
}

// Nodes start one after the other: the first message of the earlier one may be refused, for nobody is there.
TEST(Seal, BothBeginningAgreeOnOneSessionAtOnce) {
  for (const bool refused : {false, true}) {
    Seal pair;
    pair.send(0, plain_frame(0, 1));
    if (refused) pair.wire.clear(), pair.sides[0].sealer->doubt(1);
    pair.send(1, plain_frame(1, 0));
    pair.deliver();
    for (const NodeId side : {0u, 1u}) {
      EXPECT_EQ(pair.sides[side].received.size(), 1u) << "side " << side << (refused ? ", refused" : "");
      EXPECT_EQ(pair.counters(side).sessions, 1u) << "side " << side << (refused ? ", refused" : "");
    }
  }
}

TEST(Seal, AReplayedFirstMessageSetsUpNothing) {
  Seal pair;
  pair.connect();
  const Bytes first = pair.captured.front().bytes;
  EXPECT_FALSE(pair.give(1, first)) << "while its session lives";
  EXPECT_EQ(pair.counters(1).old_first, 1u);
  // Also at a responder that has forgotten everything: it answers once, but uses nothing before a frame has come.
  pair.restart(1, pair.settings(1), KeyRing(key_of(7)));
  pair.give(1, first);
  EXPECT_EQ(pair.wire.size(), 1u);
  EXPECT_FALSE(pair.sides[1].sealer->session(0));
  EXPECT_FALSE(pair.give(1, first));
  EXPECT_FALSE(pair.give(0, pair.wire.front().bytes)) << "nobody waits for that answer";
  pair.wire.clear();
  // And the right one gets through.
  pair.sides[0].sealer->doubt(1);
  pair.now += 1'000'000'000;
  pair.send(0, plain_frame(0, 1));
  pair.deliver();
  pair.send(0, plain_frame(0, 1, 3));
  pair.deliver();
  EXPECT_EQ(pair.sides[1].received.back(), plain_frame(0, 1, 3));
}

TEST(Seal, AReplayedAnswerAndAnOldOneAreRefused) {
  Seal pair;
  pair.connect();
  for (const Datagram& d : pair.captured) EXPECT_FALSE(d.to == 0 && pair.give(0, d.bytes));
  EXPECT_EQ(pair.counters(0).sessions, 1u);
}

TEST(Seal, FirstMessagesInTooQuickSuccessionAreRefused) {
  Seal pair;
  pair.connect();
  for (int i = 0; i < 5; ++i) {
    pair.restart(0, pair.settings(0), KeyRing(key_of(7)));  // its stamps rise, as a clock does
    pair.send(0, plain_frame(0, 1));
    pair.deliver();
  }
  EXPECT_EQ(pair.counters(1).too_often, 5u);
  pair.now += Sealer::kLongestRetry;
  pair.connect();
  EXPECT_TRUE(pair.sides[0].sealer->session(1));
}

TEST(Seal, APeerThatWasRestartedIsHeardAtOnce) {
  Seal pair;
  pair.connect();
  pair.now += 1'000'000'000;
  pair.restart(1, pair.settings(1), KeyRing(key_of(7)));
  pair.send(1, plain_frame(1, 0));
  pair.deliver();
  ASSERT_EQ(pair.sides[0].received.size(), 1u);
  pair.send(0, plain_frame(0, 1, 5));
  pair.deliver();
  EXPECT_EQ(pair.sides[1].received.back(), plain_frame(0, 1, 5));
}

// It forgot the session and has nothing to say: who gets no answers begins anew.
TEST(Seal, SilenceEndsASession) {
  Seal pair;
  pair.connect();
  pair.restart(1, pair.settings(1), KeyRing(key_of(7)));
  pair.send(0, plain_frame(0, 1, 1));
  pair.deliver();
  EXPECT_EQ(pair.counters(1).unknown_session, 1u);
  pair.now += Sealer::kSilence;
  pair.send(0, plain_frame(0, 1, 2));
  pair.deliver();
  pair.send(0, plain_frame(0, 1, 3));
  pair.deliver();
  EXPECT_EQ(pair.sides[1].received.back(), plain_frame(0, 1, 3));
}

TEST(Seal, SessionsAreRenewedWithoutLosingAFrame) {
  Seal pair;
  pair.connect();
  std::size_t sent = 1;
  for (int hour = 1; hour < 5; ++hour) {
    pair.now += Sealer::kOldSession;
    for (int i = 0; i < 3; ++i, ++sent) pair.send(0, plain_frame(0, 1));
    pair.deliver();
    EXPECT_EQ(pair.counters(0).sessions, static_cast<std::uint64_t>(1 + hour));
  }
  EXPECT_EQ(pair.sides[1].received.size(), sent);
}

// -- other keys

TEST(Seal, KeysAreRotatedWithoutLosingAFrame) {
  Seal pair;
  pair.connect();
  std::size_t sent = 1;
  const auto traffic = [&] {
    for (int i = 0; i < 3; ++i, ++sent) pair.send(0, plain_frame(0, 1)), pair.send(1, plain_frame(1, 0));
    pair.deliver();
    EXPECT_EQ(pair.sides[1].received.size(), sent);
    pair.now += 100'000'000;
  };
  const auto step = [&](NodeId self, auto change) {
    KeyRing ring = pair.sides[self].sealer->keys().copy();
    change(ring);
    pair.sides[self].sealer->set_keys(std::move(ring), pair.now);
    traffic();
  };
  for (const NodeId self : {0u, 1u}) step(self, [](KeyRing& ring) { ring.accept(key_of(9)); });
  EXPECT_EQ(pair.sides[0].sealer->session(1)->key, key_of(7).id());
  for (const NodeId self : {1u, 0u}) step(self, [](KeyRing& ring) { ring.make_primary(key_of(9).id()); });
  EXPECT_EQ(pair.sides[0].sealer->session(1)->key, key_of(9).id());
  EXPECT_EQ(pair.sides[1].sealer->session(0)->key, key_of(9).id());
  for (const NodeId self : {0u, 1u}) step(self, [](KeyRing& ring) { ring.drop_others(); });
  EXPECT_EQ(pair.counters(0).unknown_session + pair.counters(1).unknown_session, 0u);
  EXPECT_EQ(pair.counters(0).sessions, 2u) << "one for each key";
}

TEST(Seal, ASessionEndsWithItsKey) {
  Seal pair;
  pair.connect();
  pair.sides[1].sealer->set_keys(KeyRing(key_of(9)), pair.now);
  pair.send(0, plain_frame(0, 1, 7));
  pair.deliver();
  EXPECT_EQ(pair.counters(1).unknown_session, 1u);
  EXPECT_EQ(pair.sides[1].received.size(), 1u);
}

// -- nonces

// Everything that was put on the wire in a lossy run with repetitions and renewals: no key has one counter twice.
TEST(Seal, NoKeyAndCounterTwiceWithLoss) {
  Seal pair;
  std::set<std::pair<std::uint32_t, std::uint64_t>> used;  // session of the receiver and counter
  std::size_t frames = 0;
  for (int i = 0; i < 20'000; ++i) {
    const NodeId from = pair.random() % 2;
    const Bytes frame = plain_frame(from, 1 - from, pair.random() % 64);
    pair.send(from, frame);
    if (pair.random() % 3 == 0) pair.send(from, frame);  // the channel repeats it
    while (!pair.wire.empty()) {
      const Datagram d = pair.wire.front();
      pair.wire.pop_front();
      if (d.bytes[3] == static_cast<std::byte>(seal::Kind::kFrame)) {
        ++frames;
        const auto session = little_endian::get<std::uint32_t>(d.bytes.data() + 4);
        EXPECT_TRUE(used.emplace(session, little_endian::get<std::uint64_t>(d.bytes.data() + 8)).second);
      }
      if (pair.random() % 5 != 0) pair.give(d.to, d.bytes);
    }
    pair.now += i % 1000 == 999 ? Sealer::kOldSession : 2'000'000;
  }
  EXPECT_GT(frames, 20'000u);
  EXPECT_GT(pair.counters(0).sessions, 10u);
  EXPECT_EQ(pair.counters(0).replayed + pair.counters(1).replayed, 0u);
}

}  // namespace
}  // namespace fibocast::test
