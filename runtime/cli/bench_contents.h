// What the measured loops of data operations send, and what must come out: other contents in every repetition, so that
// nothing old passes for new.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "collectives/shape.h"
#include "runtime/client/status.h"

namespace fibocast {

std::vector<std::byte> message_contents(std::uint64_t seed, std::uint64_t repetition, std::uint64_t bytes);

struct VectorContents {
  std::vector<std::vector<std::byte>> vectors;  // by rank
  std::vector<std::byte> sum;
};
// Small whole numbers: sums of floats are exact, in whatever order they are added. Precondition: numbers, not kBytes.
VectorContents vector_contents(std::uint64_t seed, std::uint64_t repetition, ElementType type, std::uint64_t elements,
                               Rank ranks);

// kFailed with the place of the first difference.
Status compare_contents(Rank rank, std::span<const std::byte> came, std::span<const std::byte> expected);

}  // namespace fibocast
