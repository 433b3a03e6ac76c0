// The words of the transport layer that its core needs too: no std::function here, boards compile it. Core.
#pragma once

#include <cstdint>

namespace fibocast {

using NodeId = std::uint32_t;      // a daemon: its position in the cluster's list
using Nanoseconds = std::int64_t;  // a duration or a point on the host's monotonic clock
using BufferId = std::uint32_t;    // a payload buffer that the host owns
inline constexpr BufferId kNoBuffer = 0xffff'ffff;

// A run of bytes in a payload buffer of the host. The core hands ranges around; it never touches the bytes.
struct PayloadRange {
  BufferId buffer = kNoBuffer;
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
};

}  // namespace fibocast
