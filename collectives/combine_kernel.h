// Combining two vectors element by element. Core: no heap, no exceptions.
#pragma once

#include <cstddef>

#include "collectives/shape.h"

namespace fibocast {

// out[i] = left[i] op right[i]; `out` may be either of the two. Integers wrap around; MIN and MAX of a NaN and a number
// give the left one. Elements need not be aligned. Preconditions: is_defined(op, type), `bytes` holds whole elements.
void combine_elements(CombineOperator op, ElementType type, const std::byte* left, const std::byte* right,
                      std::byte* out, std::size_t bytes);

}  // namespace fibocast
