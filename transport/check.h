// Broken invariants of the transport core stop the program, in release builds and on boards too.
#pragma once

namespace fibocast {

inline void check_channel(bool holds) {
  if (!holds) __builtin_trap();
}

}  // namespace fibocast
