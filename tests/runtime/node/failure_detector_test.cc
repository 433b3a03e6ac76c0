// FailureDetector, rule by rule: one detector, its peers played by the test.
#include "runtime/node/failure_detector.h"

#include <gtest/gtest.h>

#include "tests/runtime/node/watched.h"

namespace fibocast {
namespace {

using enum Belief;

TEST(FailureDetector, WhoWasNeverHeardIsNotAccusedWhateverHappens) {
  Watched w(3);
  w.d.wait_on(1, w.now);
  w.refused(1);
  w.heard(1);
  w.news(2, 1, 0, kLost);
  w.run(60'000 * kMs);
  EXPECT_EQ(w.d.belief(1), kUnknown);
  EXPECT_TRUE(w.probes.empty());
  EXPECT_TRUE(w.changes.empty());
  EXPECT_TRUE(w.told.empty());
}

TEST(FailureDetector, WhoComesIsAlive) {
  Watched w(2);
  w.d.came(1, 77, w.now);
  w.drain();
  EXPECT_EQ(w.d.belief(1), kAlive);
  EXPECT_EQ(w.d.last_heard(1), w.now);
  EXPECT_EQ(w.changes, (std::vector<BeliefChange>{{1, kAlive, BeliefReason::kHeard, kNoNode}}));
}

TEST(FailureDetector, IdleItProbesTheNextOfTheRingOncePerInterval) {
  Watched w(5, 3);
  w.everybody_came();
  w.run_answered(16'000 * kMs, {0, 1, 2, 4});
  EXPECT_EQ(w.probes_of(4), 16u);
  EXPECT_EQ(w.probes_of(0), 1u);  // and every eighth time one of the others
  EXPECT_EQ(w.probes_of(1), 1u);
  EXPECT_EQ(w.probes.size(), 18u);
  EXPECT_TRUE(w.changes.empty());
}

TEST(FailureDetector, TrafficIsAsGoodAsAProbe) {
  Watched w(2);
  w.everybody_came();
  for (int i = 0; i < 50; ++i) {
    w.run(900 * kMs);
    w.heard(1);
  }
  EXPECT_TRUE(w.probes.empty());
  w.run(1000 * kMs);
  EXPECT_EQ(w.probes.size(), 1u);
}

TEST(FailureDetector, AnAnswerLeavesNothingToWakeForBeforeTheNextRound) {
  Watched w(3);
  w.everybody_came();
  w.run_until(w.d.next_deadline());
  ASSERT_EQ(w.probes_of(1), 1u);
  w.heard(1);
  EXPECT_EQ(w.d.next_deadline(), w.now + 1000 * kMs);
}

TEST(FailureDetector, AFrameThatWakesUsLateInARoundBeginsTheNext) {
  Watched w(4);
  w.everybody_came();
  w.run(740 * kMs);
  w.heard(3);
  EXPECT_TRUE(w.probes.empty());
  w.run(10 * kMs);
  w.heard(3);
  EXPECT_EQ(w.probes, (std::vector<Watched::Probe>{{w.now, 1}}));
  w.heard(1);
  EXPECT_EQ(w.d.next_deadline(), w.now + 1000 * kMs);
}

TEST(FailureDetector, ASilentNeighbourIsSuspectAfterHalfTheTimeAndThenLost) {
  Watched w(4);
  w.everybody_came();
  const Nanoseconds probe = w.now + 1000 * kMs;
  w.changed_at.clear();
  w.run_answered(3000 * kMs, {2, 3});
  ASSERT_EQ(w.changes.size(), 2u);
  EXPECT_EQ(w.changes[0], (BeliefChange{1, kSuspect, BeliefReason::kSilent, kNoNode}));
  EXPECT_EQ(w.changed_at[0], probe + 1000 * kMs);
  EXPECT_EQ(w.changes[1], (BeliefChange{1, kLost, BeliefReason::kSilent, kNoNode}));
  EXPECT_EQ(w.changed_at[1], probe + 2000 * kMs);
  EXPECT_EQ(w.d.counters().suspicions, 1u);
  EXPECT_EQ(w.d.counters().lost, 1u);
  // Quick probes: one per waiting interval, at most suspicion / waiting_interval in all.
  EXPECT_EQ(w.probes_of(1), 80u);
  EXPECT_EQ(w.probes_of(2), 2u);  // beyond a silent neighbour, and once it is lost, at once
  EXPECT_EQ(w.told_about(1, kSuspect, 2), 1u);
  EXPECT_EQ(w.told_about(1, kSuspect, 1), 2u);  // as a finger and as the accused
  EXPECT_EQ(w.told_about(1, kLost, 1), 0u);
  EXPECT_EQ(w.told_about(1, kLost, 2), 1u);
  EXPECT_EQ(w.told_about(1, kLost, 3), 1u);
}

TEST(FailureDetector, FourRoundTripsAreGrantedOnTop) {
  Watched w(2);
  w.everybody_came();
  w.d.set_round_trip(1, 100 * kMs);
  const Nanoseconds probe = w.now + 1000 * kMs;
  w.run_until(probe + 2400 * kMs - 1);
  EXPECT_EQ(w.d.belief(1), kSuspect);
  EXPECT_EQ(w.probes_of(1), 96u);
  w.run(1);
  EXPECT_EQ(w.d.belief(1), kLost);
}

TEST(FailureDetector, ARoundTripThatWasAPauseDoesNotPutOffTheVerdict) {
  Watched w(2);
  w.everybody_came();
  w.d.set_round_trip(1, 40'000 * kMs);
  w.run(1000 * kMs + 2000 * kMs + 4 * 250 * kMs);
  EXPECT_EQ(w.d.belief(1), kLost);
}

TEST(FailureDetector, AnyFrameAnswersAProbe) {
  Watched w(2);
  w.everybody_came();
  w.run(1990 * kMs);
  w.heard(1);
  w.run(1990 * kMs);
  EXPECT_EQ(w.d.belief(1), kAlive);
  EXPECT_EQ(w.d.counters().suspicions, 0u);
}

TEST(FailureDetector, ASuspectThatIsHeardIsAliveAndLearnsWhatIsSaidOfIt) {
  Watched w(3);
  w.everybody_came();
  w.run(2100 * kMs);
  ASSERT_EQ(w.d.belief(1), kSuspect);
  w.forget();
  w.heard(1);
  w.heard(1);
  EXPECT_EQ(w.d.belief(1), kAlive);
  EXPECT_EQ(w.d.counters().false_suspicions, 1u);
  EXPECT_EQ(w.told_about(1, kSuspect, 1), 1u);
  EXPECT_EQ(w.told.size(), 1u);
}

TEST(FailureDetector, WhoIsWaitedOnIsProbedEveryWaitingInterval) {
  Watched w(4);
  w.everybody_came();
  w.d.wait_on(2, w.now);
  w.d.wait_on(2, w.now);
  w.run_answered(500 * kMs, {2});
  EXPECT_EQ(w.probes.size(), 20u);
  EXPECT_EQ(w.probes_of(2), 20u);
  w.d.no_longer_wait_on(2);
  w.run_answered(100 * kMs, {2});
  EXPECT_EQ(w.probes.size(), 24u);
  w.d.no_longer_wait_on(2);
  w.run_answered(300 * kMs, {2});
  EXPECT_EQ(w.probes.size(), 24u);
}

TEST(FailureDetector, WhoIsWaitedOnAndHeardIsNotProbed) {
  Watched w(2);
  w.everybody_came();
  w.d.wait_on(1, w.now);
  for (int i = 0; i < 100; ++i) {
    w.run(20 * kMs);
    w.heard(1);
  }
  EXPECT_TRUE(w.probes.empty());
}

TEST(FailureDetector, WaitingBeginsWhenAnUnknownOneComes) {
  Watched w(3);
  w.d.wait_on(2, w.now);
  w.run(500 * kMs);
  w.d.came(2, Watched::incarnation(2), w.now);
  w.run(24 * kMs);
  EXPECT_TRUE(w.probes.empty());
  w.run(kMs);
  EXPECT_EQ(w.probes.size(), 1u);
}

TEST(FailureDetector, SilenceOfWhoIsWaitedOnIsALossWithinSuspicionAndTwoIntervals) {
  Watched w(4);
  w.everybody_came();
  w.d.wait_on(2, w.now);
  w.run_answered(110 * kMs, {2});
  w.run(2050 * kMs);
  EXPECT_EQ(w.d.belief(2), kLost);
}

TEST(FailureDetector, ARefusalIsAskedThreeTimesAndThenALoss) {
  Watched w(3);
  w.everybody_came();
  w.run(10 * kMs);
  const Nanoseconds at = w.now;
  w.refused(2);
  EXPECT_EQ(w.d.belief(2), kAlive);
  w.run(5 * kMs);
  w.refused(2);  // more of it changes nothing
  w.run_until(at + 60 * kMs - 1);
  EXPECT_EQ(w.d.belief(2), kAlive);
  EXPECT_EQ(w.probes, (std::vector<Watched::Probe>{{at, 2}, {at + 20 * kMs, 2}, {at + 40 * kMs, 2}}));
  w.run(1);
  EXPECT_EQ(w.changes, (std::vector<BeliefChange>{{2, kLost, BeliefReason::kRefused, kNoNode}}));
  w.run(500 * kMs);
  EXPECT_EQ(w.probes.size(), 3u);
}

TEST(FailureDetector, ARefusalWaitsForTwoRoundTrips) {
  Watched w(3);
  w.everybody_came();
  w.d.set_round_trip(2, 50 * kMs);
  w.refused(2);
  w.run(140 * kMs - 1);
  EXPECT_EQ(w.d.belief(2), kAlive);
  w.run(1);
  EXPECT_EQ(w.d.belief(2), kLost);
}

TEST(FailureDetector, OneFrameEndsARefusal) {
  Watched w(3);
  w.everybody_came();
  w.refused(2);
  w.run(59 * kMs);
  w.heard(2);
  w.run(500 * kMs);
  EXPECT_EQ(w.d.belief(2), kAlive);
  EXPECT_TRUE(w.changes.empty());
}

TEST(FailureDetector, ALostOneThatIsHeardIsAliveAgain) {
  Watched w(3);
  w.everybody_came();
  w.refused(2);
  w.run(60 * kMs);
  ASSERT_EQ(w.d.belief(2), kLost);
  w.forget();
  w.heard(2);
  EXPECT_EQ(w.changes, (std::vector<BeliefChange>{{2, kAlive, BeliefReason::kHeard, kNoNode}}));
  EXPECT_EQ(w.told, (std::vector<Watched::Told>{{2, {2, 1002, 0, kLost}}}));
}

TEST(FailureDetector, LostOnesAreProbedInTurnOnePerIdleInterval) {
  Watched w(6);
  w.everybody_came();
  for (NodeId n : {2u, 4u, 5u}) w.refused(n);
  w.run(60 * kMs);
  w.forget();
  w.run_answered(9000 * kMs, {1, 3});
  EXPECT_EQ(w.probes_of(2), 3u);
  EXPECT_EQ(w.probes_of(4), 3u);
  EXPECT_EQ(w.probes_of(5), 3u);
  EXPECT_EQ(w.probes.size(), 9u + w.probes_of(1) + w.probes_of(3));
  EXPECT_LE(w.probes_of(1), 9u);
}

TEST(FailureDetector, ANewIncarnationIsALossAndALife) {
  Watched w(4);
  w.everybody_came();
  w.news(1, 2, 0, kSuspect);
  w.run(700 * kMs);
  w.forget();
  w.d.came(2, 55, w.now);
  w.drain();
  EXPECT_EQ(w.changes, (std::vector<BeliefChange>{{2, kLost, BeliefReason::kRestarted, kNoNode},
                                                  {2, kAlive, BeliefReason::kHeard, kNoNode}}));
  EXPECT_EQ(w.told, (std::vector<Watched::Told>{{1, {2, 55, 0, kAlive}}}));
  EXPECT_EQ(w.d.counters().restarts, 1u);
  w.forget();
  w.news(1, 2, 9, kLost);  // about the former one
  EXPECT_EQ(w.d.belief(2), kAlive);
  EXPECT_TRUE(w.told.empty());
  w.d.came(2, 55, w.now);  // the same one again
  w.drain();
  EXPECT_TRUE(w.changes.empty());
}

TEST(FailureDetector, ALostOneThatRestartedIsNotLostTwice) {
  Watched w(3);
  w.everybody_came();
  w.refused(2);
  w.run(60 * kMs);
  w.forget();
  w.d.came(2, 55, w.now);
  w.drain();
  EXPECT_EQ(w.changes, (std::vector<BeliefChange>{{2, kAlive, BeliefReason::kHeard, kNoNode}}));
}

TEST(FailureDetector, NewsOfAnotherIncarnationAsksForAHandshake) {
  Watched w(5);
  w.everybody_came();
  w.d.on_news(1, {3, 55, 0, kAlive}, w.now);
  w.drain();
  EXPECT_EQ(w.probes, (std::vector<Watched::Probe>{{w.now, 3}}));
  EXPECT_TRUE(w.told.empty());
}

// ---- an observer that was late itself

TEST(FailureDetector, ALateObserverDoesNotAccuse) {
  Watched w(2);
  w.everybody_came();
  w.run(1500 * kMs);  // half a second of silence
  const std::size_t before = w.probes.size();
  w.now += 30'000 * kMs;
  w.d.on_timer(w.now);
  w.drain();
  EXPECT_EQ(w.d.belief(1), kAlive);
  EXPECT_EQ(w.d.counters().late, 1u);
  EXPECT_EQ(w.probes.size(), before + 1);
  w.run(450 * kMs);
  EXPECT_EQ(w.d.belief(1), kAlive);
  w.run(50 * kMs);
  EXPECT_EQ(w.d.belief(1), kSuspect);  // the measurement has only been moved on
}

TEST(FailureDetector, AfterALateTimerOneMoreProbeMustGoUnanswered) {
  Watched w(2);
  w.everybody_came();
  w.run(1990 * kMs);  // 10 ms before the suspicion
  w.now += 100 * kMs;
  w.d.on_timer(w.now);
  w.drain();
  w.forget();
  w.run(49 * kMs);
  EXPECT_EQ(w.d.belief(1), kAlive);
  w.run(kMs);  // a probe in time after 25 ms, unanswered for 25 ms
  EXPECT_EQ(w.d.belief(1), kSuspect);
}

TEST(FailureDetector, ARefusalIsMovedOnToo) {
  Watched w(3);
  w.everybody_came();
  w.refused(2);
  w.run(50 * kMs);
  w.now += 5000 * kMs;
  w.d.on_timer(w.now);
  w.drain();
  w.run(39 * kMs);
  EXPECT_EQ(w.d.belief(2), kAlive);
  w.run(kMs);
  EXPECT_EQ(w.d.belief(2), kLost);
}

TEST(FailureDetector, ADelayOfTheSchedulerIsNotLateness) {
  Watched w(2);
  w.everybody_came();
  w.now = w.d.next_deadline() + FailureDetector::kLate;
  w.d.on_timer(w.now);
  EXPECT_EQ(w.d.counters().late, 0u);
  w.now = w.d.next_deadline() + FailureDetector::kLate + 1;
  w.d.on_timer(w.now);
  EXPECT_EQ(w.d.counters().late, 1u);
}

TEST(FailureDetector, ANodeThatWasAddedIsWatchedOnceItCame) {
  Watched w(2);
  w.everybody_came();
  w.news(1, 2, 0, kAlive);
  EXPECT_EQ(w.d.belief(1), kAlive) << "news of who is not known here yet are no mistake";
  w.d.grow(3);
  w.d.came(2, Watched::incarnation(2), w.now);
  w.drain();
  EXPECT_EQ(w.d.belief(2), kAlive);
  w.run_answered(10'000 * kMs, {1});
  EXPECT_EQ(w.d.belief(2), kLost);
}

// A paused observer reads old frames before its timer fires: what it begins then is not shortened or prolonged.
TEST(FailureDetector, WhatBeginsWhileLateLastsItsFullTimeFromThen) {
  Watched w(3);
  w.everybody_came();
  w.now += 20'000 * kMs;
  w.refused(2);
  w.d.on_timer(w.now);
  w.drain();
  EXPECT_EQ(w.d.belief(2), kAlive);
  w.run(100 * kMs);
  EXPECT_EQ(w.d.belief(2), kLost);
}

}  // namespace
}  // namespace fibocast
