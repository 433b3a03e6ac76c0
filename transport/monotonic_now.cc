#include "transport/monotonic_now.h"

#include <time.h>

namespace fibocast {

Nanoseconds monotonic_now() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1'000'000'000 + t.tv_nsec;
}

}  // namespace fibocast
