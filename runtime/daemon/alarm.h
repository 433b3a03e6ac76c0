// Wakes an io_context at a time of CLOCK_MONOTONIC. A host sets its alarm before it blocks, and most of the time it is
// woken by something else: to set it anew is one system call, and leaves no cancelled handler behind as a timer of
// Asio does. One thread. Internal.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <functional>

#include "collectives/types.h"
#include "runtime/daemon/handler_memory.h"

namespace fibocast {

class Alarm {
 public:
  // `on_time` is called in the io_context. Throws std::system_error if the system has no timer.
  Alarm(boost::asio::io_context& context, std::function<void()> on_time);
  // At once if `at` is past; never if it is kNever. Instead of what was set before.
  void set(Nanoseconds at);
  // For ever. The handler that waits is run, without effect, by whoever runs the io_context next.
  void stop();

 private:
  void wait();

  boost::asio::posix::stream_descriptor timer_;
  std::function<void()> on_time_;
  HandlerMemory memory_;
};

}  // namespace fibocast
