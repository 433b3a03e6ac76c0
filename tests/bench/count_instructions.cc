// Runs each hot path under callgrind, which writes a file for each with the instructions of kTimes times.
#include <valgrind/callgrind.h>

#include "tests/bench/hot_paths.h"

int main() {
  constexpr int kWarmups = 10, kTimes = 50;  // as in instructions_test.py
  for (const fibocast::HotPath& path : fibocast::hot_paths()) {
    for (int i = 0; i < kWarmups; ++i) path.once();
    CALLGRIND_ZERO_STATS;
    for (int i = 0; i < kTimes; ++i) path.once();
    CALLGRIND_DUMP_STATS_AT(path.name.c_str());
  }
}
