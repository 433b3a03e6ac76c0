#include "firmware_sim/event_queue.h"

#include <gtest/gtest.h>

#include <vector>

namespace fibocast {
namespace {

TEST(EventQueue, RunsByTimeThenByOrderOfAsking) {
  EventQueue queue;
  std::vector<int> ran;
  queue.at(20, [&] { ran.push_back(3); });
  queue.at(10, [&] { ran.push_back(1); });
  queue.at(10, [&] { ran.push_back(2); });
  queue.run_until(15);
  EXPECT_EQ(ran, (std::vector<int>{1, 2}));
  EXPECT_EQ(queue.now(), 15);
  EXPECT_EQ(queue.next_time(), 20);
  queue.run_until(20);
  EXPECT_EQ(ran, (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(queue.next_time(), kNever);
}

TEST(EventQueue, ATimeThatIsOverIsNow) {
  EventQueue queue;
  queue.run_until(100);
  Nanoseconds ran_at = 0;
  queue.at(50, [&] { ran_at = queue.now(); });
  queue.run_next();
  EXPECT_EQ(ran_at, 100);
}

TEST(EventQueue, AnActionMayAddOthersAtItsOwnInstant) {
  EventQueue queue;
  int depth = 0;
  queue.at(5, [&] {
    ++depth;
    queue.at(5, [&] { ++depth; });
  });
  queue.run_until(5);
  EXPECT_EQ(depth, 2);
}

}  // namespace
}  // namespace fibocast
