#include "transport/monotonic_now.h"

#include <time.h>

namespace fibocast {
namespace {

Nanoseconds read_clock(clockid_t clock) {
  timespec t;
  clock_gettime(clock, &t);
  return t.tv_sec * 1'000'000'000 + t.tv_nsec;
}

}  // namespace

Nanoseconds monotonic_now() { return read_clock(CLOCK_MONOTONIC); }

Nanoseconds monotonic_tick() { return read_clock(CLOCK_MONOTONIC_COARSE); }

}  // namespace fibocast
