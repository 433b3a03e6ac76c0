// How two find each other again when one has given the other up.
#include "transport/handshake.h"

#include <gtest/gtest.h>

#include "tests/transport/virtual_pair.h"

namespace fibocast::test {
namespace {

constexpr Nanoseconds kMs = 1'000'000;

// The first has given the second up and has asked for it in vain for so long, less and less often; the second does not
// know, and goes on.
struct GivenUp : VirtualPair {
  GivenUp(Nanoseconds in_vain, Nanoseconds delay) : VirtualPair({}, 1) {
    start(0, 100), start(1, 200);
    EXPECT_TRUE(run_until([&] { return both_done(); }));
    link.loss = 1;
    sides[0].channel->renew(now);
    drain(0);
    run_for(in_vain);
    link.loss = 0;
    link.delay = delay;
    sent = [this](const Transmit& t, FrameType type) {
      hellos += type == FrameType::kHello && t.to == settings[0].peer;
    };
  }
  // The second sends something every 10 ms.
  bool goes_on_until_told(Nanoseconds at_most) {
    for (const Nanoseconds end = now + at_most; now < end;) {
      sides[1].traffic->queue_small(10);
      drain(1);
      run_for(10 * kMs);
      if (sides[1].traffic->restarted == 1) return true;
    }
    return false;
  }
  int hellos = 0;  // of the first
};

TEST(Handshake, BeginsAnewSoonWithWhoIsHeardAfterASilence) {
  for (Nanoseconds in_vain = 100 * kMs; in_vain < 4'000 * kMs; in_vain += 70 * kMs) {
    GivenUp pair(in_vain, 25'000);
    EXPECT_TRUE(pair.goes_on_until_told(70 * kMs)) << in_vain / kMs;
    EXPECT_LE(pair.hellos, 2) << in_vain / kMs;
  }
}

TEST(Handshake, AsksLessOftenTheLongerTheAnswerTakes) {
  GivenUp pair(3'000 * kMs, 2'000 * kMs);
  EXPECT_TRUE(pair.goes_on_until_told(10'000 * kMs));
  EXPECT_LE(pair.hellos, 16) << "in some seven seconds";
}

}  // namespace
}  // namespace fibocast::test
