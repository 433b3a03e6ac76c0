// The straggler of one barrier, word by word.
#include "runtime/node/last_arrival.h"

#include <gtest/gtest.h>

namespace fibocast {
namespace {

constexpr Straggler alone(Rank rank) { return {rank, kNever}; }

void expect(const LastArrival& found, Rank rank, Nanoseconds late_by) {
  EXPECT_EQ(found.straggler().rank, rank);
  EXPECT_EQ(found.straggler().late_by, late_by);
}

TEST(LastArrival, NobodyThenOneThenTheLaterOfTwo) {
  LastArrival found;
  expect(found, kNoRank, 0);
  found.add(alone(4), 100);
  expect(found, 4, kNever);
  found.add(alone(7), 130);
  expect(found, 7, 30);
}

TEST(LastArrival, AWordThatCountsLessMayStillCloseTheGap) {
  LastArrival found;
  found.add(alone(1), 100);
  found.add(alone(2), 1100);
  found.add(alone(3), 1040);
  expect(found, 2, 60);
}

TEST(LastArrival, TheOthersOfASubtreeCountAsIfTheyHadComeThemselves) {
  LastArrival found;
  found.add(alone(0), 100);
  found.add({5, 10}, 300);  // of its subtree another one came at 290
  expect(found, 5, 10);
  found.add({6, 250}, 500);  // the others of that subtree were there at 250
  expect(found, 6, 200);
}

TEST(LastArrival, ARankInSeveralWordsCountsOnce) {
  LastArrival found;
  found.add(alone(1), 100);
  found.add({2, 80}, 300);
  found.add({2, 150}, 310);
  expect(found, 2, 90);  // its others: 100, 220 and 160
}

TEST(LastArrival, AtOneInstantNobodyIsLate) {
  LastArrival found;
  found.add(alone(1), 50);
  found.add(alone(2), 50);
  expect(found, 1, 0);
}

TEST(LastArrival, TakesTheAnswerOfSomebodyWhoKnows) {
  LastArrival found;
  found.add(alone(1), 50);
  found.settle({9, 4000});
  expect(found, 9, 4000);
  found.settle(alone(1));
  expect(found, 1, kNever);
}

// The clock may have begun a short time ago.
TEST(LastArrival, TimesMayBeginAtZero) {
  LastArrival found;
  found.add(alone(1), 0);
  found.add({2, 500}, 20);
  expect(found, 2, 20);
}

}  // namespace
}  // namespace fibocast
