// A run of bytes as the system's calls take it that write several runs at once.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <span>

namespace fibocast {

inline iovec iovec_of(std::span<const std::byte> bytes) { return {const_cast<std::byte*>(bytes.data()), bytes.size()}; }

}  // namespace fibocast
