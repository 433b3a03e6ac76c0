#include "runtime/daemon/adaptive_wait.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <vector>

namespace fibocast {
namespace {

using Next = AdaptiveWait::Next;
using Clients = AdaptiveWait::Clients;
constexpr Nanoseconds kStart = 1'000'000'000;

// One whose first operation has ended long ago.
AdaptiveWait settled_wait(NodeId self, Rank nodes, unsigned cores) {
  AdaptiveWait wait(self, nodes, cores);
  wait.ended(0);
  return wait;
}

// Polls in vain, one in a microsecond, until it is told not to spin. The time of that.
Nanoseconds spin(AdaptiveWait& wait, Nanoseconds now, Next& end) {
  wait.begin(now);
  while ((end = wait.next(now)) == Next::kSpin && now < kStart + 1'000 * kMillisecond) now += kMicrosecond;
  return now;
}

int yields_before_blocking(AdaptiveWait wait) {
  wait.begin(kStart);
  int count = 0;
  for (Nanoseconds now = kStart; wait.next(now) == Next::kYield && count < 1'000; now += kMicrosecond, ++count)
    wait.yielded(now, now + kMicrosecond);
  return count;
}

TEST(AdaptiveWait, SpinsLongerThanAWakeUpTakesWhereEachNodeMayHaveACore) {
  AdaptiveWait wait = settled_wait(0, 2, 2);
  Next end;
  EXPECT_EQ(spin(wait, kStart, end) - kStart, 30 * kMicrosecond);
  EXPECT_EQ(end, Next::kYield);
}

TEST(AdaptiveWait, WhatComesBeginsTheSpinAnew) {
  AdaptiveWait wait = settled_wait(0, 2, 2);
  wait.begin(kStart);
  EXPECT_EQ(wait.next(kStart + 29 * kMicrosecond), Next::kSpin);
  wait.found();
  wait.begin(kStart + 29 * kMicrosecond);
  EXPECT_EQ(wait.next(kStart + 58 * kMicrosecond), Next::kSpin);
}

TEST(AdaptiveWait, AfterASpinInVainItYieldsForAMillisecond) {
  AdaptiveWait wait = settled_wait(0, 2, 2);
  Next end;
  const Nanoseconds in_vain = spin(wait, kStart, end);
  EXPECT_EQ(spin(wait, in_vain + 999 * kMicrosecond, end), in_vain + 999 * kMicrosecond);
  EXPECT_EQ(end, Next::kYield);
  EXPECT_GT(spin(wait, in_vain + kMillisecond, end), in_vain + kMillisecond);
}

TEST(AdaptiveWait, NobodySpinsWithMoreNodesThanCoresOrWithClients) {
  for (AdaptiveWait wait : {AdaptiveWait(0, 3, 2), AdaptiveWait(0, 2, 2, Clients::kServed)}) {
    wait.begin(kStart);
    EXPECT_EQ(wait.next(kStart), Next::kYield);
  }
}

TEST(AdaptiveWait, TheMoreNodesTheFewerYieldsBeforeBlocking) {
  EXPECT_EQ(yields_before_blocking(AdaptiveWait(0, 1, 1, Clients::kServed)), 200);
  EXPECT_EQ(yields_before_blocking(AdaptiveWait(0, 4, 2)), 100);
  EXPECT_EQ(yields_before_blocking(AdaptiveWait(0, 1024, 2)), 16);
}

TEST(AdaptiveWait, ManyDaemonsToACoreLeaveItToTheirClients) {
  for (AdaptiveWait wait : {AdaptiveWait(0, 5, 2, Clients::kServed), AdaptiveWait(12, 17, 8, Clients::kServed)}) {
    EXPECT_FALSE(wait.may_poll(kStart));
    wait.begin(kStart);
    EXPECT_EQ(wait.next(kStart), Next::kBlock);
  }
  for (AdaptiveWait wait : {AdaptiveWait(0, 4, 2, Clients::kServed), AdaptiveWait(12, 16, 8, Clients::kServed),
                            AdaptiveWait(0, 64, 2, Clients::kServedOnTime), AdaptiveWait(0, 64, 2)}) {
    EXPECT_TRUE(wait.may_poll(kStart));
    wait.begin(kStart);
    EXPECT_EQ(wait.next(kStart), Next::kYield);
  }
}

TEST(AdaptiveWait, TwoLongYieldsMakeACompetitor) {
  AdaptiveWait wait = settled_wait(0, 4, 2);
  wait.yielded(kStart, kStart + 4 * kMillisecond);
  EXPECT_TRUE(wait.may_poll(kStart + 4 * kMillisecond)) << "one may be an accident";
  wait.yielded(kStart + 5 * kMillisecond, kStart + 9 * kMillisecond);
  wait.begin(kStart + 9 * kMillisecond);
  EXPECT_EQ(wait.next(kStart + 9 * kMillisecond), Next::kBlock);
  EXPECT_FALSE(wait.may_poll(kStart + 9 * kMillisecond));
  EXPECT_FALSE(wait.may_poll(kStart + 28 * kMillisecond));
  EXPECT_TRUE(wait.may_poll(kStart + 29 * kMillisecond)) << "20 ms later it tries again";
}

TEST(AdaptiveWait, TwoLongYieldsFarFromEachOtherDoNot) {
  AdaptiveWait wait = settled_wait(0, 4, 2);
  wait.yielded(kStart, kStart + 4 * kMillisecond);
  wait.yielded(kStart + 55 * kMillisecond, kStart + 59 * kMillisecond);
  EXPECT_TRUE(wait.may_poll(kStart + 59 * kMillisecond));
}

// Yields of 4 ms, and 1 ms between them, until it does not poll any more; at most 20.
int long_yields_before_a_pause(AdaptiveWait& wait, Nanoseconds& now) {
  int count = 0;
  for (; wait.may_poll(now) && count < 20; ++count, now += 5 * kMillisecond) wait.yielded(now, now + 4 * kMillisecond);
  return count;
}

TEST(AdaptiveWait, OfManyNodesOneMayHaveToWaitForSeveralTurnsOfTheOthers) {
  const struct {
    Rank nodes;
    int needed;
  } cases[] = {{4, 2}, {15, 2}, {16, 3}, {31, 3}, {32, 4}, {47, 4}, {48, 12}, {64, 12}, {80, 12}};
  for (const auto& [nodes, needed] : cases) {
    AdaptiveWait wait = settled_wait(0, nodes, 2);
    Nanoseconds now = kStart;
    EXPECT_EQ(long_yields_before_a_pause(wait, now), needed) << nodes;
  }
}

// The kernel's own threads do so several times a second.
TEST(AdaptiveWait, OfManyNodesNoneTakesWhoComputesForThirtyMillisecondsForACompetitor) {
  AdaptiveWait wait = settled_wait(0, 64, 2);
  for (Nanoseconds burst = kStart; burst < kStart + 2'000 * kMillisecond; burst += 100 * kMillisecond)
    for (Nanoseconds now = burst; now < burst + 30 * kMillisecond; now += 4 * kMillisecond) {
      wait.yielded(now, now + 4 * kMillisecond);
      EXPECT_TRUE(wait.may_poll(now + 4 * kMillisecond));
    }
}

TEST(AdaptiveWait, SeveralLongYieldsWithGoodTimesBetweenThemMakeNoCompetitor) {
  AdaptiveWait wait = settled_wait(0, 64, 2);
  for (Nanoseconds now = kStart; now < kStart + 500 * kMillisecond; now += 14 * kMillisecond) {
    wait.yielded(now, now + 4 * kMillisecond);
    EXPECT_TRUE(wait.may_poll(now + 4 * kMillisecond));
  }
}

TEST(AdaptiveWait, AfterAPauseOneLongYieldTellsThatTheCompetitorIsStillThere) {
  AdaptiveWait wait = settled_wait(0, 64, 2);
  Nanoseconds now = kStart;
  EXPECT_EQ(long_yields_before_a_pause(wait, now), 12);
  for (const Nanoseconds more : {20, 80, 320}) {
    while (!wait.may_poll(now)) now += kMillisecond;
    EXPECT_EQ(long_yields_before_a_pause(wait, now), 1) << "after " << more << " ms";
  }
  while (!wait.may_poll(now)) now += kMillisecond;
  now += 20 * kMillisecond;
  EXPECT_EQ(long_yields_before_a_pause(wait, now), 12) << "it went well for a while";
}

TEST(AdaptiveWait, ColdTurnsOfManyNodesAreNotLong) {
  AdaptiveWait wait = settled_wait(0, 64, 2);
  for (Nanoseconds now = kStart; now < kStart + 40 * kMillisecond; now += 3 * kMillisecond)
    wait.yielded(now, now + 3 * kMillisecond);
  EXPECT_TRUE(wait.may_poll(kStart + 40 * kMillisecond));
}

TEST(AdaptiveWait, WhilePeersComeOrDataPassesNoYieldCounts) {
  AdaptiveWait wait = settled_wait(0, 4, 2);
  wait.unsettle(kStart);
  wait.yielded(kStart, kStart + 6 * kMillisecond);
  wait.yielded(kStart + 6 * kMillisecond, kStart + 12 * kMillisecond);
  wait.yielded(kStart + 12 * kMillisecond, kStart + 18 * kMillisecond);
  EXPECT_TRUE(wait.may_poll(kStart + 18 * kMillisecond)) << "the first that counts ends after 15 ms";
  wait.yielded(kStart + 18 * kMillisecond, kStart + 24 * kMillisecond);
  EXPECT_FALSE(wait.may_poll(kStart + 24 * kMillisecond));
}

TEST(AdaptiveWait, OfManyNodesEachMayHaveALongTurnOverItsData) {
  AdaptiveWait wait = settled_wait(0, 64, 2);
  wait.unsettle(kStart);
  Nanoseconds now = kStart;
  for (; now < kStart + 60 * kMillisecond; now += 10 * kMillisecond) wait.yielded(now, now + 10 * kMillisecond);
  EXPECT_TRUE(wait.may_poll(now)) << "it is settled after 64 ms";
  EXPECT_EQ(long_yields_before_a_pause(wait, now), 12);
}

TEST(AdaptiveWait, BeforeTheFirstOperationHasEndedNoYieldCounts) {
  AdaptiveWait wait(0, 4, 2);
  const Nanoseconds later = kStart + 1'000 * kMillisecond;
  wait.unsettle(kStart);
  for (Nanoseconds now = kStart; now < later; now += 5 * kMillisecond) wait.yielded(now, now + 5 * kMillisecond);
  EXPECT_TRUE(wait.may_poll(later));
  wait.ended(later);
  wait.yielded(later + 5 * kMillisecond, later + 10 * kMillisecond);
  EXPECT_TRUE(wait.may_poll(later + 10 * kMillisecond)) << "nor for 15 ms afterwards";
  wait.ended(later + 14 * kMillisecond);
  wait.yielded(later + 15 * kMillisecond, later + 20 * kMillisecond);
  wait.yielded(later + 20 * kMillisecond, later + 25 * kMillisecond);
  EXPECT_FALSE(wait.may_poll(later + 25 * kMillisecond)) << "the second end is nothing new";
}

// The time from when it blocks, after long yields from `now` on, until it may poll again.
Nanoseconds blocked_for(AdaptiveWait& wait, Nanoseconds& now) {
  for (int i = 0; i < 2 && wait.may_poll(now); ++i, now += 4 * kMillisecond) wait.yielded(now, now + 4 * kMillisecond);
  const Nanoseconds begin = now;
  while (!wait.may_poll(now)) now += kMillisecond;
  return now - begin;
}

TEST(AdaptiveWait, WhereTheCompetitorStaysItTriesLessAndLess) {
  AdaptiveWait wait = settled_wait(0, 4, 2);
  Nanoseconds now = kStart;
  for (const Nanoseconds expected : {20, 80, 320, 640, 640}) EXPECT_EQ(blocked_for(wait, now), expected * kMillisecond);
  now += 700 * kMillisecond;
  EXPECT_EQ(blocked_for(wait, now), 20 * kMillisecond) << "it went well for longer than it had blocked";
}

TEST(AdaptiveWait, WhoMaySpinDoesSoEvenBesideACompetitor) {
  AdaptiveWait wait = settled_wait(0, 2, 2);
  wait.yielded(kStart, kStart + 4 * kMillisecond);
  wait.yielded(kStart + 4 * kMillisecond, kStart + 8 * kMillisecond);
  EXPECT_TRUE(wait.may_poll(kStart + 8 * kMillisecond));
  Next end;
  const Nanoseconds in_vain = spin(wait, kStart + 8 * kMillisecond, end);
  EXPECT_EQ(in_vain, kStart + 8 * kMillisecond + 30 * kMicrosecond);
  EXPECT_EQ(end, Next::kBlock) << "and does not yield then";
  EXPECT_FALSE(wait.may_poll(in_vain));
}

// Waits whose answers come with the first yield, which takes `yield`, until one is told to move; at most 50.
int waits_before_moving(AdaptiveWait& wait, Nanoseconds& now, Nanoseconds yield) {
  for (int waits = 0; waits < 50; ++waits) {
    wait.begin(now);
    Next next;
    while ((next = wait.next(now)) == Next::kSpin) now += kMicrosecond;
    if (next == Next::kMove) return waits;
    wait.yielded(now, now + yield);
    wait.found();
    wait.begin(now += yield);  // ... and the next answer is there already
    wait.found();
  }
  return 50;
}

TEST(AdaptiveWait, WhoseAnswersComeFromItsOwnCoreMoves) {
  AdaptiveWait wait = settled_wait(0, 2, 2);
  Nanoseconds now = kStart;
  EXPECT_EQ(waits_before_moving(wait, now, 3 * kMicrosecond), 4);
  EXPECT_EQ(waits_before_moving(wait, now, 3 * kMicrosecond), 50) << "in vain: not again so soon";
  now += 20 * kMillisecond;
  EXPECT_EQ(waits_before_moving(wait, now, 3 * kMicrosecond), 0);
  now += 79 * kMillisecond;
  EXPECT_EQ(waits_before_moving(wait, now, 3 * kMicrosecond), 50) << "it goes on: four times as long";
  now += kMillisecond;
  EXPECT_EQ(waits_before_moving(wait, now, 3 * kMicrosecond), 0);
}

TEST(AdaptiveWait, OfTwoThatShareACoreOneMovesAndTheOtherStays) {
  AdaptiveWait first(0, 2, 2), second(1, 2, 2);
  Nanoseconds now = kStart, then = kStart;
  EXPECT_LT(waits_before_moving(first, now, 3 * kMicrosecond) + 2, waits_before_moving(second, then, 3 * kMicrosecond));
}

TEST(AdaptiveWait, NobodyMovesWhoseYieldGaveNoTurnOrWhoHasNoCoreOfItsOwn) {
  Nanoseconds now = kStart;
  AdaptiveWait alone(0, 2, 2), crowded(0, 3, 2), served(0, 2, 2, Clients::kServed);
  EXPECT_EQ(waits_before_moving(alone, now, kMicrosecond / 2), 50);
  EXPECT_EQ(waits_before_moving(crowded, now, 3 * kMicrosecond), 50);
  EXPECT_EQ(waits_before_moving(served, now, 3 * kMicrosecond), 50);
}

TEST(AdaptiveWait, AnAnswerWhileItSpinsShowsThatItHasItsOwnCore) {
  AdaptiveWait wait = settled_wait(0, 2, 2);
  Nanoseconds now = kStart;
  for (int i = 0; i < 20; ++i, now += kMillisecond) {  // one of two answers comes in a yield
    wait.begin(now);
    Next next;
    while ((next = wait.next(now)) == Next::kSpin) now += kMicrosecond;
    ASSERT_EQ(next, Next::kYield);
    wait.yielded(now, now + 3 * kMicrosecond);
    wait.found();
    wait.begin(now += kMillisecond);
    ASSERT_EQ(wait.next(now), Next::kSpin);
    wait.found();
  }
}

TEST(AdaptiveWait, WhoHasSentLetsOthersRunFirstWhereTheyNeedItsCore) {
  const AdaptiveWait roomy(0, 2, 2), crowded(0, 3, 2), served(0, 2, 2, Clients::kServed);
  EXPECT_TRUE(roomy.looks_first(true));
  EXPECT_FALSE(crowded.looks_first(true));
  EXPECT_FALSE(served.looks_first(true));
  EXPECT_TRUE(crowded.looks_first(false));
}

std::vector<int> nodes_of_each(unsigned cores, Rank nodes, bool in_memory) {
  std::vector<int> counts(cores);
  for (NodeId self = 0; self < nodes; ++self)
    ++counts.at(AdaptiveWait(self, nodes, cores).place(kStart, in_memory).value());
  return counts;
}

TEST(AdaptiveWait, NodesThatAreMoreThanCoresHaveEqualSharesOfThem) {
  EXPECT_EQ(nodes_of_each(2, 8, false), (std::vector{4, 4}));
  EXPECT_EQ(nodes_of_each(2, 16, false), (std::vector{7, 9})) << "the first one has to do with all others";
  EXPECT_EQ(nodes_of_each(2, 16, true), (std::vector{8, 8})) << "... which costs less in memory";
  EXPECT_EQ(nodes_of_each(2, 64, false), (std::vector{27, 37}));
  EXPECT_EQ(nodes_of_each(2, 64, true), (std::vector{30, 34}));
  for (const bool in_memory : {false, true})
    for (const unsigned cores : {2u, 3u, 4u, 8u, 64u})
      for (Rank nodes = cores + 1; nodes <= 4 * cores; ++nodes) {
        const auto counts = nodes_of_each(cores, nodes, in_memory);
        const auto [least, most] = std::ranges::minmax(std::span(counts).subspan(1));
        EXPECT_TRUE(least > 0 && most - least <= 1) << nodes << " nodes on " << cores << " cores";
        EXPECT_TRUE(counts[0] > 0 && counts[0] <= most + 1) << nodes << " nodes on " << cores << " cores";
      }
}

TEST(AdaptiveWait, OfOtherHostsNodesThereAreSharesToo) {
  EXPECT_EQ(AdaptiveWait(20, 16, 2).place(kStart, false), AdaptiveWait(4, 16, 2).place(kStart, false));
}

TEST(AdaptiveWait, FewNodesAndThoseWithClientsHaveNoPlace) {
  for (AdaptiveWait wait : {AdaptiveWait(0, 2, 2), AdaptiveWait(0, 16, 1), AdaptiveWait(0, 16, 2, Clients::kServed)})
    EXPECT_FALSE(wait.place(kStart, false));
}

TEST(AdaptiveWait, BesideACompetitorTheKernelFindsThePlace) {
  AdaptiveWait wait = settled_wait(0, 16, 2);
  wait.begin(kStart);
  ASSERT_EQ(wait.next(kStart), Next::kYield);
  wait.yielded(kStart, kStart + kMillisecond - 1);
  EXPECT_TRUE(wait.place(kStart + kMillisecond, false));
  wait.yielded(kStart, kStart + kMillisecond);
  EXPECT_FALSE(wait.place(kStart + 1'001 * kMillisecond - 1, false));
  EXPECT_TRUE(wait.place(kStart + 1'001 * kMillisecond, false));
}

TEST(AdaptiveWait, SeesNowAndThenWhetherItIsInItsPlace) {
  AdaptiveWait wait(0, 16, 2);
  EXPECT_TRUE(wait.place(kStart, false));
  EXPECT_FALSE(wait.place(kStart + 5 * kMillisecond - 1, false));
  EXPECT_TRUE(wait.place(kStart + 5 * kMillisecond, false));
}

}  // namespace
}  // namespace fibocast
