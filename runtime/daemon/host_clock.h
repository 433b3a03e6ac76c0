// Which clock CLOCK_MONOTONIC is: processes of one host share it, unless a time namespace shifts it.
#pragma once

#include <string>

namespace fibocast {

// Equal in two processes if their CLOCK_MONOTONIC is one: the kernel's boot and the time namespace
// (time_namespaces(7)). Empty if the system does not tell: then no clock is taken for another.
std::string host_clock_id();

}  // namespace fibocast
