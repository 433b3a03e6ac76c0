// Where the data of one operation lies at one rank: its own data, blocks and partial results, messages that wait to be
// combined, and the result, in one piece of memory. Core: no heap, no exceptions.
#pragma once

#include <cstdint>
#include <span>

#include "collectives/shape.h"

namespace fibocast {

// Offsets in bytes from the beginning of the memory.
struct DataLayout {
  std::uint64_t bytes = 0;  // of all
  std::uint64_t work = 0;   // the rank's vector, or its blocks from `first_block` on
  Rank first_block = 0;
  std::uint64_t payload = 0;  // what is distributed (Carries::kPayload)
  std::uint64_t output = 0;   // the result, where it must be put in another order
  std::uint64_t result_bytes = 0;
};

// Writes into `offsets` where the data of each transfer of the schedule lies: of a receive where it is put, of a send
// where it is taken from (kPartial: its register decides, not the layout). A received partial that is appended to two
// registers has room for both results. A barrier's have no data: their offsets are not written. `root` is the
// operation's real root. Precondition: as many offsets as transfers.
DataLayout lay_out(const OperationShape& shape, const RankSchedule& schedule, Rank me, Rank root,
                   std::span<std::uint64_t> offsets);

// Where block `block` lies. Precondition: it is one of the rank's.
std::uint64_t block_place(const OperationShape& shape, const DataLayout& layout, Rank block);

// Bytes of what the rank brings and of what it gets.
std::uint64_t input_bytes(const OperationShape& shape, Rank me);
std::uint64_t result_bytes(const OperationShape& shape, Rank me);

// The result is not in the order of the real ranks where it was collected.
bool needs_reordering(const OperationShape& shape, Rank me, Rank root);

}  // namespace fibocast
