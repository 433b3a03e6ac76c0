// What a node asks its host to do with payload bytes it has: copy them to another place, or combine two vectors. The
// node decides and keeps the order; the host has the bytes. Core: no heap, no exceptions.
#pragma once

#include <cstddef>
#include <cstdint>

#include "collectives/shape.h"
#include "transport/words.h"

namespace fibocast {

// op == kNone: copies `right` to `out`, `runs` times, moving on by the steps after each; else out = left op right.
// All ranges lie in one buffer, but for `right` of a copy.
struct LocalWork {
  bool clears = false;  // `out` becomes zero instead; `right` is the same range
  CombineOperator op = CombineOperator::kNone;
  ElementType type = ElementType::kBytes;
  PayloadRange left = {}, right = {}, out = {};  // of equal length
  std::uint32_t runs = 1;
  std::int64_t right_step = 0, out_step = 0;  // bytes
};

// `right` and `out` point to the beginnings of the buffers that work.right and work.out name.
void do_local_work(const LocalWork& work, const std::byte* right, std::byte* out);

}  // namespace fibocast
