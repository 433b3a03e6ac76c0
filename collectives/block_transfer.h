// A run of blocks on its way to or from a peer, as scatter, gather and allgather move them. Core: no heap, no
// exceptions.
#pragma once

#include "collectives/rank_schedule.h"

namespace fibocast {

constexpr Transfer block_transfer(Rank peer, Rank first, Rank count, std::uint8_t stage = 0) {
  return {.peer = peer, .first_block = first, .blocks = count, .stage = stage, .carries = Carries::kBlocks};
}

}  // namespace fibocast
