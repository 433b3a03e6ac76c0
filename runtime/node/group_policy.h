// What becomes of a group that loses members. Core.
#pragma once

#include <cstdint>

#include "collectives/types.h"

namespace fibocast {

// Values go over the wire: append only.
enum class GroupPolicy : std::uint8_t {
  kAll = 0,        // every operation ends with PEER_LOST until all are back
  kSurvivors = 1,  // the others go on without them, as long as they are a majority of those before
  kQuorum = 2,     // ... and at least so many
};

// Their list travels as bits in one message.
inline constexpr Rank kMostShrinkingMembers = 1600;

}  // namespace fibocast
