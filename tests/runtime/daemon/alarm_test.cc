#include "runtime/daemon/alarm.h"

#include <gtest/gtest.h>

#include <chrono>

namespace fibocast {
namespace {

constexpr Nanoseconds kPast = 1;

class AlarmTest : public testing::Test {
 protected:
  // Handlers that are ready, or become so soon, until it has rung so often.
  void run_until(int times) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (rung_ < times && std::chrono::steady_clock::now() < end) io_.run_one_for(std::chrono::milliseconds(100));
  }
  void TearDown() override {
    alarm_.stop();
    io_.poll();  // the handler lies in the alarm
  }
  boost::asio::io_context io_;
  int rung_ = 0;
  Alarm alarm_{io_, [this] { ++rung_; }};
};

TEST_F(AlarmTest, RingsOnceForATimeThatIsPast) {
  alarm_.set(kPast);
  run_until(1);
  io_.poll();
  EXPECT_EQ(rung_, 1);
}

TEST_F(AlarmTest, RingsAgainWhenItIsSetAgain) {
  for (int times = 1; times <= 3; ++times) {
    alarm_.set(kPast);
    run_until(times);
    EXPECT_EQ(rung_, times);
  }
}

TEST_F(AlarmTest, NotForATimeThatWasTakenBack) {
  alarm_.set(kPast);  // it rings already, but nobody has heard it
  alarm_.set(kNever);
  io_.poll();
  EXPECT_EQ(rung_, 0);
  alarm_.set(kPast);
  run_until(1);
  EXPECT_EQ(rung_, 1);
}

TEST_F(AlarmTest, TheLastTimeCounts) {
  const auto now = std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
  alarm_.set(now + 3'600'000'000'000);
  alarm_.set(kPast);
  run_until(1);
  EXPECT_EQ(rung_, 1);
}

TEST_F(AlarmTest, NeverAfterTheEnd) {
  alarm_.stop();
  alarm_.set(kPast);
  io_.run();  // nothing waits any more
  EXPECT_EQ(rung_, 0);
}

}  // namespace
}  // namespace fibocast
