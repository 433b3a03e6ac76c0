// What every transport counts; all from its start on. Drops and errors are counted here, never fatal.
#pragma once

#include <cstdint>

namespace fibocast {

struct TransportCounters {
  std::uint64_t frames_sent = 0, bytes_sent = 0;
  std::uint64_t frames_received = 0, bytes_received = 0;
  std::uint64_t fan_outs = 0;      // datagrams with frames for several nodes
  std::uint64_t pairs = 0;         // datagrams with two frames for one node
  std::uint64_t send_errors = 0;   // frames the system did not take
  std::uint64_t queue_drops = 0;   // frames dropped because our own queue was full or its connection broke
  std::uint64_t kernel_drops = 0;  // datagrams the kernel dropped because our receive buffer was full
  std::uint64_t refused = 0;       // "connection refused" from a peer's host, or a dial that failed
  std::uint64_t malformed = 0;  // truncated datagrams, impossible lengths, bytes that are no frame, or were taken back
  std::uint64_t resets = 0;     // dialled connections that broke
  std::uint64_t accepted = 0;   // connections
  std::uint64_t turned_away = 0;  // connections closed because there were too many or they said nothing valid
};

}  // namespace fibocast
