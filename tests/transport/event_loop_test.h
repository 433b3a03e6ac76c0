// A test of what runs in an io_context: runs it until something holds.
#pragma once

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <functional>

namespace fibocast {

class EventLoopTest : public ::testing::Test {
 protected:
  ::testing::AssertionResult run_until(const std::function<bool()>& condition) {
    for (int i = 0; i < 400; ++i) {
      if (condition()) return ::testing::AssertionSuccess();
      io.run_one_for(std::chrono::milliseconds(50));
    }
    return ::testing::AssertionFailure() << "hangs";
  }
  boost::asio::io_context io;
};

}  // namespace fibocast
