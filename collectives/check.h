// Invariants that hold in release builds too: a broken one stops the program instead of spreading.
// Core: no heap, no exceptions.
#pragma once

namespace fibocast {

// Stops the program at once if `ok` is false. Only for states that no input may produce.
inline void check(bool ok) {
  if (!ok) [[unlikely]]
    __builtin_trap();
}

}  // namespace fibocast
