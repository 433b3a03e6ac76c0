// CLOCK_MONOTONIC, the one clock of a node and of what carries its frames.
#pragma once

#include "transport/words.h"

namespace fibocast {

Nanoseconds monotonic_now();
// The same as of the kernel's last tick, up to 10 ms ago: for who counts in seconds and asks for every frame.
Nanoseconds monotonic_tick();

}  // namespace fibocast
