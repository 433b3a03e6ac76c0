#include "runtime/daemon/alarm.h"

#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

namespace fibocast {
namespace {

int make_timer() {
  const int timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
  if (timer < 0) throw std::system_error(errno, std::generic_category(), "timer of the node");
  return timer;
}

}  // namespace

Alarm::Alarm(boost::asio::io_context& context, std::function<void()> on_time)
    : timer_(context, make_timer()), on_time_(std::move(on_time)) {
  wait();
}

void Alarm::set(Nanoseconds at) {
  constexpr Nanoseconds kSecond = 1'000'000'000;
  itimerspec when{};  // zero: never
  const Nanoseconds first = std::max<Nanoseconds>(at, 1);
  if (at != kNever) when.it_value = {first / kSecond, first % kSecond};
  if (timer_.is_open()) timerfd_settime(timer_.native_handle(), TFD_TIMER_ABSTIME, &when, nullptr);
}

void Alarm::stop() {
  boost::system::error_code ignored;
  timer_.close(ignored);
}

void Alarm::wait() {
  timer_.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                    kept_in(memory_, [this](const boost::system::error_code& error) {
                      if (error) return;
                      std::uint64_t times = 0;
                      const bool rang = read(timer_.native_handle(), &times, sizeof times) > 0;
                      wait();
                      if (rang) on_time_();
                    }));
}

}  // namespace fibocast
