#include "firmware_sim/timed_events.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

#include "firmware_sim/random.h"

namespace fibocast {
namespace {

std::vector<TimedEvent> drain(TimedEventQueue& queue) {
  std::vector<TimedEvent> all, batch;
  while (queue.next_batch(batch)) all.insert(all.end(), batch.begin(), batch.end());
  return all;
}

TEST(TimedEventQueue, HandsOutTimesInOrderAndKindsInOrderWithinATime) {
  TimedEventQueue queue;
  queue.push({.time = 7, .kind = TimedKind::kHop});
  queue.push({.time = 5, .kind = TimedKind::kSend});
  queue.push({.time = 5, .kind = TimedKind::kReceiveRequest});
  queue.push({.time = 5, .kind = TimedKind::kReceived});
  queue.push({.time = 0, .kind = TimedKind::kSend});
  std::vector<std::pair<Ticks, TimedKind>> order;
  for (const TimedEvent& e : drain(queue)) order.emplace_back(e.time, e.kind);
  EXPECT_EQ(order, (std::vector<std::pair<Ticks, TimedKind>>{{0, TimedKind::kSend},
                                                             {5, TimedKind::kReceived},
                                                             {5, TimedKind::kReceiveRequest},
                                                             {5, TimedKind::kSend},
                                                             {7, TimedKind::kHop}}));
}

// PROTOCOL 4: by source rank, then by stage.
TEST(TimedEventQueue, RequestsOfOneTimeComeBySourceThenStage) {
  TimedEventQueue queue;
  for (const auto& [source, stage] : {std::pair<Rank, std::uint8_t>{9, 0}, {3, 2}, {3, 1}, {4, 0}})
    queue.push({.time = 1, .source = source, .kind = TimedKind::kReceiveRequest, .stage = stage});
  std::vector<TimedEvent> batch;
  ASSERT_TRUE(queue.next_batch(batch));
  std::vector<std::pair<Rank, int>> order;
  for (const TimedEvent& e : batch) order.emplace_back(e.source, e.stage);
  EXPECT_EQ(order, (std::vector<std::pair<Rank, int>>{{3, 1}, {3, 2}, {4, 0}, {9, 0}}));
}

TEST(TimedEventQueue, WhatIsPushedWhileATimeIsUnderWayStillHappensThen) {
  TimedEventQueue queue;
  std::vector<TimedEvent> batch;
  queue.push({.time = 3, .kind = TimedKind::kSend});
  ASSERT_TRUE(queue.next_batch(batch));
  queue.push({.time = 4, .kind = TimedKind::kReceived});
  queue.push({.time = 3, .kind = TimedKind::kDeparture});
  ASSERT_TRUE(queue.next_batch(batch));
  EXPECT_EQ(batch.front().kind, TimedKind::kDeparture);
  ASSERT_TRUE(queue.next_batch(batch));
  EXPECT_EQ(batch.front().kind, TimedKind::kReceived);
  EXPECT_FALSE(queue.next_batch(batch));
}

TEST(TimedEventQueue, AgreesWithSortingOnRandomTimes) {
  Random random(1);
  TimedEventQueue queue;
  std::vector<TimedEvent> batch;
  std::vector<Ticks> expected, found;
  Ticks now = 0;
  for (std::uint32_t i = 0; i < 5000; ++i) {
    const Ticks time = now + random.below(std::uint64_t{1} << random.below(40));
    queue.push({.time = time, .transfer = i});
    expected.push_back(time);
    if (i % 3 != 0 || !queue.next_batch(batch)) continue;
    now = batch.front().time;
    for (const TimedEvent& e : batch) found.push_back(e.time);
  }
  for (const TimedEvent& e : drain(queue)) found.push_back(e.time);
  EXPECT_TRUE(std::ranges::is_sorted(found));
  std::ranges::sort(expected);
  EXPECT_EQ(found, expected);
}

}  // namespace
}  // namespace fibocast
