// FailureDetector and news: what it believes, passes on, disputes and refutes.
#include <gtest/gtest.h>

#include <limits>

#include "runtime/node/failure_detector.h"
#include "tests/runtime/node/watched.h"

namespace fibocast {
namespace {

using enum Belief;

TEST(FailureNews, LaterNewsSupersede) {
  EXPECT_TRUE(supersedes({1, 5, 0, kSuspect}, {1, 5, 0, kAlive}));
  EXPECT_TRUE(supersedes({1, 5, 0, kLost}, {1, 5, 0, kSuspect}));
  EXPECT_TRUE(supersedes({1, 5, 1, kAlive}, {1, 5, 0, kLost}));
  EXPECT_FALSE(supersedes({1, 5, 0, kLost}, {1, 5, 0, kLost}));
  EXPECT_FALSE(supersedes({1, 5, 0, kLost}, {1, 5, 1, kAlive}));
}

// Who was cut off says of everybody that they are lost: nobody is given up without having been asked.
TEST(FailureNews, WhoWasNotEvenAskedMayAnswer) {
  Watched w(16);
  w.everybody_came();
  w.run_answered(3000 * kMs, {1});
  for (NodeId accused : {5u, 9u}) {
    w.forget();
    w.news(2, accused, 0, kLost);
    EXPECT_EQ(w.probes_of(accused), 1u);
    EXPECT_EQ(w.told_about(accused, kLost, accused), 1u);
    w.run_answered(49 * kMs, {1, 5});
    EXPECT_EQ(w.d.belief(accused), kAlive);
  }
  w.run_answered(kMs, {1});
  EXPECT_EQ(w.d.belief(5), kAlive);
  EXPECT_EQ(w.changes, (std::vector<BeliefChange>{{9, kLost, BeliefReason::kTold, 2}}));
}

TEST(FailureNews, WhoLeavesIsLostAtOnceUntilItComesAnew) {
  Watched w(8);
  w.everybody_came();
  w.news(5, 5, 0, kLost);
  EXPECT_EQ(w.changes.back(), (BeliefChange{5, kLost, BeliefReason::kLeft}));
  EXPECT_EQ(w.told_about(5, kLost, 1), 1u);
  w.heard(5);  // what it had sent before
  w.d.came(5, Watched::incarnation(5), w.now);
  w.drain();
  EXPECT_EQ(w.d.belief(5), kLost);
  w.d.came(5, Watched::incarnation(5) + 1, w.now);
  w.drain();
  EXPECT_EQ(w.d.belief(5), kAlive);
}

TEST(FailureNews, WhoLeavesDefendsItselfNoMore) {
  Watched w(8);
  w.everybody_came();
  w.d.leave();
  EXPECT_EQ(w.d.farewell().belief, kLost);
  w.news(2, 0, 0, kLost);
  EXPECT_EQ(w.d.counters().refutations, 0u);
}

TEST(FailureNews, ARefusedPathAndTheNewsOfALossAreEnoughInEitherOrder) {
  Watched w(8);
  w.everybody_came();
  w.run_answered(3000 * kMs, {1});
  for (NodeId n : {5u, 6u}) w.heard(n);
  w.refused(5);
  w.news(2, 5, 0, kLost);
  EXPECT_EQ(w.d.belief(5), kLost);
  w.news(2, 6, 0, kLost);
  w.refused(6);
  EXPECT_EQ(w.d.belief(6), kAlive);
  w.run_answered(20 * kMs, {1});  // what refused may have been its former address: one probe
  EXPECT_EQ(w.d.belief(6), kLost);
}

TEST(FailureNews, ALossIsBelievedAndPassedOnOnceAndNotBack) {
  Watched w(16);
  w.everybody_came();
  w.run_answered(3000 * kMs, {1});
  w.d.wait_on(9, w.now);
  w.run_answered(50 * kMs, {1});  // it does not answer here either
  w.forget();
  w.news(2, 9, 0, kLost);
  w.news(4, 9, 0, kLost);
  EXPECT_EQ(w.changes, (std::vector<BeliefChange>{{9, kLost, BeliefReason::kTold, 2}}));
  EXPECT_EQ(w.told, (std::vector<Watched::Told>{{1, {9, 1009, 0, kLost}},  //
                                                {4, {9, 1009, 0, kLost}},
                                                {8, {9, 1009, 0, kLost}}}));
}

TEST(FailureNews, TheNextTwoOfTheRingStandInForLostOnes) {
  Watched w(8);
  w.everybody_came();
  w.run_answered(3000 * kMs, {1});
  for (NodeId n : {1u, 2u, 4u}) w.d.refused(n, w.now);
  w.run(60 * kMs);
  w.forget();
  w.news(7, 6, 0, kSuspect);
  EXPECT_EQ(w.told_about(6, kSuspect, 3), 1u);
  EXPECT_EQ(w.told_about(6, kSuspect, 5), 1u);
  EXPECT_EQ(w.told.size(), 2u);
}

// Who started after a death never met the dead one, but others may hear of it only through him.
TEST(FailureNews, NewsOfWhoNeverCameArePassedOnAndNotBelieved) {
  Watched w(8);
  for (NodeId n : {1u, 2u, 3u, 4u}) w.d.came(n, Watched::incarnation(n), w.now);
  w.drain();
  w.forget();
  w.news(3, 6, 2, kLost);
  EXPECT_EQ(w.d.belief(6), kUnknown);
  for (NodeId n : {1u, 2u, 4u}) EXPECT_EQ(w.told_about(6, kLost, n), 1u) << n;
  w.run_answered(1000 * kMs, {1});
  EXPECT_EQ(w.told_about(6, kLost, 1), 2u);  // and in turn
  EXPECT_EQ(w.probes_of(6), 0u);
  w.d.came(6, Watched::incarnation(6), w.now);
  w.drain();
  EXPECT_EQ(w.d.belief(6), kAlive);
  EXPECT_EQ(w.told_about(6, kLost, 6), 1u);
  EXPECT_EQ(w.d.counters().restarts, 0u);
}

TEST(FailureNews, ASuspicionIsNotConfirmedByWhoDoesNotWatch) {
  Watched w(8);
  w.everybody_came();
  w.run_answered(3000 * kMs, {1});
  w.news(2, 5, 0, kSuspect);
  EXPECT_EQ(w.d.belief(5), kSuspect);
  w.run_answered(4900 * kMs, {1});
  EXPECT_EQ(w.d.belief(5), kSuspect);
  EXPECT_EQ(w.probes_of(5), 0u);
  w.news(2, 5, 1, kAlive);
  EXPECT_EQ(w.d.belief(5), kAlive);
  EXPECT_EQ(w.d.counters().false_suspicions, 1u);
}

TEST(FailureNews, WhoWasHeardLatelyMayDefendItself) {
  Watched w(8);
  w.everybody_came();
  w.run_answered(3000 * kMs, {1});
  w.heard(5);
  w.run_answered(499 * kMs, {1});
  w.forget();
  w.news(2, 5, 0, kLost);
  EXPECT_EQ(w.d.belief(5), kAlive);
  EXPECT_EQ(w.probes_of(5), 1u);
  EXPECT_EQ(w.told_about(5, kLost, 5), 1u);
  EXPECT_EQ(w.told_about(5, kLost, 1), 1u);  // passed on all the same: its refutation will follow
  w.heard(5);
  w.news(5, 5, 1, kAlive);
  w.run_answered(10'000 * kMs, {1});
  EXPECT_EQ(w.d.belief(5), kAlive);
}

TEST(FailureNews, AndIsLostIfItDoesNot) {
  Watched w(8);
  w.everybody_came();
  w.run_answered(3000 * kMs, {1});
  w.heard(5);
  w.news(2, 5, 0, kLost);
  w.run_answered(499 * kMs, {1});
  EXPECT_EQ(w.d.belief(5), kAlive);
  w.forget();
  w.run_answered(kMs, {1});
  EXPECT_EQ(w.changes, (std::vector<BeliefChange>{{5, kLost, BeliefReason::kTold, 2}}));
}

TEST(FailureNews, ALateObserverDoesNotBelieveOldNewsAtOnce) {
  Watched w(8);
  w.everybody_came();
  w.now += 20'000 * kMs;
  w.news(2, 5, 0, kLost);
  EXPECT_EQ(w.d.belief(5), kAlive);
  w.news(3, 5, 1, kAlive);
  w.d.on_timer(w.now);
  w.drain();
  w.heard(5);
  w.heard(1);
  w.run_answered(2000 * kMs, {1, 2, 3, 4, 5, 6, 7});
  EXPECT_EQ(w.d.counters().lost, 0u);
}

TEST(FailureNews, AnAccusationIsRefutedInANewLife) {
  Watched w(8, 3);
  w.everybody_came();
  w.news(1, 3, 0, kSuspect);
  EXPECT_EQ(w.d.life(), 1u);
  for (NodeId n : {4u, 5u, 7u, 1u}) EXPECT_EQ(w.told_about(3, kAlive, n), 1u) << n;
  EXPECT_EQ(w.told.size(), 4u);
  w.forget();
  w.news(2, 3, 0, kLost);  // an old one: only who says so is answered
  EXPECT_EQ(w.d.life(), 1u);
  EXPECT_EQ(w.told, (std::vector<Watched::Told>{{2, {3, 1003, 1, kAlive}}}));
  w.news(2, 3, 6, kLost);
  EXPECT_EQ(w.d.life(), 7u);
  EXPECT_EQ(w.d.counters().refutations, 2u);
}

TEST(FailureNews, OurFormerIncarnationIsNotDefended) {
  Watched w(3);
  w.everybody_came();
  w.d.on_news(1, {0, 4711, 0, kLost}, w.now);
  w.drain();
  EXPECT_EQ(w.d.life(), 0u);
  EXPECT_TRUE(w.told.empty());
}

TEST(FailureNews, ARefutationBeginsTheMeasurementAnew) {
  Watched w(3);
  w.everybody_came();
  w.run_answered(2900 * kMs, {2});
  ASSERT_EQ(w.d.belief(1), kSuspect);
  w.news(2, 1, 1, kAlive);
  EXPECT_EQ(w.d.belief(1), kAlive);
  w.run_answered(999 * kMs, {2});
  EXPECT_EQ(w.d.belief(1), kAlive);
  w.forget();
  w.run_answered(kMs, {2});
  EXPECT_EQ(w.d.belief(1), kSuspect);
  EXPECT_EQ(w.told_about(1, kSuspect, 2), 1u);
}

TEST(FailureNews, WhoHasMissedSomethingIsTold) {
  Watched w(8);
  w.everybody_came();
  w.run_answered(3000 * kMs, {1});
  w.news(2, 5, 3, kAlive);
  w.forget();
  w.news(6, 5, 0, kLost);
  EXPECT_EQ(w.d.belief(5), kAlive);
  EXPECT_EQ(w.told, (std::vector<Watched::Told>{{6, {5, 1005, 3, kAlive}}}));
}

TEST(FailureNews, NonsenseIsIgnored) {
  Watched w(4);
  w.everybody_came();
  const News nonsense[] = {{4, 1, 0, kLost},
                           {kNoNode, 1, 0, kLost},
                           {2, 0, 9, kLost},
                           {2, 1002, 9, kUnknown},
                           {2, 1002, 9, static_cast<Belief>(4)},
                           {0, 1000, std::numeric_limits<std::uint32_t>::max(), kLost}};
  for (const News& n : nonsense) w.d.on_news(1, n, w.now);
  w.drain();
  EXPECT_TRUE(w.told.empty());
  EXPECT_TRUE(w.changes.empty());
  EXPECT_EQ(w.d.life(), 0u);
}

TEST(FailureNews, WhatCouldNotBeToldIsKeptUntilThePeerIsHeard) {
  Watched w(5);
  w.everybody_came();
  w.run_answered(3000 * kMs, {1});
  w.d.on_news(2, {3, 1003, 0, kSuspect}, w.now);
  NodeId to;
  News news;
  ASSERT_TRUE(w.d.poll_news(to, news));
  ASSERT_EQ(to, 1u);
  w.d.could_not_tell();
  w.drain();
  EXPECT_EQ(w.told, (std::vector<Watched::Told>{{4, {3, 1003, 0, kSuspect}}}));
  w.forget();
  w.news(2, 3, 1, kAlive);  // meanwhile it has changed: the latest is told, once
  EXPECT_EQ(w.told, (std::vector<Watched::Told>{{4, {3, 1003, 1, kAlive}}}));
  w.forget();
  w.heard(1);
  EXPECT_EQ(w.told, (std::vector<Watched::Told>{{1, {3, 1003, 1, kAlive}}}));
}

TEST(FailureNews, TheSuccessorIsToldOfLossesAgainInTurn) {
  Watched w(16);
  w.everybody_came();
  w.run_answered(3000 * kMs, {1});
  w.news(2, 9, 0, kLost);
  w.news(2, 7, 0, kLost);
  w.forget();
  w.run_answered(4000 * kMs, {1});
  EXPECT_EQ(w.told_about(9, kLost, 1), 2u);
  EXPECT_EQ(w.told_about(7, kLost, 1), 2u);
  EXPECT_EQ(w.told.size(), 4u);
}

// It was heard again, but dies before it has refuted: nobody could tell others of it, so who heard it finds out.
TEST(FailureNews, WhoReturnsIsWatchedUntilItHasRefuted) {
  Watched w(8);
  w.everybody_came();
  w.run_answered(3000 * kMs, {1});
  w.news(2, 5, 0, kLost);
  w.heard(5);
  w.forget();
  w.run_answered(2100 * kMs, {1});
  EXPECT_EQ(w.d.belief(5), kLost);
  EXPECT_EQ(w.told_about(5, kLost, 1), 2u);  // once more, and in turn
  w.heard(5);
  w.news(5, 5, 1, kAlive);
  w.forget();
  w.run_answered(10'000 * kMs, {1});
  EXPECT_EQ(w.d.belief(5), kAlive);
  EXPECT_EQ(w.probes_of(5), 0u);
}

TEST(FailureNews, AChangeThatWasUndoneIsNotReported) {
  Watched w(8);
  w.everybody_came();
  w.run_answered(3000 * kMs, {1});
  w.d.on_news(2, {5, 1005, 0, kLost}, w.now);
  w.d.heard(5, w.now);
  w.forget();
  w.drain();
  EXPECT_TRUE(w.changes.empty());
}

}  // namespace
}  // namespace fibocast
