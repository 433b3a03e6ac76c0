// A transfer's name while it is in the emulated NIC: slot, generation (its low bits), place in the schedule,
// repetition, in one number. Core.
#pragma once

#include <cstdint>

#include "collectives/types.h"

namespace fibocast {

struct Ticket {
  std::uint32_t slot = 0;        // < 2^16
  Generation generation = 0;     // its low 12 bits
  std::uint32_t index = 0;       // < 2^16
  std::uint32_t repetition = 0;  // < 2^20
};

inline std::uint64_t pack(const Ticket& t) {
  return std::uint64_t{t.slot} << 48 | std::uint64_t{t.generation & 0xfff} << 36 | std::uint64_t{t.index} << 20 |
         t.repetition;
}

inline Ticket unpack(std::uint64_t n) {
  return {static_cast<std::uint32_t>(n >> 48), static_cast<Generation>(n >> 36 & 0xfff),
          static_cast<std::uint32_t>(n >> 20 & 0xffff), static_cast<std::uint32_t>(n & 0xfffff)};
}

}  // namespace fibocast
