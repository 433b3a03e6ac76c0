// What sealing counts; all from its start on. Each datagram that is refused counts under one reason.
#pragma once

#include <cstdint>

namespace fibocast {

struct SealCounters {
  std::uint64_t sealed = 0;    // frames
  std::uint64_t opened = 0;    // frames that were authentic
  std::uint64_t sessions = 0;  // agreed on, rekeying included
  std::uint64_t dropped = 0;   // own frames, because there was no session yet
  // Refused:
  std::uint64_t not_sealed = 0;       // frames of a daemon without a key
  std::uint64_t malformed = 0;        // of no or another version, or of a wrong size
  std::uint64_t unknown_key = 0;      // a first message under a key that is not in the ring
  std::uint64_t forged = 0;           // not made by who has the key, or changed on the way
  std::uint64_t other_cluster = 0;    // the key is right, the cluster's name is another
  std::uint64_t other_mode = 0;       // the key is right, but security.mode differs
  std::uint64_t old_first = 0;        // a first message that came before: a replay, or a clock that was set back
  std::uint64_t too_often = 0;        // first messages of one peer in too quick succession
  std::uint64_t unknown_session = 0;  // of a former life of either end, or invented
  std::uint64_t replayed = 0;         // a frame that came before, or is very late
  std::uint64_t misdirected = 0;      // authentic, but in the name of another rank
};

}  // namespace fibocast
