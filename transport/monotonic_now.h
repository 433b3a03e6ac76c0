// CLOCK_MONOTONIC, the one clock of a node and of what carries its frames.
#pragma once

#include "transport/words.h"

namespace fibocast {

Nanoseconds monotonic_now();

}  // namespace fibocast
